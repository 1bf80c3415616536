"""Deliveries."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, SmallInteger, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Status
from scrapersky.models import queue
from scrapersky.models.base import Base, TenantRow


class Delivery(TenantRow, Base):
    """One contact, or the end of a run of a search, for one destination, with its own attempts."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("destination_id", "contact_id"),
        CheckConstraint("num_nonnulls(contact_id, run_id) = 1", name="delivery_one_subject"),
        Index(
            *("delivery_of_run", "run_id", "destination_id"),
            unique=True,
            postgresql_where=text("run_id IS NOT NULL"),
        ),
        Index("delivery_by_update", "tenant_id", "updated_at", "id"),
        Index("delivery_by_destination", "destination_id", "updated_at", "id"),
        # of the console: what waits. What is sent now has a due time: delivery_delivery_due. The others: _outcome.
        Index("delivery_queued", "tenant_id", "id", postgresql_where=text("delivery_status = 'Queued'")),
        *queue.items("delivery", "delivery"),
    )

    destination_id: Mapped[UUID] = mapped_column(ForeignKey("destination.id", ondelete="CASCADE"))
    contact_id: Mapped[UUID | None] = mapped_column(ForeignKey("contact.id", ondelete="CASCADE"), index=True)
    run_id: Mapped[UUID | None] = mapped_column(ForeignKey("search_run.id", ondelete="CASCADE"))
    priority: Mapped[int] = mapped_column(SmallInteger(), default=0, server_default="0")
    external_id: Mapped[str | None]  # the id of the contact at the destination
    fingerprint: Mapped[str | None]  # of what was last accepted: the same is not sent again
    delivered_at: Mapped[datetime | None]

    delivery_status: Mapped[Status] = queue.status()
    delivery_error: Mapped[str | None] = queue.error()
    delivery_attempts: Mapped[int] = queue.attempts()
    delivery_allowance: Mapped[int] = queue.allowance()
    delivery_due_at: Mapped[datetime | None] = queue.due_at()
    delivery_order: Mapped[int] = queue.order()
    delivery_flow: Mapped[UUID] = queue.flow()
    delivery_waits_for: Mapped[str | None] = queue.waits_for()
    delivery_revert_to: Mapped[Status | None] = queue.revert_to()
