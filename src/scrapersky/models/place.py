"""A place as a provider knows it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Float, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models.base import Base, Curated, Named, TenantRow
from scrapersky.models.queue import (
    allowance_column,
    attempts_column,
    due_at_column,
    error_column,
    order_column,
    queue_items,
    status_column,
)


class Place(TenantRow, Curated, Named, Base):
    """Something on a map: found by a search, looked into by the deep scan."""

    __tablename__ = "place"
    __table_args__ = (
        UniqueConstraint("tenant_id", "provider", "provider_id"),
        check_vocabulary("curation_status", Curation),
        Index("place_by_update", "tenant_id", "updated_at", "id"),
        Index("place_by_name", "tenant_id", "name_key", "id"),
        Index("place_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue_items("place", "deep_scan"),
    )

    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"), index=True)
    provider: Mapped[str]
    provider_id: Mapped[str]
    name: Mapped[str]
    address: Mapped[str | None]
    latitude: Mapped[float | None] = mapped_column(Float())
    longitude: Mapped[float | None] = mapped_column(Float())
    phone: Mapped[str | None]
    website: Mapped[str | None]
    categories: Mapped[list[str]] = mapped_column(server_default="{}")
    rating: Mapped[float | None] = mapped_column(Float())
    rating_count: Mapped[int | None]
    business_status: Mapped[str | None]
    licence: Mapped[str | None]
    fetched_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    details: Mapped[dict[str, Any] | None]

    deep_scan_status: Mapped[Status] = status_column()
    deep_scan_error: Mapped[str | None] = error_column()
    deep_scan_attempts: Mapped[int] = attempts_column()
    deep_scan_allowance: Mapped[int] = allowance_column()
    deep_scan_due_at: Mapped[datetime | None] = due_at_column()
    deep_scan_order: Mapped[int] = order_column()
