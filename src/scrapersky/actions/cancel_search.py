"""Named queries that stop a search: its waiting work is taken back, and nothing goes on by itself."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Search
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.advance_rules import STOPPED
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.operations.revert_status import mark_in_hand, status_at_rest
from scrapersky.store.searches import resume
from scrapersky.store.searches.searches import PARTS


async def cancel(session: AsyncSession, actor: Actor, search_id: UUID) -> dict[str, int]:
    """How many waiting rows of each step were taken back.

    Rows in hand are finished, open nothing more, and are not tried again if they fail.
    """
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id, lock=True)
    before = search.rules
    search.rules = STOPPED.model_dump(mode="json")
    await session.flush()
    taken: dict[str, int] = {}
    in_hand = 0
    for (workflow, *_), statement in zip(PARTS, _TAKE_BACK, strict=True):  # a statement for each step of the line
        row = (await session.execute(statement, {"search": search_id})).one()
        taken[workflow], in_hand = row.taken, in_hand + row.in_hand
    if in_hand or any(taken.values()):
        search.cut_short = resume.as_cancelled(search.cut_short, actor.name)
    await audit.record(session, actor, "cancel", f"search {search_id}", {"rules": before}, {"taken_back": taken})
    return taken


def _take_back(table: str, queue: str, mine: str) -> str:
    waits = f"t.{queue}_status = 'Queued'"
    back, mark = status_at_rest(table, queue, "t"), mark_in_hand(table, queue, "t")
    return f"""
WITH stopped AS (
    UPDATE {table} t SET {queue}_status = CASE WHEN {waits} THEN {back} ELSE t.{queue}_status END,
        {queue}_error = CASE WHEN {waits} THEN NULL ELSE {mark} END,
        {queue}_due_at = CASE WHEN {waits} THEN NULL ELSE t.{queue}_due_at END, updated_at = now()
    WHERE {mine} AND t.{queue}_status IN ('Queued', 'Processing') RETURNING t.{queue}_status AS status
)
SELECT count(*) FILTER (WHERE status <> 'Processing') AS taken, count(*) FILTER (WHERE status = 'Processing') AS in_hand
FROM stopped"""  # noqa: S608 - our own names


# Only what this search goes on with: a search has no say in work that another one has taken over.
_OWN = {"search": "t.id = :search", **dict.fromkeys(("place", "local_business", "domain"), "t.search_id = :search")}
_OF_OWN_DOMAIN = "t.domain_id IN (SELECT id FROM domain WHERE search_id = :search)"
_OWN["contact"] = resume.OWN_CONTACTS
_TAKE_BACK = [text(_take_back(table, queue, _OWN.get(table, _OF_OWN_DOMAIN))) for _, table, queue, _ in PARTS]
