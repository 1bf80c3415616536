"""Domains, and the businesses they belong to."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, HiddenReason, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, TenantRow


class Domain(TenantRow, Curated, Base):
    """A registrable web domain, with facts from its home page."""

    __tablename__ = "domain"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        check_vocabulary("curation_status", Curation),
        check_vocabulary("hidden_reason", HiddenReason),
        Index("domain_by_update", "tenant_id", "updated_at", "id"),
        Index("domain_by_search", "search_id", "id"),
        Index("domain_by_prefix", "tenant_id", "name", postgresql_ops={"name": "text_pattern_ops"}),
        Index("domain_by_country", "tenant_id", "country", "updated_at", "id"),
        Index("domain_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        Index(
            *("domain_by_hidden_reason", "tenant_id", "hidden_reason", "updated_at", "id"),
            postgresql_where=text("hidden_reason IS NOT NULL"),
        ),
        *queue.items("domain", "domain_metadata"),
        *queue.items("domain", "sitemap_analysis"),
    )

    # the search that works on it now; search_domain has all that found it
    search_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))
    name: Mapped[str]  # in ASCII (punycode)
    unicode_name: Mapped[str | None]  # as people read it, if different
    country: Mapped[str | None]
    start_url: Mapped[str | None]  # where to begin, if given
    final_url: Mapped[str | None]  # the home page after redirects
    http_status: Mapped[int | None]
    hidden_reason: Mapped[HiddenReason | None]  # why its home page shows nothing to a plain reader
    browser: Mapped[dict[str, Any] | None]  # what a browser took for it: visits, seconds, requests, bytes, result
    title: Mapped[str | None]
    description: Mapped[str | None]
    language: Mapped[str | None]
    favicon: Mapped[str | None]
    logo: Mapped[str | None]
    generator: Mapped[str | None]  # the CMS or site builder
    technologies: Mapped[list[str]] = mapped_column(server_default="{}")
    facts: Mapped[dict[str, Any] | None]  # structured data of the home page
    sitemap_result: Mapped[str | None]  # found, none or not needed
    sitemap_reason: Mapped[str | None]  # why

    domain_metadata_status: Mapped[Status] = queue.status()
    domain_metadata_error: Mapped[str | None] = queue.error()
    domain_metadata_attempts: Mapped[int] = queue.attempts()
    domain_metadata_allowance: Mapped[int] = queue.allowance()
    domain_metadata_due_at: Mapped[datetime | None] = queue.due_at()
    domain_metadata_order: Mapped[int] = queue.order()
    domain_metadata_flow: Mapped[UUID] = queue.flow()
    domain_metadata_waits_for: Mapped[str | None] = queue.waits_for()
    domain_metadata_revert_to: Mapped[Status | None] = queue.revert_to()

    sitemap_analysis_status: Mapped[Status] = queue.status()
    sitemap_analysis_error: Mapped[str | None] = queue.error()
    sitemap_analysis_attempts: Mapped[int] = queue.attempts()
    sitemap_analysis_allowance: Mapped[int] = queue.allowance()
    sitemap_analysis_due_at: Mapped[datetime | None] = queue.due_at()
    sitemap_analysis_order: Mapped[int] = queue.order()
    sitemap_analysis_flow: Mapped[UUID] = queue.flow()
    sitemap_analysis_waits_for: Mapped[str | None] = queue.waits_for()
    sitemap_analysis_revert_to: Mapped[Status | None] = queue.revert_to()


class BusinessDomain(Base):
    """A business and one of its domains; two businesses may share a domain."""

    __tablename__ = "business_domain"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("local_business.id", ondelete="CASCADE"), primary_key=True)
    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    url: Mapped[str | None]
    linked_at: Mapped[datetime] = mapped_column(server_default=func.now())
