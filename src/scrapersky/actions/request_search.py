"""A search on somebody's behalf: asked for within the quotas, and written down in the audit."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Search
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches import searches
from scrapersky.store.searches.searches import SearchRequest

KEPT = ("text", "area", "provider", "result_limit", "budget_cents", "rules", "place_search_status")


async def order(
    session: AsyncSession,
    actor: Actor,
    asked: SearchRequest,
    refresh: bool = False,
    *,
    estimate_cents: int | None = None,
    is_done: bool = False,
) -> tuple[Search, bool]:
    """The search for this wish, and whether it was there before; QuotaReached if it does not fit."""
    former = await searches.same(session, actor.tenant_id, asked)
    before = _kept(former) if former else None
    search, known = await searches.ask(
        session, actor.tenant_id, asked, refresh, estimate_cents=estimate_cents, is_done=is_done
    )
    search.requested_by = search.requested_by or actor.user_id
    await session.flush()
    await session.refresh(search)  # the database may have given it a smaller budget
    await audit.record(session, actor, "ask again" if known else "create", f"search {search.id}", before, _kept(search))
    return search, known


def _kept(search: Search) -> dict[str, Any]:
    return {column: getattr(search, column) for column in KEPT}
