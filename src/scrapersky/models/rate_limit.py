"""Rate limits of the API."""

from datetime import datetime

from sqlalchemy import Float
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class RateLimit(Base):
    """A token bucket, shared by all processes. Unlogged: after a crash the buckets are full."""

    __tablename__ = "rate_limit"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - as SQLAlchemy wants it

    key: Mapped[str] = mapped_column(primary_key=True)
    tokens: Mapped[float] = mapped_column(Float())
    refilled_at: Mapped[datetime]  # without an index, so that updates stay in place (HOT)
