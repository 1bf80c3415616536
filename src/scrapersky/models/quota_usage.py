"""How much of a tenant's quota is booked, and for which day."""

from datetime import date
from uuid import UUID

from sqlalchemy import Date, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class QuotaUsage(Base):
    """A line per kind and day; what does not fit into today is queued for a later day. Money has a line per month."""

    __tablename__ = "quota_usage"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)  # searches, pages or cents
    day: Mapped[date] = mapped_column(Date(), primary_key=True)
    used: Mapped[int] = mapped_column(Integer())
