"""A business one could write to."""

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


class LocalBusiness(TenantRow, Curated, Named, Base):
    """What the deep scan learned about a place; the start of its web domain."""

    __tablename__ = "local_business"
    __table_args__ = (
        UniqueConstraint("tenant_id", "place_id"),
        check_vocabulary("curation_status", Curation),
        Index("local_business_by_update", "tenant_id", "updated_at", "id"),
        Index("local_business_by_search", "search_id", "id"),
        Index("local_business_by_name", "tenant_id", "name_key", "id"),
        Index("local_business_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue_items("local_business", "domain_extraction"),
    )

    place_id: Mapped[UUID | None] = mapped_column(ForeignKey("place.id", ondelete="SET NULL"))
    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))
    name: Mapped[str]
    address: Mapped[str | None]
    street: Mapped[str | None]
    city: Mapped[str | None]
    region: Mapped[str | None]
    postcode: Mapped[str | None]
    country: Mapped[str | None]
    latitude: Mapped[float | None] = mapped_column(Float())
    longitude: Mapped[float | None] = mapped_column(Float())
    timezone: Mapped[str | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    profiles: Mapped[dict[str, Any] | None]
    categories: Mapped[list[str]] = mapped_column(server_default="{}")
    rating: Mapped[float | None] = mapped_column(Float())
    rating_count: Mapped[int | None]
    price_level: Mapped[int | None]
    hours: Mapped[dict[str, Any] | None]
    business_status: Mapped[str | None]
    details: Mapped[dict[str, Any] | None]

    domain_extraction_status: Mapped[Status] = status_column()
    domain_extraction_error: Mapped[str | None] = error_column()
    domain_extraction_attempts: Mapped[int] = attempts_column()
    domain_extraction_allowance: Mapped[int] = allowance_column()
    domain_extraction_due_at: Mapped[datetime | None] = due_at_column()
    domain_extraction_order: Mapped[int] = order_column()
