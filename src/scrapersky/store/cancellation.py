"""Named queries that stop a search: its waiting work is taken back, and nothing goes on by itself."""

from uuid import UUID

from sqlalchemy import CursorResult, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Search
from scrapersky.store import audit, lists
from scrapersky.store.audit import Actor
from scrapersky.store.nouns import SEARCHES
from scrapersky.store.rules import Rules
from scrapersky.store.searches import PARTS

STOPPED = Rules(
    deep_scan="off",
    domain_extraction="off",
    domain_metadata="off",
    sitemap_analysis="off",
    sitemap_import="off",
    page_curation="off",
    contact_verification="off",
)


async def cancel(session: AsyncSession, actor: Actor, search_id: UUID) -> dict[str, int]:
    """How many waiting rows of each step were taken back. Rows in hand are finished, and open nothing more."""
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id, lock=True)
    before = search.rules
    search.rules, search.cut_short = STOPPED.model_dump(mode="json"), f"cancelled by {actor.name}"
    await session.flush()
    taken: dict[str, int] = {}
    for (workflow, *_), statement in zip(PARTS, _TAKE_BACK, strict=True):  # a statement for each step of the line
        done = await session.execute(statement, {"search": search_id})
        taken[workflow] = done.rowcount if isinstance(done, CursorResult) else 0
    await audit.record(session, actor, "cancel", f"search {search_id}", {"rules": before}, {"taken_back": taken})
    return taken


def _take_back(table: str, queue: str, mine: str) -> str:
    return (
        f"UPDATE {table} t SET {queue}_status = 'New', {queue}_error = NULL, {queue}_due_at = NULL, "  # noqa: S608
        f"updated_at = now() WHERE {mine} AND t.{queue}_status = 'Queued'"
    )


# Only what this search goes on with: a search has no say in work that another one has taken over.
_OWN = {"search": "t.id = :search", **dict.fromkeys(("place", "local_business", "domain"), "t.search_id = :search")}
_OF_OWN_DOMAIN = "t.domain_id IN (SELECT id FROM domain WHERE search_id = :search)"
_TAKE_BACK = [text(_take_back(table, queue, _OWN.get(table, _OF_OWN_DOMAIN))) for _, table, queue, _ in PARTS]
