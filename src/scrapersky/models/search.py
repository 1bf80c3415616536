"""A search somebody asked for, and which places it found."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Integer, func
from sqlalchemy import text as sql
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


class Search(TenantRow, Curated, Base):
    """What to look for, where, with which provider and within which budget."""

    __tablename__ = "search"
    __table_args__ = (
        check_vocabulary("curation_status", Curation),
        Index("search_by_update", "tenant_id", "updated_at", "id"),
        Index("search_by_text", "tenant_id", sql('lower("left"(text, 200))')),
        *queue_items("search", "place_search"),
    )

    text: Mapped[str]
    area: Mapped[str | None]
    provider: Mapped[str]
    result_limit: Mapped[int | None]
    budget_cents: Mapped[int | None]
    cost_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    spent_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")  # of the present budget
    call_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")  # free ones, too
    details_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    details_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    result_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    cut_short: Mapped[str | None]
    rules: Mapped[dict[str, Any] | None]
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))

    place_search_status: Mapped[Status] = status_column()
    place_search_error: Mapped[str | None] = error_column()
    place_search_attempts: Mapped[int] = attempts_column()
    place_search_allowance: Mapped[int] = allowance_column()
    place_search_due_at: Mapped[datetime | None] = due_at_column()
    place_search_order: Mapped[int] = order_column()


class SearchPlace(Base):
    """A place that a search found; a place may be found by many, and no later search takes it away."""

    __tablename__ = "search_place"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    place_id: Mapped[UUID] = mapped_column(ForeignKey("place.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    found_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SearchBusiness(Base):
    """A business that a search found; the database writes it down when the search goes on with it, and keeps it."""

    __tablename__ = "search_business"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    business_id: Mapped[UUID] = mapped_column(
        ForeignKey("local_business.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))


class SearchDomain(Base):
    """A domain that a search found, kept in the same way."""

    __tablename__ = "search_domain"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))


class SearchContact(Base):
    """A contact without a web site that came with a file; one that has a site is found by it."""

    __tablename__ = "search_contact"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    contact_id: Mapped[UUID] = mapped_column(ForeignKey("contact.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
