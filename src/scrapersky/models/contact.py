"""A contact."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Computed, Float, ForeignKey, Index, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, Verdict, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, Named, TenantRow


class Contact(TenantRow, Curated, Named, Base):
    """An email address, a phone number or a person, with the page it was found on and a confidence."""

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
        Index("contact_by_last_name", "tenant_id", "last_name_key", "id"),
        Index("contact_sorted_by_email", "tenant_id", "email", "id"),
        Index("contact_by_phone", "tenant_id", "phone"),
        Index("contact_by_fax", "tenant_id", "fax", postgresql_where=text("fax IS NOT NULL")),
        Index("contact_by_host", "tenant_id", "email_host"),
        Index("contact_by_seen", "tenant_id", "seen_at"),
        Index(
            "contact_without_domain", "tenant_id", "identity", unique=True, postgresql_where=text("domain_id IS NULL")
        ),
        *queue.items("contact", "contact_verification"),
        Index(
            "contact_suppressed", "tenant_id", "updated_at", "id", postgresql_where=text("suppressed_at IS NOT NULL")
        ),
        Index(
            "contact_people_of_business",
            "business_id",
            "id",
            postgresql_where=text("domain_id IS NULL AND (name IS NOT NULL OR email IS NOT NULL)"),
        ),
        Index("contact_suppressed_of_domain", "domain_id", postgresql_where=text("suppressed_at IS NOT NULL")),
    )

    # null: a contact without a domain, from an import
    domain_id: Mapped[UUID | None] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), index=True)
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("page.id", ondelete="SET NULL"), index=True)
    # the business it belongs to, if the domain has several
    business_id: Mapped[UUID | None] = mapped_column(ForeignKey("local_business.id", ondelete="SET NULL"), index=True)
    # the contact that replaces this duplicate
    merged_into_id: Mapped[UUID | None] = mapped_column(ForeignKey("contact.id", ondelete="SET NULL"), index=True)
    is_merged_by_rule: Mapped[bool] = mapped_column(server_default=text("false"))  # not by a person: edits undo it
    is_separate: Mapped[bool] = mapped_column(server_default=text("false"))  # split: reading pages does not merge it
    identity: Mapped[str]  # what makes it unique in its domain: `email:…`, `phone:…`, `person:…`
    name: Mapped[str | None]
    first_name: Mapped[str | None]  # empty where the order of the name is not known
    last_name: Mapped[str | None]
    last_name_key: Mapped[str | None] = mapped_column(  # as name_key
        Text(collation="C"), Computed("lower(left(last_name, 200))", persisted=True), deferred=True
    )
    honorific: Mapped[str | None]  # form of address: Herr, Ms
    degree: Mapped[str | None]  # Dr. med., MBA
    name_latin: Mapped[str | None]  # the name in Latin letters, where the page gives it beside another script
    title: Mapped[str | None]  # the position of the person
    email: Mapped[str | None]
    email_kind: Mapped[str | None]  # role, personal, free-mail or other-domain
    phone: Mapped[str | None]
    fax: Mapped[str | None]
    profiles: Mapped[dict[str, Any] | None]  # links to social networks, by network
    address: Mapped[str | None]
    company: Mapped[str | None]  # the business as a file or a person names it
    source_url: Mapped[str | None]  # the page or the file
    snippet: Mapped[str | None]  # the text around it, as evidence
    found_by: Mapped[str | None]  # the finder that found it
    confidence: Mapped[float | None] = mapped_column(Float())  # 0 to 1
    sources: Mapped[dict[str, Any] | None]  # by field, of values that are not from `source_url`
    evidence_rank: Mapped[str | None] = mapped_column(deferred=True)  # of the page: the lowest is the best
    fact_ranks: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)  # of fields from other pages
    verdict: Mapped[Verdict | None]  # whether mail to it would arrive
    verification: Mapped[dict[str, Any] | None]  # the results of each check
    edited_at: Mapped[datetime | None]  # a person edited it: a page only fills empty fields
    changed_at: Mapped[datetime | None]  # when one of the fields of field_changes changed; written by a trigger
    field_changes: Mapped[dict[str, Any] | None]  # the time of the latest change of each field
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now())  # when a page, a file or a person last gave it
    suppressed_at: Mapped[datetime | None]  # set by a trigger; it must not be written to
    email_host: Mapped[str | None] = mapped_column(  # reversed, so that a domain and its subdomains are one range
        Text(collation="C"),
        Computed("reverse(split_part(lower(email), '@', 2)) || '.'", persisted=True),
        deferred=True,
    )

    contact_verification_status: Mapped[Status] = queue.status()
    contact_verification_error: Mapped[str | None] = queue.error()
    contact_verification_attempts: Mapped[int] = queue.attempts()
    contact_verification_allowance: Mapped[int] = queue.allowance()
    contact_verification_due_at: Mapped[datetime | None] = queue.due_at()
    contact_verification_order: Mapped[int] = queue.order()
    contact_verification_flow: Mapped[UUID] = queue.flow()
    contact_verification_waits_for: Mapped[str | None] = queue.waits_for()
    contact_verification_revert_to: Mapped[Status | None] = queue.revert_to()
