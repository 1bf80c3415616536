"""A sitemap of a domain."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models.base import Base, Curated, TenantRow
from scrapersky.models.queue import (
    allowance_column,
    attempts_column,
    due_at_column,
    error_column,
    order_column,
    queue_items,
    status_column,
)


class SitemapFile(TenantRow, Curated, Base):
    """A file that lists pages, found by the sitemap analysis or given by somebody."""

    __tablename__ = "sitemap_file"
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain_id", "url"),
        check_vocabulary("curation_status", Curation),
        Index("sitemap_file_by_update", "tenant_id", "updated_at", "id"),
        Index("sitemap_file_by_kind", "tenant_id", "kind", "updated_at", "id"),
        Index("sitemap_file_by_prefix", "tenant_id", "url", postgresql_ops={"url": "text_pattern_ops"}),
        Index("sitemap_file_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue_items("sitemap_file", "sitemap_import"),
    )

    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"))
    parent_id: Mapped[UUID | None] = mapped_column(ForeignKey("sitemap_file.id", ondelete="SET NULL"), index=True)
    url: Mapped[str]
    kind: Mapped[str | None]
    discovered_by: Mapped[str | None]
    url_count: Mapped[int | None]
    size_bytes: Mapped[int | None]
    last_modified: Mapped[datetime | None]
    etag: Mapped[str | None]
    partial_reason: Mapped[str | None]

    sitemap_import_status: Mapped[Status] = status_column()
    sitemap_import_error: Mapped[str | None] = error_column()
    sitemap_import_attempts: Mapped[int] = attempts_column()
    sitemap_import_allowance: Mapped[int] = allowance_column()
    sitemap_import_due_at: Mapped[datetime | None] = due_at_column()
    sitemap_import_order: Mapped[int] = order_column()
