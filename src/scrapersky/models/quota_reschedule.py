"""Changes of quotas that are being applied."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class QuotaReschedule(Base):
    """How far a change of a quota is applied to the queued rows; deleted at the end."""

    __tablename__ = "quota_reschedule"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)  # searches or pages
    # the last row that was done: its order and its id
    after_order: Mapped[int] = mapped_column(BigInteger(), server_default="-9223372036854775808")
    after_id: Mapped[UUID] = mapped_column(server_default=str(UUID(int=0)))
    until_order: Mapped[int] = mapped_column(BigInteger())  # rows queued after the change have their day already
