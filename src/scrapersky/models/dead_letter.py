"""Dead letters."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Computed, ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, Identified


class DeadLetter(Identified, Base):
    """A row that failed as often as it may: the last error and the attempts. One per queue and row."""

    __tablename__ = "dead_letter"
    __table_args__ = (
        UniqueConstraint("queue", "row_id"),
        Index("dead_letter_by_time", "tenant_id", "failed_at", "id"),
        Index("dead_letter_by_queue", "tenant_id", "queue", "failed_at", "id"),
        Index("dead_letter_by_reason", "tenant_id", "queue", "error_type", "reason", "failed_at", "id"),
    )

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    queue: Mapped[str]  # `table.queue`
    row_id: Mapped[UUID]  # the row of that table
    attempts: Mapped[int]
    error_type: Mapped[str]
    message: Mapped[str]
    # the message without names of sites and numbers; its expression is in the migration
    reason: Mapped[str] = mapped_column(Computed("message", persisted=True), nullable=True)
    failed_at: Mapped[datetime] = mapped_column(server_default=func.now())
