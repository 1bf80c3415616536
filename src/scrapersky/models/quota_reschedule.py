"""How far a calendar has been written anew."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class QuotaReschedule(Base):
    """A line per tenant and kind of quota while rows are left that have not been dealt out anew."""

    __tablename__ = "quota_reschedule"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)  # searches or pages
    after_order: Mapped[int] = mapped_column(BigInteger(), server_default="-9223372036854775808")
    after_id: Mapped[UUID] = mapped_column(server_default=str(UUID(int=0)))
    until_order: Mapped[int] = mapped_column(BigInteger())  # what was queued later has its day already
