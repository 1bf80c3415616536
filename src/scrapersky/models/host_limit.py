"""Limits per web host."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class HostLimit(Base):
    """When a web host may be visited again, by all workers together. Unlogged: a crash loses only politeness."""

    __tablename__ = "host_limit"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - read once by the mapper

    host: Mapped[str] = mapped_column(primary_key=True)
    next_allowed_at: Mapped[datetime] = mapped_column(index=True)
    permits: Mapped[dict[str, Any]] = mapped_column(server_default="{}")  # open visits: their ids and when they end
