"""Cancel a search: withdraw its waiting work and stop every further step."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.vocabularies import CAMPAIGN
from scrapersky.models import Search
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.searches import campaigns, schedules, snapshot
from scrapersky.store.steps import ROWS_OF_SEARCH, STEPS, STOPPED, LineStep


async def cancel(session: AsyncSession, actor: Actor, search_id: UUID) -> dict[str, int]:
    """Cancel the search, or all searches of a campaign; return how many waiting rows of each step were withdrawn.

    Rows in flight are finished, open no further step, and are not retried if they fail. A complete search is cancelled
    if it has a schedule: its runs are skipped.
    """
    search: Search = await lists.get(session, SEARCHES, actor.tenant_id, search_id, lock=True)
    before = search.rules
    stopped = [search_id] if search.provider != CAMPAIGN else await campaigns.paid_by(session, search_id)
    await session.execute(_STOP, {"searches": stopped, "rules": STOPPED.model_dump_json()})
    withdrawn: dict[str, int] = {}
    in_flight = 0
    for step, statement in _WITHDRAW:
        row = (await session.execute(statement, {"searches": stopped})).one()
        withdrawn[step.workflow], in_flight = row.withdrawn, in_flight + row.in_flight
    if in_flight or any(withdrawn.values()) or await schedules.of_search(session, search_id):
        ended = {"searches": [search_id, *stopped], "name": actor.name}
        await session.execute(_CANCELLED, ended)
    await session.refresh(search)
    await snapshot.forget(session, [search_id, *stopped])
    await audit.record(session, actor, "cancel", f"search {search_id}", {"rules": before}, {"withdrawn": withdrawn})
    return withdrawn


def _withdraw(step: LineStep) -> str:
    queue, waits = step.queue, f"t.{step.queue}_status = 'Queued'"
    revert_to = step.status_when_withdrawn("t")
    return f"""
WITH stopped AS (
    UPDATE {step.table} t SET {queue}_status = CASE WHEN {waits} THEN {revert_to} ELSE t.{queue}_status END,
        {queue}_revert_to = CASE WHEN {waits} THEN NULL ELSE {revert_to} END,
        {queue}_error = CASE WHEN {waits} THEN NULL ELSE t.{queue}_error END,
        {queue}_due_at = CASE WHEN {waits} THEN NULL ELSE t.{queue}_due_at END, updated_at = now()
    WHERE {ROWS_OF_SEARCH[step.table].owned.format(row="t")} AND t.{queue}_status IN ('Queued', 'Processing')
    RETURNING t.{queue}_status AS status
)
SELECT count(*) FILTER (WHERE status <> 'Processing') AS withdrawn,
    count(*) FILTER (WHERE status = 'Processing') AS in_flight
FROM stopped"""  # noqa: S608 - our own names


_STOP = text("UPDATE search SET rules = cast(:rules AS jsonb) WHERE id = ANY (cast(:searches AS uuid[]))")
_CANCELLED = text("UPDATE search SET cancelled_by = :name WHERE id = ANY (cast(:searches AS uuid[]))")
_WITHDRAW = [(step, text(_withdraw(step))) for step in STEPS]
