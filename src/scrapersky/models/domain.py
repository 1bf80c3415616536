"""A registrable web domain, and the businesses behind it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func
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


class Domain(TenantRow, Curated, Base):
    """The web site of one business or of several."""

    __tablename__ = "domain"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        check_vocabulary("curation_status", Curation),
        Index("domain_by_update", "tenant_id", "updated_at", "id"),
        Index("domain_by_search", "search_id", "id"),
        Index("domain_by_prefix", "tenant_id", "name", postgresql_ops={"name": "text_pattern_ops"}),
        Index("domain_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        *queue_items("domain", "domain_metadata"),
        *queue_items("domain", "sitemap_analysis"),
    )

    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))
    name: Mapped[str]
    unicode_name: Mapped[str | None]
    country: Mapped[str | None]
    start_url: Mapped[str | None]
    final_url: Mapped[str | None]
    http_status: Mapped[int | None]
    title: Mapped[str | None]
    description: Mapped[str | None]
    language: Mapped[str | None]
    favicon: Mapped[str | None]
    logo: Mapped[str | None]
    generator: Mapped[str | None]
    technologies: Mapped[list[str]] = mapped_column(server_default="{}")
    facts: Mapped[dict[str, Any] | None]
    sitemap_result: Mapped[str | None]
    sitemap_reason: Mapped[str | None]

    domain_metadata_status: Mapped[Status] = status_column()
    domain_metadata_error: Mapped[str | None] = error_column()
    domain_metadata_attempts: Mapped[int] = attempts_column()
    domain_metadata_allowance: Mapped[int] = allowance_column()
    domain_metadata_due_at: Mapped[datetime | None] = due_at_column()
    domain_metadata_order: Mapped[int] = order_column()

    sitemap_analysis_status: Mapped[Status] = status_column()
    sitemap_analysis_error: Mapped[str | None] = error_column()
    sitemap_analysis_attempts: Mapped[int] = attempts_column()
    sitemap_analysis_allowance: Mapped[int] = allowance_column()
    sitemap_analysis_due_at: Mapped[datetime | None] = due_at_column()
    sitemap_analysis_order: Mapped[int] = order_column()


class BusinessDomain(Base):
    """A business and one of its domains: two businesses may share one, and both are linked."""

    __tablename__ = "business_domain"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("local_business.id", ondelete="CASCADE"), primary_key=True)
    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    url: Mapped[str | None]
    linked_at: Mapped[datetime] = mapped_column(server_default=func.now())
