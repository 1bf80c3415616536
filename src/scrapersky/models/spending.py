"""Spending on providers."""

from datetime import date
from uuid import UUID

from sqlalchemy import BigInteger, Date, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Spending(Base):
    """Calls and cents per tenant, provider, method and month; calls that cost nothing count, too."""

    __tablename__ = "spending"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    provider: Mapped[str] = mapped_column(primary_key=True)
    method: Mapped[str] = mapped_column(primary_key=True)  # search or details
    month: Mapped[date] = mapped_column(Date(), primary_key=True)  # its first day
    calls: Mapped[int] = mapped_column(Integer())
    cents: Mapped[int] = mapped_column(Integer())  # rounded up
    micros: Mapped[int] = mapped_column(BigInteger(), server_default="0")  # exactly; 10,000 are a cent
