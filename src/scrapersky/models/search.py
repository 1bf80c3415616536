"""Searches, and what they found."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, func
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.vocabularies import Curation, Status, check_vocabulary
from scrapersky.models import queue
from scrapersky.models.base import Base, Curated, TenantRow


class Search(TenantRow, Curated, Base):
    """What to look for, where, with which provider and within which budget; or a campaign, which groups searches."""

    __tablename__ = "search"
    __table_args__ = (
        check_vocabulary("curation_status", Curation),
        Index("search_by_update", "tenant_id", "updated_at", "id"),
        Index("search_by_text", "tenant_id", sql('lower("left"(text, 200))')),
        Index("search_by_campaign", "campaign_id", postgresql_where=sql("campaign_id IS NOT NULL")),
        Index("search_campaigns", "tenant_id", "updated_at", "id", postgresql_where=sql("provider = 'campaign'")),
        *queue.items("search", "place_search"),
    )

    text: Mapped[str]
    area: Mapped[str | None]  # in words
    # what the words alone do not tell: several names, the country, a circle, a box, a polygon; null: one name
    area_request: Mapped[dict[str, Any] | None]
    area_found: Mapped[list[Any] | None]  # the areas on the map, once they are known
    provider: Mapped[str]
    result_limit: Mapped[int | None]  # null: all results
    budget_cents: Mapped[int | None]
    cost_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")  # of all calls, ever
    # of the current budget; 0 again when the search is queued again
    spent_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    # includes calls that cost nothing
    call_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    details_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")  # calls for details of places
    details_cents: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    # the same in millionths of the provider's currency, exactly; the cents above are these, rounded up
    cost_micros: Mapped[int] = mapped_column(BigInteger(), default=0, server_default="0")
    spent_micros: Mapped[int] = mapped_column(BigInteger(), default=0, server_default="0")
    details_micros: Mapped[int] = mapped_column(BigInteger(), default=0, server_default="0")
    result_count: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    stopped_by_budget: Mapped[bool] = mapped_column(default=False, server_default="false")
    is_partial: Mapped[bool] = mapped_column(default=False, server_default="false")  # the provider has more places
    notes: Mapped[str | None]  # what the result lacks, or how the request was read; for people
    cancelled_by: Mapped[str | None]  # the name of the person; null again when the search is resumed
    rules: Mapped[dict[str, Any] | None]  # how far the line goes on without a person
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
    name: Mapped[str | None]  # given by a person
    # the campaign whose budget pays for it, and which stops and continues it
    campaign_id: Mapped[UUID | None] = mapped_column(ForeignKey("search.id", ondelete="SET NULL"))

    place_search_status: Mapped[Status] = queue.status()
    place_search_error: Mapped[str | None] = queue.error()
    place_search_attempts: Mapped[int] = queue.attempts()
    place_search_allowance: Mapped[int] = queue.allowance()
    place_search_due_at: Mapped[datetime | None] = queue.due_at()
    place_search_order: Mapped[int] = queue.order()
    place_search_flow: Mapped[UUID] = queue.flow()
    place_search_waits_for: Mapped[str | None] = queue.waits_for()
    place_search_revert_to: Mapped[Status | None] = queue.revert_to()


class CampaignSearch(Base):
    """A search of a campaign. A search may belong to several campaigns."""

    __tablename__ = "campaign_search"

    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer())  # in the request


class SearchPlace(Base):
    """A place that a search found. Several searches may find the same place, and each keeps it."""

    __tablename__ = "search_place"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    place_id: Mapped[UUID] = mapped_column(ForeignKey("place.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    found_at: Mapped[datetime] = mapped_column(server_default=func.now())
    seen_at: Mapped[datetime | None] = mapped_column(server_default=func.now())  # by the latest run that found it


class SearchBusiness(Base):
    """A business that a search found; written by triggers, see migrations/sql/search_results.sql."""

    __tablename__ = "search_business"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    business_id: Mapped[UUID] = mapped_column(
        ForeignKey("local_business.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    found_at: Mapped[datetime | None] = mapped_column(server_default=func.now())  # null: before runs were recorded
    seen_at: Mapped[datetime | None] = mapped_column(server_default=func.now())


class SearchDomain(Base):
    """A domain that a search found; written by triggers."""

    __tablename__ = "search_domain"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    domain_id: Mapped[UUID] = mapped_column(ForeignKey("domain.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    found_at: Mapped[datetime | None] = mapped_column(server_default=func.now())


class SearchContact(Base):
    """A contact without a domain that an import brought; other contacts are found through search_domain."""

    __tablename__ = "search_contact"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    contact_id: Mapped[UUID] = mapped_column(ForeignKey("contact.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
