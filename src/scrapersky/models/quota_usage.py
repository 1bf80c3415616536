"""Used quotas."""

from datetime import date
from uuid import UUID

from sqlalchemy import Date, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class QuotaUsage(Base):
    """How much of a quota is used, per tenant, kind and day. Rows beyond the quota of today count for a later day."""

    __tablename__ = "quota_usage"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)  # searches, pages or cents
    day: Mapped[date] = mapped_column(Date(), primary_key=True)  # for cents the first day of the month
    used: Mapped[int] = mapped_column(Integer())
