"""Queries about campaigns: searches that share a progress, a budget and a file.

A campaign is a search whose provider is `campaign`. Triggers link what its searches find to it.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import Status
from scrapersky.models import CampaignSearch, Search
from scrapersky.store.money import spending
from scrapersky.store.searches import resume, snapshot
from scrapersky.store.searches.request import SearchRequest, new_search
from scrapersky.store.steps import AdvanceRules

_DIGEST = re.compile(r"; [0-9a-f]{12}\)$")  # at the end of a text that depends on the queries or web sites alone
NAMED = 2  # queries that are listed in the name of a campaign
ROWS_PER_STATEMENT = 1_000

Key = tuple[str, str | None, str, str, int | None]


@dataclass(frozen=True)
class CampaignCounts:
    """How many searches of a campaign are in which state."""

    searches: int
    waiting: int
    working: int
    completed: int
    skipped: int
    failed: int
    stopped_by_budget: int  # of the completed ones
    places: int  # found by all of them, each once
    businesses: int  # of these places; one business may be several places, of several providers


def identity(requests: Sequence[SearchRequest]) -> str:
    """Return a text that depends on the queries alone: the same queries in another order are the same campaign."""
    by_key = {str(key_of(request)): request for request in requests}
    keys = sorted(by_key)
    first = [by_key[key] for key in keys[:NAMED]]
    shown = "; ".join(f"{one.text} in {one.area}" if one.area else one.text for one in first)
    more = "; …" if len(requests) > NAMED else ""
    digest = hashlib.sha256("\n".join(keys).encode()).hexdigest()[:12]
    return f"{len(requests)} search{'es' * (len(requests) != 1)} ({shown}{more}; {digest})"


def title_of(text: str) -> str:
    """Return the text of a campaign or of a list of web sites without its digest, which is for programs."""
    return _DIGEST.sub(")", text)


def key_of(search: SearchRequest | Search) -> Key:
    """Return what distinguishes a search from others of the tenant; equal searches are one search."""
    if isinstance(search, Search):
        limit, more = search.result_limit, search.area_request
    else:
        limit, more = search.limit, search.where.to_json()
    where = json.dumps(more, sort_keys=True) if more else ""
    return search.text.lower(), search.area and search.area.lower(), where, search.provider, limit


async def same_searches(session: AsyncSession, tenant_id: UUID, requests: Sequence[SearchRequest]) -> dict[Key, Search]:
    """Return the searches of the tenant that are equal to one of the requests, locked in one order."""
    found: dict[Key, Search] = {}
    wanted = {key_of(request) for request in requests}
    starts = sorted({request.text.lower()[:200] for request in requests})
    for start in range(0, len(starts), ROWS_PER_STATEMENT):
        same = (
            select(Search)
            .where(
                Search.tenant_id == tenant_id,
                func.lower(func.left(Search.text, 200)).in_(starts[start : start + ROWS_PER_STATEMENT]),
            )
            .order_by(Search.id)
            .with_for_update(key_share=True)
        )
        found |= {key_of(search): search for search in await session.scalars(same) if key_of(search) in wanted}
    return found


async def add_searches(session: AsyncSession, campaign: Search, requests: Sequence[SearchRequest]) -> list[UUID]:
    """Create those searches that do not exist, let all of them join the campaign; return the ids of the others."""
    known = await same_searches(session, campaign.tenant_id, requests)
    members: list[Search] = []
    for request in requests:
        search = known.get(key_of(request))
        if search is None:
            search = new_search(campaign.tenant_id, request, queue=True)
            search.campaign_id, search.requested_by = campaign.id, campaign.requested_by
            session.add(search)
        members.append(search)
    await session.flush()
    joined = set(await session.scalars(_members(campaign.id)))
    rows = [
        {"campaign_id": campaign.id, "search_id": one.id, "tenant_id": campaign.tenant_id, "position": position}
        for position, one in enumerate(members)
        if one.id not in joined
    ]
    if rows:
        await session.execute(insert(CampaignSearch), rows)
    return [one.id for one in known.values()]


def _members(campaign_id: UUID) -> Any:
    return select(CampaignSearch.search_id).where(CampaignSearch.campaign_id == campaign_id)


async def members(session: AsyncSession, campaign_id: UUID) -> list[UUID]:
    """Return the searches of a campaign, locked in one order."""
    own = select(Search.id).where(Search.id.in_(_members(campaign_id))).order_by(Search.id)
    return list(await session.scalars(own.with_for_update(key_share=True)))


async def paid_by(session: AsyncSession, campaign_id: UUID) -> list[UUID]:
    """Return the searches that this campaign pays for, locked in one order; another request may have taken some."""
    own = select(Search.id).where(Search.campaign_id == campaign_id).order_by(Search.id)
    return list(await session.scalars(own.with_for_update(key_share=True)))


async def continue_searches(
    session: AsyncSession, campaign: Search, search_ids: Sequence[UUID], rules: AdvanceRules, *, refresh: bool = False
) -> int:
    """Give searches the rules and the money of the campaign, and continue those with work left; return how many queued.

    A search is queued if it was cancelled, failed or skipped, if its budget had ended and the campaign has money, or if
    it is to be refreshed.
    """
    budget = campaign.budget_cents
    values = {
        "searches": list(search_ids),
        "campaign": campaign.id,
        "rules": rules.model_dump_json(),
        "refresh": refresh,
        "has_money": budget is None or budget * 10_000 > campaign.spent_micros,
    }
    if refresh:
        await session.execute(_CLOSE_JOURNALS, values)
        await resume.queue_read_pages(session, search_ids)
    rows = (await session.execute(_CONTINUE, values)).all()
    changed = [row.id for row in rows if row.has_other_rules]
    stopped = [row.id for row in rows if row.was_stopped]
    await resume.take_over_rows(session, search_ids)
    await spending.wake_searches(session, search_ids)
    if changed or stopped:  # pages are picked per site, not by the conditions of withdrawn rows
        await resume.queue_more_pages(session, campaign.id, rules)
    if changed:
        await resume.queue_analyses(session, changed, rules)
    if stopped:
        await resume.queue_withdrawn_rows(session, stopped, rules)
    await snapshot.forget(session, [campaign.id, *search_ids])
    return sum(row.is_queued for row in rows)


async def limit_budget(session: AsyncSession, campaign: Search) -> None:
    """Lower the budget of the campaign to what is left of the tenant's month."""
    await session.flush()
    await session.execute(_LIMIT_BUDGET, {"campaign": campaign.id})
    await session.refresh(campaign)


async def counts(session: AsyncSession, campaign_id: UUID) -> CampaignCounts:
    """Count the searches of a campaign by their state."""
    row = (await session.execute(_COUNTS, {"campaign": campaign_id})).one()
    return CampaignCounts(**row._mapping)


async def place_counts(session: AsyncSession, campaign_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Count the places that each of these campaigns has found, each once."""
    rows = await session.execute(_PLACES, {"campaigns": list(campaign_ids)})
    return dict.fromkeys(campaign_ids, 0) | {row.search_id: row.places for row in rows}


async def searches_of(session: AsyncSession, campaign_id: UUID, limit: int) -> list[Mapping[str, Any]]:
    """Return the searches of a campaign in the order of the request, with what became of each."""
    rows = await session.execute(_SEARCHES, {"campaign": campaign_id, "limit": limit})
    return [dict(row._mapping) for row in rows]


_CLOSE_JOURNALS = text("""
DELETE FROM search_journal j USING search s WHERE s.id = j.search_id AND s.id = ANY (cast(:searches AS uuid[]))
    AND s.place_search_status = 'Completed'""")
_STOPPED_RULES = "former.rules ->> 'deep_scan' = 'off' AND former.cancelled_by IS NOT NULL"
_CONTINUE = text(f"""
WITH former AS (
    SELECT id, rules, cancelled_by, place_search_status NOT IN ('Queued', 'Processing') AND (
        cast(:refresh AS boolean) OR place_search_status IN ('New', 'Error', 'Skipped')
        OR (stopped_by_budget AND cast(:has_money AS boolean))) AS is_due
    FROM search WHERE id = ANY (cast(:searches AS uuid[])) ORDER BY id FOR NO KEY UPDATE
)
UPDATE search s SET rules = cast(:rules AS jsonb), campaign_id = :campaign, cancelled_by = NULL, updated_at = now(),
    place_search_status = CASE WHEN former.is_due THEN '{Status.QUEUED.value}' ELSE s.place_search_status END
FROM former WHERE s.id = former.id
RETURNING s.id, former.is_due AS is_queued, {_STOPPED_RULES} AS was_stopped,
    former.rules IS DISTINCT FROM cast(:rules AS jsonb) AND NOT ({_STOPPED_RULES}) AS has_other_rules""")  # noqa: S608
# A month without a quota limits nothing: least ignores NULL.
_LIMIT_BUDGET = text("""
UPDATE search s SET budget_cents = least(s.budget_cents, greatest(
    t.cents_per_month - spent_cents(t.id) - reserved_cents(t.id, s.id) + s.spent_cents, 0))
FROM tenant t WHERE t.id = s.tenant_id AND s.id = :campaign AND t.cents_per_month IS NOT NULL""")
_COUNTS = text("""
SELECT count(*)::integer AS searches,
    (count(*) FILTER (WHERE s.place_search_status = 'Queued'))::integer AS waiting,
    (count(*) FILTER (WHERE s.place_search_status = 'Processing'))::integer AS working,
    (count(*) FILTER (WHERE s.place_search_status = 'Completed'))::integer AS completed,
    (count(*) FILTER (WHERE s.place_search_status = 'Skipped'))::integer AS skipped,
    (count(*) FILTER (WHERE s.place_search_status = 'Error'))::integer AS failed,
    (count(*) FILTER (WHERE s.stopped_by_budget))::integer AS stopped_by_budget,
    (SELECT count(*)::integer FROM search_place WHERE search_id = :campaign) AS places,
    (SELECT count(DISTINCT coalesce(b.same_as_id, b.id))::integer FROM search_business f
        JOIN local_business b ON b.id = f.business_id WHERE f.search_id = :campaign) AS businesses
FROM campaign_search m JOIN search s ON s.id = m.search_id WHERE m.campaign_id = :campaign""")
_PLACES = text("""
SELECT search_id, count(*)::integer AS places FROM search_place
WHERE search_id = ANY (cast(:campaigns AS uuid[])) GROUP BY search_id""")
_SEARCHES = text("""
SELECT s.id, s.text, s.area, s.provider, s.result_limit, s.place_search_status, s.place_search_error, s.result_count,
    s.cost_cents, s.stopped_by_budget, s.notes
FROM campaign_search m JOIN search s ON s.id = m.search_id WHERE m.campaign_id = :campaign
ORDER BY m.position, s.id LIMIT :limit""")
