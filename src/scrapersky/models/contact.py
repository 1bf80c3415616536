"""Somebody one can write to."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Computed, Float, ForeignKey, Index, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, Verdict, check_vocabulary
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


class Contact(TenantRow, Curated, Named, Base):
    """An address, a number, a person: with the page it was found on and how sure we are."""

    __tablename__ = "contact"
    __table_args__ = (
        UniqueConstraint("tenant_id", "domain_id", "identity"),
        check_vocabulary("curation_status", Curation),
        check_vocabulary("verdict", Verdict),
        Index("contact_by_update", "tenant_id", "updated_at", "id"),
        Index("contact_by_prefix", "tenant_id", "email", postgresql_ops={"email": "text_pattern_ops"}),
        Index("contact_by_name", "tenant_id", "name_key", "id"),
        Index("contact_by_curation", "tenant_id", "curation_status", "updated_at", "id"),
        Index("contact_by_verdict", "tenant_id", "verdict", "updated_at", "id"),
        Index("contact_by_email", "tenant_id", "email"),
        Index("contact_by_phone", "tenant_id", "phone"),
        Index("contact_by_fax", "tenant_id", "fax", postgresql_where=text("fax IS NOT NULL")),
        Index("contact_by_host", "tenant_id", "email_host"),
        Index("contact_by_seen", "tenant_id", "seen_at"),
        Index(
            "contact_without_domain", "tenant_id", "identity", unique=True, postgresql_where=text("domain_id IS NULL")
        ),
        *queue_items("contact", "contact_verification"),
        Index(
            "contact_suppressed", "tenant_id", "updated_at", "id", postgresql_where=text("suppressed_at IS NOT NULL")
        ),
    )

    domain_id: Mapped[UUID | None] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), index=True)
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("page.id", ondelete="SET NULL"), index=True)
    business_id: Mapped[UUID | None] = mapped_column(ForeignKey("local_business.id", ondelete="SET NULL"), index=True)
    merged_into_id: Mapped[UUID | None] = mapped_column(ForeignKey("contact.id", ondelete="SET NULL"), index=True)
    identity: Mapped[str]
    name: Mapped[str | None]
    title: Mapped[str | None]
    email: Mapped[str | None]
    email_kind: Mapped[str | None]
    phone: Mapped[str | None]
    fax: Mapped[str | None]
    profiles: Mapped[dict[str, Any] | None]
    address: Mapped[str | None]
    source_url: Mapped[str | None]
    snippet: Mapped[str | None]
    found_by: Mapped[str | None]
    confidence: Mapped[float | None] = mapped_column(Float())
    verdict: Mapped[Verdict | None]
    verification: Mapped[dict[str, Any] | None]
    edited_at: Mapped[datetime | None]  # a person wrote its facts: a page only fills in what is missing
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now())  # when a page, a file or a person last said it
    suppressed_at: Mapped[datetime | None]  # set by the database, whichever way the contact comes
    email_host: Mapped[str | None] = mapped_column(  # from its end: a domain and all under it are one range
        Text(collation="C"),
        Computed("reverse(split_part(lower(email), '@', 2)) || '.'", persisted=True),
        deferred=True,
    )

    contact_verification_status: Mapped[Status] = status_column()
    contact_verification_error: Mapped[str | None] = error_column()
    contact_verification_attempts: Mapped[int] = attempts_column()
    contact_verification_allowance: Mapped[int] = allowance_column()
    contact_verification_due_at: Mapped[datetime | None] = due_at_column()
    contact_verification_order: Mapped[int] = order_column()
