"""A contact on its way to a destination."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, SmallInteger, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Status
from scrapersky.models.base import Base, TenantRow
from scrapersky.models.queue import (
    allowance_column,
    attempts_column,
    due_at_column,
    error_column,
    order_column,
    queue_items,
    status_column,
)


class Delivery(TenantRow, Base):
    """One contact for one destination: each has its own tries, and what the destination called it."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("destination_id", "contact_id"),
        Index("delivery_by_update", "tenant_id", "updated_at", "id"),
        Index("delivery_by_destination", "destination_id", "updated_at", "id"),
        *queue_items("delivery", "delivery"),
    )

    destination_id: Mapped[UUID] = mapped_column(ForeignKey("destination.id", ondelete="CASCADE"))
    contact_id: Mapped[UUID] = mapped_column(ForeignKey("contact.id", ondelete="CASCADE"), index=True)
    priority: Mapped[int] = mapped_column(SmallInteger(), default=0, server_default="0")
    external_id: Mapped[str | None]
    fingerprint: Mapped[str | None]  # of what was last accepted there: the same is not sent again
    delivered_at: Mapped[datetime | None]

    delivery_status: Mapped[Status] = status_column()
    delivery_error: Mapped[str | None] = error_column()
    delivery_attempts: Mapped[int] = attempts_column()
    delivery_allowance: Mapped[int] = allowance_column()
    delivery_due_at: Mapped[datetime | None] = due_at_column()
    delivery_order: Mapped[int] = order_column()
