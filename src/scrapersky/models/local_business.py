"""Local businesses."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Computed, Float, ForeignKey, Index, Text, UniqueConstraint, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, JoinedBy, Status, WebsiteHow, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, Named, TenantRow


class LocalBusiness(TenantRow, Curated, Named, Base):
    """A business of the tenant, with the details of its place."""

    __tablename__ = "local_business"
    __table_args__ = (
        UniqueConstraint("tenant_id", "place_id"),
        check_vocabulary("curation_status", Curation),
        check_vocabulary("website_how", WebsiteHow),
        check_vocabulary("same_by", JoinedBy),
        Index("local_business_by_update", "tenant_id", "updated_at", "id"),
        Index("local_business_by_search", "search_id", "id"),
        Index("local_business_by_name", "tenant_id", "name_key", "id"),
        Index("local_business_by_city", "tenant_id", "city_key", "updated_at", "id"),
        Index("local_business_by_country", "tenant_id", "country", "updated_at", "id"),
        Index("local_business_by_rating", "tenant_id", "rating", postgresql_where=text("rating IS NOT NULL")),
        Index("local_business_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        Index("local_business_by_phone", "tenant_id", "phone", postgresql_where=text("website IS NOT NULL")),
        Index("local_business_not_compared", "tenant_id", "id", postgresql_where=text("compared_at IS NULL")),
        Index(
            *("local_business_same_as_id", "same_as_id", "id"),
            postgresql_where=text("same_as_id IS NOT NULL"),
        ),
        *queue.items("local_business", "site_search"),
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
    website_how: Mapped[WebsiteHow | None]  # how it was found; null: the provider or the file gave it
    website_confidence: Mapped[float | None] = mapped_column(Float())  # how sure it is that the found site is right
    website_proof: Mapped[str | None]  # what proves it
    rejected_websites: Mapped[list[str]] = mapped_column(server_default="{}")  # by a person: sites and their domains
    profiles: Mapped[dict[str, Any] | None]  # links to social networks, by network
    categories: Mapped[list[str]] = mapped_column(server_default="{}")
    rating: Mapped[float | None] = mapped_column(Float())
    rating_count: Mapped[int | None]
    price_level: Mapped[int | None]
    hours: Mapped[dict[str, Any] | None]  # opening hours
    business_status: Mapped[str | None]
    details: Mapped[dict[str, Any] | None]  # what else the provider returned
    changed_at: Mapped[datetime | None]  # when one of the fields of field_changes changed; written by a trigger
    field_changes: Mapped[dict[str, Any] | None]  # the time of the latest change of each field
    expired_at: Mapped[datetime | None]  # when the terms of the provider required to delete name and details
    # the record that was stored first of those of the same business, which lists show instead; null: this one is shown
    same_as_id: Mapped[UUID | None] = mapped_column(ForeignKey("local_business.id", ondelete="SET NULL"))
    same_reason: Mapped[str | None]  # why it is the same business
    same_confidence: Mapped[float | None] = mapped_column(Float())
    same_by: Mapped[JoinedBy | None]
    separate_from: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()), server_default="{}")  # split by a person
    compared_at: Mapped[datetime | None]  # with other records; a trigger empties it when the facts change
    chain: Mapped[str | None]  # the brand or the site that it shares with branches elsewhere

    site_search_status: Mapped[Status] = queue.status()
    site_search_error: Mapped[str | None] = queue.error()
    site_search_attempts: Mapped[int] = queue.attempts()
    site_search_allowance: Mapped[int] = queue.allowance()
    site_search_due_at: Mapped[datetime | None] = queue.due_at()
    site_search_order: Mapped[int] = queue.order()
    site_search_flow: Mapped[UUID] = queue.flow()
    site_search_waits_for: Mapped[str | None] = queue.waits_for()
    site_search_revert_to: Mapped[Status | None] = queue.revert_to()

    domain_extraction_status: Mapped[Status] = queue.status()
    domain_extraction_error: Mapped[str | None] = queue.error()
    domain_extraction_attempts: Mapped[int] = queue.attempts()
    domain_extraction_allowance: Mapped[int] = queue.allowance()
    domain_extraction_due_at: Mapped[datetime | None] = queue.due_at()
    domain_extraction_order: Mapped[int] = queue.order()
    domain_extraction_flow: Mapped[UUID] = queue.flow()
    domain_extraction_waits_for: Mapped[str | None] = queue.waits_for()
    domain_extraction_revert_to: Mapped[Status | None] = queue.revert_to()


class MatchKey(Base):
    """A key by which records of the same business are found: extract/matching."""

    __tablename__ = "match_key"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(
        ForeignKey("local_business.id", ondelete="CASCADE"), primary_key=True, index=True
    )
