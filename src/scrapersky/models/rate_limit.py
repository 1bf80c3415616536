"""How much somebody may still ask, for all processes together."""

from datetime import datetime

from sqlalchemy import Float
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class RateLimit(Base):
    """A bucket of tokens; unlogged, because a crash may forgive everybody."""

    __tablename__ = "rate_limit"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - as SQLAlchemy wants it

    key: Mapped[str] = mapped_column(primary_key=True)
    tokens: Mapped[float] = mapped_column(Float())
    refilled_at: Mapped[datetime]  # not indexed: so each taking is written in place
