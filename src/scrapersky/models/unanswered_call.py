"""Calls to providers without an answer."""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import BigInteger, Date, ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class UnansweredCall(Base):
    """A paid call that was booked and has no answer: under way, or lost with its worker or connection."""

    __tablename__ = "unanswered_call"
    __table_args__ = (Index("unanswered_call_by_search", "search_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=func.gen_random_uuid())
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))
    provider: Mapped[str]
    method: Mapped[str]  # search or details
    month: Mapped[date] = mapped_column(Date())  # the first day of the month in which it was booked
    micros: Mapped[int] = mapped_column(BigInteger())
    called_at: Mapped[datetime] = mapped_column(server_default=func.now())
