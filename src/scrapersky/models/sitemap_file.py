"""Sitemaps."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, TenantRow


class SitemapFile(TenantRow, Curated, Base):
    """A sitemap of a domain, found by the sitemap analysis or added by a person."""

    __tablename__ = "sitemap_file"
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain_id", "url"),
        check_vocabulary("curation_status", Curation),
        Index("sitemap_file_by_update", "tenant_id", "updated_at", "id"),
        Index("sitemap_file_by_kind", "tenant_id", "kind", "updated_at", "id"),
        Index("sitemap_file_by_prefix", "tenant_id", "url", postgresql_ops={"url": "text_pattern_ops"}),
        Index("sitemap_file_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue.items("sitemap_file", "sitemap_import"),
    )

    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"))
    # the sitemap index that lists it
    parent_id: Mapped[UUID | None] = mapped_column(ForeignKey("sitemap_file.id", ondelete="SET NULL"), index=True)
    url: Mapped[str]
    kind: Mapped[str | None]  # index, urlset, text …
    discovered_by: Mapped[str | None]  # robots.txt, a link, a well-known path …
    url_count: Mapped[int | None]
    size_bytes: Mapped[int | None]
    last_modified: Mapped[datetime | None]
    etag: Mapped[str | None]
    partial_reason: Mapped[str | None]  # why not all of it was read

    sitemap_import_status: Mapped[Status] = queue.status()
    sitemap_import_error: Mapped[str | None] = queue.error()
    sitemap_import_attempts: Mapped[int] = queue.attempts()
    sitemap_import_allowance: Mapped[int] = queue.allowance()
    sitemap_import_due_at: Mapped[datetime | None] = queue.due_at()
    sitemap_import_order: Mapped[int] = queue.order()
    sitemap_import_flow: Mapped[UUID] = queue.flow()
    sitemap_import_waits_for: Mapped[str | None] = queue.waits_for()
    sitemap_import_revert_to: Mapped[Status | None] = queue.revert_to()
