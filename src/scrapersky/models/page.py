"""Pages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Float, ForeignKey, Index, SmallInteger, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, HiddenReason, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, TenantRow


class Page(TenantRow, Curated, Base):
    """A page of a domain, with its kind and the reason for the kind."""

    __tablename__ = "page"
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain_id", "url"),
        check_vocabulary("curation_status", Curation),
        check_vocabulary("hidden_reason", HiddenReason),
        Index("page_by_update", "tenant_id", "updated_at", "id"),
        Index("page_by_kind", "tenant_id", "kind", "updated_at", "id"),
        Index("page_by_prefix", "tenant_id", "url", postgresql_ops={"url": "text_pattern_ops"}),
        Index("page_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        Index(
            "page_by_progress",
            "domain_id",
            "page_processing_status",
            postgresql_where=text("page_processing_status <> 'New'"),
        ),
        Index(
            *("page_by_hidden_reason", "tenant_id", "hidden_reason", "updated_at", "id"),
            postgresql_where=text("hidden_reason IS NOT NULL"),
        ),
        Index("page_contact_form", "domain_id", postgresql_where=text("has_contact_form")),
        Index("page_hidden", "domain_id", "hidden_reason", postgresql_where=text("hidden_reason IS NOT NULL")),
        *queue.items("page", "page_processing"),
    )

    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"))
    sitemap_file_id: Mapped[UUID | None] = mapped_column(ForeignKey("sitemap_file.id", ondelete="SET NULL"), index=True)
    url: Mapped[str]
    country: Mapped[str | None]
    kind: Mapped[str | None]  # contact, about, imprint …
    kind_score: Mapped[float | None] = mapped_column(Float())  # 0 to 1
    kind_reason: Mapped[str | None]  # the rule that decided
    depth: Mapped[int | None] = mapped_column(SmallInteger())  # segments of the path
    last_modified: Mapped[datetime | None]
    title: Mapped[str | None]
    http_status: Mapped[int | None]
    etag: Mapped[str | None]
    fetched_at: Mapped[datetime | None]
    contact_count: Mapped[int | None]  # contacts found when it was last read
    has_contact_form: Mapped[bool | None]  # whether visitors can write to the business by a form on it
    hidden_reason: Mapped[HiddenReason | None]  # why it shows nothing to a plain reader; never of a page with contacts
    browser: Mapped[dict[str, Any] | None]  # what a browser took for it: visits, seconds, requests, bytes, result

    page_processing_status: Mapped[Status] = queue.status()
    page_processing_error: Mapped[str | None] = queue.error()
    page_processing_attempts: Mapped[int] = queue.attempts()
    page_processing_allowance: Mapped[int] = queue.allowance()
    page_processing_due_at: Mapped[datetime | None] = queue.due_at()
    page_processing_order: Mapped[int] = queue.order()
    page_processing_flow: Mapped[UUID] = queue.flow()
    page_processing_waits_for: Mapped[str | None] = queue.waits_for()
    page_processing_revert_to: Mapped[Status | None] = queue.revert_to()
