"""Places."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Computed, Float, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, Named, TenantRow


class Place(TenantRow, Curated, Named, Base):
    """A business as a provider describes it."""

    __tablename__ = "place"
    __table_args__ = (
        UniqueConstraint("tenant_id", "provider", "provider_id"),
        check_vocabulary("curation_status", Curation),
        Index("place_by_update", "tenant_id", "updated_at", "id"),
        Index("place_by_name", "tenant_id", "name_key", "id"),
        Index("place_by_rating", "tenant_id", "rating", postgresql_where=text("rating IS NOT NULL")),
        Index("place_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        Index(
            *("place_by_cell", "tenant_id", "cell"),
            postgresql_include=["latitude", "longitude"],
            postgresql_where=text("cell IS NOT NULL"),
        ),
        *queue.items("place", "deep_scan"),
    )

    # the search that works on it now; search_place has all that found it
    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"), index=True)
    provider: Mapped[str]
    provider_id: Mapped[str]  # its id at the provider
    name: Mapped[str]
    address: Mapped[str | None]
    latitude: Mapped[float | None] = mapped_column(Float())
    longitude: Mapped[float | None] = mapped_column(Float())
    cell: Mapped[int | None] = mapped_column(  # of the map: store/listing/map_cells.py
        BigInteger(), Computed("map_cell(latitude, longitude)", persisted=True), deferred=True
    )
    phone: Mapped[str | None]
    website: Mapped[str | None]
    categories: Mapped[list[str]] = mapped_column(server_default="{}")
    rating: Mapped[float | None] = mapped_column(Float())
    rating_count: Mapped[int | None]
    business_status: Mapped[str | None]
    licence: Mapped[str | None]  # of the data
    fetched_at: Mapped[datetime | None]  # when the provider gave the details
    expires_at: Mapped[datetime | None]  # when the terms of the provider require to delete them
    details: Mapped[dict[str, Any] | None]  # what else the provider returned

    deep_scan_status: Mapped[Status] = queue.status()
    deep_scan_error: Mapped[str | None] = queue.error()
    deep_scan_attempts: Mapped[int] = queue.attempts()
    deep_scan_allowance: Mapped[int] = queue.allowance()
    deep_scan_due_at: Mapped[datetime | None] = queue.due_at()
    deep_scan_order: Mapped[int] = queue.order()
    deep_scan_flow: Mapped[UUID] = queue.flow()
    deep_scan_waits_for: Mapped[str | None] = queue.waits_for()
    deep_scan_revert_to: Mapped[Status | None] = queue.revert_to()
