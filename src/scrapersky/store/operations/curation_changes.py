"""SQL about curations that can be undone: record the state of rows before a change, and restore it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, TextClause, Uuid, bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Curation
from scrapersky.models import CurationAction
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.paginate import UnknownRow
from scrapersky.store.listing.resources import CONTACTS, DELIVERIES, RESOURCES, Resource
from scrapersky.store.steps import LineStep

KEPT = text("interval '24 hours'")
CURATED = tuple(resource for resource in RESOURCES.values() if hasattr(resource.model, "curation_status"))
PARTS = ("status", "error", "due_at", "revert_to")  # columns of a queue that a curation changes


class AlreadyUndone(Conflict):
    """The action was undone already."""


@dataclass(frozen=True)
class CurationRecord:
    """The action in which rows are changed."""

    action_id: UUID
    actor: Actor
    decision: Curation
    resource: Resource


@dataclass(frozen=True)
class RestoredRows:
    """A chunk of rows: the last id, how many rows it had, how many were restored, and of how many work had begun."""

    last_id: UUID | None
    found: int
    restored: int
    processed: int


async def begin(session: AsyncSession, record: CurationRecord, rows: int) -> None:
    """Create the action, or add further rows of a job to it."""
    values = {"id": record.action_id, "tenant": record.actor.tenant_id, "resource": record.resource.name}
    decided = {"decision": record.decision.value, "actor": record.actor.name, "rows": rows}
    await session.execute(_BEGIN, {**values, **decided})


async def remember(
    session: AsyncSession, record: CurationRecord, changes: Mapping[str, Any], ids: Sequence[UUID]
) -> None:
    """Store the columns of these rows before the same changes are made to all of them."""
    after = {name: None if value is None else str(value) for name, value in changes.items()}
    rows = {"tenant": record.actor.tenant_id, "action": record.action_id, "resource": record.resource.name}
    await session.execute(_remember(record.resource, changes), {**rows, "after": json.dumps(after), "ids": list(ids)})


async def deliveries_of(session: AsyncSession, contact_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """Return the state of every delivery of these contacts."""
    rows = await session.execute(_DELIVERIES, {"ids": list(contact_ids)})
    return {row.id: row.state for row in rows}


async def remember_deliveries(
    session: AsyncSession,
    record: CurationRecord,
    before: Mapping[UUID, Mapping[str, Any]],
    after: Mapping[UUID, Mapping[str, Any]],
) -> None:
    """Store the deliveries that the curation of their contacts changed; a new one was New before."""
    changed = [delivery_id for delivery_id, state in after.items() if state != before.get(delivery_id)]
    if changed:
        new = {**dict.fromkeys(f"delivery_{part}" for part in PARTS), "delivery_status": "New", "delivery_attempts": 0}
        rows = {
            "ids": changed,
            "befores": [json.dumps(before.get(each, new)) for each in changed],
            "afters": [json.dumps(after[each]) for each in changed],
        }
        owner = {"tenant": record.actor.tenant_id, "action": record.action_id, "resource": DELIVERIES.name}
        await session.execute(_REMEMBER_DELIVERIES, {**owner, **rows})


async def lock(session: AsyncSession, tenant_id: UUID, action_id: UUID) -> CurationAction:
    """Return the action and lock it. Raises UnknownRow, or AlreadyUndone."""
    wanted = select(CurationAction).where(CurationAction.id == action_id, CurationAction.tenant_id == tenant_id)
    recent = wanted.where(CurationAction.created_at > func.now() - KEPT).with_for_update()
    action = await session.scalar(recent)
    if action is None:
        raise UnknownRow(f"There is no action {action_id} that can be undone: an action is kept for a day.")
    if action.undone_at is not None:
        raise AlreadyUndone(f"{action.undone_by} has undone this action.")
    return action


async def mark_undone(session: AsyncSession, actor: Actor, action_id: UUID) -> None:
    """Store who has undone the action."""
    undone = {"undone_at": func.now(), "undone_by": actor.name}
    await session.execute(update(CurationAction).where(CurationAction.id == action_id).values(**undone))


async def restore(
    session: AsyncSession, resource: Resource, action_id: UUID, after: UUID | None, limit: int
) -> RestoredRows:
    """Restore the next rows of the action about which nobody has decided since; their changes are forgotten.

    Work that the action has queued is taken back, and work that it has withdrawn is queued again. A step that has
    processed the row since keeps its result, and one that is processing it finishes.
    """
    chunk = {"action": action_id, "resource": resource.name}
    ids = list(await session.scalars(_NEXT, {**chunk, "after": after or UUID(int=0), "limit": limit}))
    lock_rows, restore_rows = _RESTORE[resource.name]
    await session.execute(lock_rows, {"ids": ids})  # one lock order for all requests prevents deadlocks
    restored = (await session.execute(restore_rows, {**chunk, "ids": ids})).one()
    return RestoredRows(ids[-1] if ids else None, len(ids), restored.rows, restored.processed)


async def recent(session: AsyncSession, tenant_id: UUID, limit: int) -> list[CurationAction]:
    """Return the actions of the last day, the latest first."""
    wanted = select(CurationAction).where(
        CurationAction.tenant_id == tenant_id, CurationAction.created_at > func.now() - KEPT
    )
    latest = wanted.order_by(CurationAction.created_at.desc(), CurationAction.id.desc())
    return list(await session.scalars(latest.limit(limit)))


def _columns(resource: Resource) -> list[str]:
    """Return the columns that a curation may change."""
    decision = ["curation_status"] if hasattr(resource.model, "curation_status") else []
    return decision + [f"{queue}_{part}" for queue in resource.queues for part in PARTS]


def _object(columns: Iterable[str]) -> str:
    pairs = ", ".join(f"'{name}', t.{name}" for name in columns)
    return f"jsonb_build_object({pairs})"


def _remember(resource: Resource, changes: Mapping[str, Any]) -> TextClause:
    """Build the statement; with a status all columns of its queue are stored, and the dead letter of the row."""
    queues = [queue for queue in resource.queues if any(f"{queue}_{part}" in changes for part in PARTS)]
    opened = [queue for queue in queues if f"{queue}_status" in changes]
    stored = {*changes, *(f"{queue}_{part}" for queue in opened for part in PARTS)}
    table, fences = resource.model.__tablename__, _object(f"{queue}_attempts" for queue in queues)
    letters = ", ".join(f"'{table}.{queue}'" for queue in opened)
    before = _object(sorted(stored))
    if opened:
        before += (
            " || jsonb_build_object('dead_letters', (SELECT jsonb_agg(to_jsonb(l)) FROM dead_letter l "  # noqa: S608
            f"WHERE l.row_id = t.id AND l.queue IN ({letters})))"
        )
    return text(f"""
INSERT INTO curation_change (tenant_id, action_id, resource, row_id, before, after)
SELECT :tenant, :action, :resource, t.id, {before}, cast(:after AS jsonb) || {fences}
FROM {table} t WHERE t.id = ANY (:ids)""").bindparams(_IDS)  # noqa: S608 - our own names


def _restore(resource: Resource) -> tuple[TextClause, TextClause]:
    """Build the statements that lock and restore rows."""
    table, steps = resource.model.__tablename__, resource.steps
    has_decision = hasattr(resource.model, "curation_status")
    judged = "".join(f", {_what_to_do(resource, step)} AS {step.queue}_do" for step in steps)
    values = [_restored("curation_status", "true")] if has_decision else []
    values += [value for step in steps for value in _restored_queue(step)]
    conditions = [f"{_object(['curation_status'])} @> {_only('h.after', ['curation_status'])}"] if has_decision else []
    conditions += _STILL.get(resource.name, ())
    shown_id = "t.id" if resource.shown_as is None else f"coalesce(t.{resource.shown_as.key}, t.id)"
    letters = " OR ".join(f"(l.queue = '{table}.{step.queue}' AND r.{step.queue}_do = 'restore')" for step in steps)
    processed = " OR ".join(f"{step.queue}_do IN ('finish', 'keep')" for step in steps)
    return (
        text(f"SELECT t.id FROM {table} t WHERE t.id = ANY (:ids) ORDER BY t.id FOR NO KEY UPDATE").bindparams(_IDS),  # noqa: S608
        text(f"""
WITH judged AS MATERIALIZED (
    SELECT t.id, h.before{judged} FROM curation_change h JOIN {table} t ON t.id = h.row_id AND t.tenant_id = h.tenant_id
    WHERE h.action_id = :action AND h.resource = :resource AND h.row_id = ANY (:ids)
        AND {" AND ".join([*conditions, "true"])}
        AND NOT EXISTS (SELECT FROM curation_change later WHERE later.tenant_id = h.tenant_id
            AND later.row_id = h.row_id AND later.id > h.id)
), restored AS (
    UPDATE {table} t SET {", ".join(values)}, updated_at = now() FROM judged j WHERE t.id = j.id
    RETURNING j.*, {shown_id} AS shown_id
), letters AS (
    INSERT INTO dead_letter (id, created_at, tenant_id, queue, row_id, attempts, error_type, message, failed_at)
    SELECT l.id, l.created_at, l.tenant_id, l.queue, l.row_id, l.attempts, l.error_type, l.message, l.failed_at
    FROM restored r, jsonb_populate_recordset(NULL::dead_letter, nullif(r.before -> 'dead_letters', 'null')) l
    WHERE {letters}
    ON CONFLICT DO NOTHING
), forgotten AS (
    DELETE FROM curation_change h USING restored r
    WHERE h.action_id = :action AND h.resource = :resource AND h.row_id = r.id
)
SELECT count(*) FILTER (WHERE id = shown_id) AS rows, count(DISTINCT shown_id) FILTER (WHERE {processed}) AS processed
FROM restored""").bindparams(_IDS),  # noqa: S608 - our own names
    )


def _what_to_do(resource: Resource, step: LineStep) -> str:
    """Build the expression for what an undo does with a queue of the row.

    `restore` it; let the step `finish` a row that the action has queued; `keep` what has happened since; nothing if the
    action has not changed it, or must not be undone.
    """
    queue, columns = step.queue, [*(f"{step.queue}_{part}" for part in PARTS), f"{step.queue}_attempts"]
    is_queued = f"h.after ->> '{queue}_status' = 'Queued'"
    return f"""CASE
        WHEN NOT jsonb_exists(h.after, '{queue}_attempts') OR {_MUST_NOT_QUEUE.get(resource.name, "false")} THEN NULL
        WHEN {is_queued} AND t.{queue}_status = 'Queued' AND NOT {step.has_completed("t")} THEN 'restore'
        WHEN {is_queued} AND t.{queue}_status = 'Processing' THEN 'finish'
        WHEN {_object(columns)} @> {_only("h.after", columns)}
            AND (jsonb_exists(h.after, '{queue}_status') OR t.{queue}_status = 'Processing') THEN 'restore'
        ELSE 'keep' END"""


def _restored_queue(step: LineStep) -> list[str]:
    """Build the assignments of the columns of a queue; a row in flight is finished, but not tried again."""
    queue, restores = step.queue, f"j.{step.queue}_do = 'restore'"
    finishes = f"WHEN j.{queue}_do = 'finish' THEN {step.status_when_withdrawn('t')}"
    return [
        _restored(f"{queue}_status", restores),
        _restored(f"{queue}_error", restores),
        _restored(f"{queue}_due_at", restores, kind="timestamptz"),
        _restored(f"{queue}_revert_to", restores, finishes),
    ]


def _restored(column: str, condition: str, otherwise: str = "", kind: str = "text") -> str:
    """Build the assignment of the value before the action, where it was stored and the condition is true."""
    stored = f"{condition} AND jsonb_exists(j.before, '{column}')"
    return f"{column} = CASE WHEN {stored} THEN cast(j.before ->> '{column}' AS {kind}) {otherwise} ELSE t.{column} END"


def _only(stored: str, columns: Sequence[str]) -> str:
    """Build the expression for a stored object with these keys alone."""
    keys = ", ".join(f"'{name}'" for name in columns)
    return f"(SELECT coalesce(jsonb_object_agg(key, value), '{{}}') FROM jsonb_each({stored}) WHERE key IN ({keys}))"  # noqa: S608


_IDS = bindparam("ids", type_=ARRAY(Uuid()))
_BEGIN = text("""
INSERT INTO curation_action AS a (id, tenant_id, resource, curation_status, actor, row_count)
VALUES (:id, :tenant, :resource, :decision, :actor, :rows)
ON CONFLICT (id) DO UPDATE SET row_count = a.row_count + excluded.row_count""")
_DELIVERIES = text(f"""
SELECT t.id, {_object([*_columns(DELIVERIES), "delivery_attempts"])} AS state
FROM delivery t WHERE t.contact_id = ANY (:ids)""").bindparams(_IDS)  # noqa: S608 - our own names
_REMEMBER_DELIVERIES = text("""
INSERT INTO curation_change (tenant_id, action_id, resource, row_id, before, after)
SELECT :tenant, :action, :resource, changed.id, cast(changed.before AS jsonb), cast(changed.after AS jsonb)
FROM unnest(cast(:ids AS uuid[]), cast(:befores AS text[]), cast(:afters AS text[])) AS changed(id, before, after)""")
_NEXT = text("""
SELECT row_id FROM curation_change WHERE action_id = :action AND resource = :resource AND row_id > :after
ORDER BY row_id LIMIT :limit""")
# Rows that must not be restored.
_STILL: Mapping[str, Sequence[str]] = {CONTACTS.name: ("t.merged_into_id IS NULL",)}
# Work for an address that was suppressed meanwhile is not queued again.
_MUST_NOT_QUEUE: Mapping[str, str] = {
    CONTACTS.name: "(t.suppressed_at IS NOT NULL AND h.before ->> 'contact_verification_status' = 'Queued')",
    DELIVERIES.name: "(h.before ->> 'delivery_status' = 'Queued' "
    "AND EXISTS (SELECT FROM contact c WHERE c.id = t.contact_id AND c.suppressed_at IS NOT NULL))",
}
_RESTORE = {resource.name: _restore(resource) for resource in (*CURATED, DELIVERIES)}
