"""How soon and how often a web host may be visited again, by all workers together."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class HostLimit(Base):
    """One row per host that was visited lately; what is lost in a crash is only politeness."""

    __tablename__ = "host_limit"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - read once by the mapper

    host: Mapped[str] = mapped_column(primary_key=True)
    next_allowed_at: Mapped[datetime] = mapped_column(index=True)
    permits: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
