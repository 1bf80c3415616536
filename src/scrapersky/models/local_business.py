"""Local businesses."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Computed, Float, ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, Named, TenantRow


class LocalBusiness(TenantRow, Curated, Named, Base):
    """A business of the tenant, with the details of its place."""

    __tablename__ = "local_business"
    __table_args__ = (
        UniqueConstraint("tenant_id", "place_id"),
        check_vocabulary("curation_status", Curation),
        Index("local_business_by_update", "tenant_id", "updated_at", "id"),
        Index("local_business_by_search", "search_id", "id"),
        Index("local_business_by_name", "tenant_id", "name_key", "id"),
        Index("local_business_by_city", "tenant_id", "city_key", "updated_at", "id"),
        Index("local_business_by_country", "tenant_id", "country", "updated_at", "id"),
        Index("local_business_by_rating", "tenant_id", "rating", postgresql_where=text("rating IS NOT NULL")),
        Index("local_business_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue.items("local_business", "domain_extraction"),
    )

    # null: imported from a file
    place_id: Mapped[UUID | None] = mapped_column(ForeignKey("place.id", ondelete="SET NULL"))
    # the search that works on it now; search_business has all that found it
    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))
    name: Mapped[str]
    address: Mapped[str | None]  # in one line
    street: Mapped[str | None]
    city: Mapped[str | None]
    city_key: Mapped[str | None] = mapped_column(
        Text(collation="C"), Computed("lower(left(city, 200))", persisted=True), deferred=True
    )
    region: Mapped[str | None]
    postcode: Mapped[str | None]
    country: Mapped[str | None]  # ISO 3166 code
    latitude: Mapped[float | None] = mapped_column(Float())
    longitude: Mapped[float | None] = mapped_column(Float())
    timezone: Mapped[str | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    profiles: Mapped[dict[str, Any] | None]  # links to social networks, by network
    categories: Mapped[list[str]] = mapped_column(server_default="{}")
    rating: Mapped[float | None] = mapped_column(Float())
    rating_count: Mapped[int | None]
    price_level: Mapped[int | None]
    hours: Mapped[dict[str, Any] | None]  # opening hours
    business_status: Mapped[str | None]
    details: Mapped[dict[str, Any] | None]  # what else the provider returned

    domain_extraction_status: Mapped[Status] = queue.status()
    domain_extraction_error: Mapped[str | None] = queue.error()
    domain_extraction_attempts: Mapped[int] = queue.attempts()
    domain_extraction_allowance: Mapped[int] = queue.allowance()
    domain_extraction_due_at: Mapped[datetime | None] = queue.due_at()
    domain_extraction_order: Mapped[int] = queue.order()
    domain_extraction_flow: Mapped[UUID] = queue.flow()
    domain_extraction_waits_for: Mapped[str | None] = queue.waits_for()
    domain_extraction_revert_to: Mapped[Status | None] = queue.revert_to()
