"""What goes on by itself: the auto-advance rules of a search, read where one step hands over to the next."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ARRAY, Uuid, any_, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Domain, Search

Advance = Literal["off", "all"]
PAGE_KINDS = ("contact", "imprint", "team", "about", "home")


class AdvanceRules(BaseModel):
    """For each step: nothing, everything, or what fits goes on to it without a person's choice."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    deep_scan: Advance = "all"
    domain_extraction: Literal["off", "all", "has website"] = "all"
    permanently_closed: Advance = "off"  # whether businesses that are closed for good go on like the others
    domain_metadata: Advance = "all"
    sitemap_analysis: Advance = "all"
    sitemap_import: Advance = "all"
    page_curation: Literal["off", "all", "kinds"] = "kinds"
    page_kinds: tuple[str, ...] = PAGE_KINDS
    pages_per_site: int = Field(5, ge=0, le=1000)
    contact_verification: Advance = "all"


STOPPED = AdvanceRules(
    deep_scan="off",
    domain_extraction="off",
    domain_metadata="off",
    sitemap_analysis="off",
    sitemap_import="off",
    page_curation="off",
    contact_verification="off",
)  # of a search that was cancelled


async def rules_of(session: AsyncSession, search_ids: Iterable[UUID | None]) -> Mapping[UUID | None, AdvanceRules]:
    """The rules of these searches in one query; a row that belongs to no search follows the ordinary ones."""
    wanted = {search_id for search_id in search_ids if search_id is not None}
    rules: dict[UUID | None, AdvanceRules] = {None: AdvanceRules(), **dict.fromkeys(wanted, AdvanceRules())}
    if wanted:
        rows = await session.execute(select(Search.id, Search.rules).where(Search.id.in_(wanted)))
        rules |= {row.id: read_rules(row.rules) for row in rows}
    return rules


async def rules_of_domains(session: AsyncSession, domain_ids: Collection[UUID]) -> Mapping[UUID, AdvanceRules]:
    """The rules of the searches that these domains go on for, in one query."""
    if not domain_ids:
        return {}
    wanted = bindparam("domain_ids", list(domain_ids), ARRAY(Uuid()))
    rules = select(Domain.id, Search.rules).outerjoin(Search, Domain.search_id == Search.id)
    return {row.id: read_rules(row.rules) for row in await session.execute(rules.where(Domain.id == any_(wanted)))}


def read_rules(stored: Mapping[str, Any] | None) -> AdvanceRules:
    """Rules as they are stored with a search."""
    return AdvanceRules.model_validate(stored or {})
