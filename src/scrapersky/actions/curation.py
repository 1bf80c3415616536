"""Curate rows: store the decision of a person, and start or withdraw the work that follows from it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, literal_column, select, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.line import same_business
from scrapersky.store.listing.paginate import Filters, matching_unmerged
from scrapersky.store.listing.resources import CONTACTS, Resource
from scrapersky.store.operations import curation_changes
from scrapersky.store.operations.curation_changes import CurationRecord
from scrapersky.store.operations.queue_rows import IN_QUEUE, by_state, one_of

Changes = tuple[tuple[str, Any], ...]  # columns and their new values; rows with the same changes are updated together


@dataclass(frozen=True)
class CurationCounts:
    """Counts of a curation. A business of several records is decided about once, and each record has its own work."""

    updated: int = 0  # rows with a new decision
    queued: int = 0  # rows whose next step was queued; of a business its records
    withdrawn: int = 0  # rows whose waiting work was withdrawn; of a business its records
    found: int = 0  # of the ids that were given, those of existing rows

    def __add__(self, other: "CurationCounts") -> "CurationCounts":
        return CurationCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))


class DecidedMeanwhile(Conflict):
    """Somebody has decided otherwise since you saw these rows."""

    def __init__(self, rows: Mapping[UUID, tuple[Curation, Curation]]) -> None:
        """Take the decisions as they were seen and as they are, by row."""
        super().__init__("Look at both decisions, then decide again.")
        self.rows = rows
        self.members = {"rows": [{"id": str(row), "seen": seen, "now": now} for row, (seen, now) in rows.items()]}


async def curate(
    session: AsyncSession,
    resource: Resource,
    actor: Actor,
    ids: Sequence[UUID],
    decision: Curation,
    *,
    filters: Filters | None = None,
    is_audited: bool = True,
    action_id: UUID | None = None,
    seen: Mapping[UUID, Curation] | None = None,
) -> CurationCounts:
    """Store the decision. Selected queues the next step of each row, any other decision withdraws waiting work.

    A decision about a business holds for all its records; the id may be that of any of them.
    A row in flight is finished, but not retried if it fails. The audit records the filter that selected the ids; a job
    records the whole at its end instead. With an id of the action, the changes can be undone for a day. Raises
    DecidedMeanwhile if the decision about a row is neither the one that was seen nor this one.
    """
    rows = await _lock(session, resource, actor.tenant_id, ids)
    _refuse_unseen(rows, decision, seen or {})
    together = _together(resource, rows, decision)
    changed = {row_id for chosen in together.values() for row_id in chosen}
    decided = {row.shown_id for row in rows if row.id in changed}
    record = CurationRecord(action_id, actor, decision, resource) if action_id else None
    if record and changed:
        await curation_changes.begin(session, record, len(decided))
    for changes, chosen in together.items():
        if record:
            await curation_changes.remember(session, record, dict(changes), chosen)
        await session.execute(
            update(resource.model)
            .where(one_of(resource.model.id, chosen))
            .values({**dict(changes), "updated_at": func.now()})
        )
    if is_audited:
        before = by_state({row.id: Curation(row.curation_status) for row in rows if row.id in changed})
        after: dict[str, Any] = {"curation_status": decision.value, "rows": len(decided)}
        after |= {} if filters is None else {"filter": dict(filters)}
        after |= {"action_id": str(action_id)} if record and changed else {}
        await audit.record(session, actor, "curate", resource.name, before, after)
    if resource is CONTACTS:
        await _update_deliveries(session, [row.id for row in rows], decision, record if changed else None)
    return CurationCounts(
        len({row.shown_id for row in rows if row.curation_status != decision}),
        _count(together, Status.QUEUED),
        _count(together, Status.NEW, Status.COMPLETED),
        len({row.id for row in rows} & set(ids)),
    )


def _together(resource: Resource, rows: Sequence[Row[Any]], decision: Curation) -> dict[Changes, list[UUID]]:
    """Return the rows by their changes; unchanged rows are left out, so that they keep their updated_at.

    A shown row changes with its other records, so that an undo counts the business.
    """
    changes = {row.id: _changes(resource, row, decision) for row in rows}
    changed = {row.shown_id for row in rows if changes[row.id]}
    together: dict[Changes, list[UUID]] = defaultdict(list)
    for row in rows:
        if changes[row.id] or row.id in changed:
            together[changes[row.id] or (("curation_status", decision),)].append(row.id)
    return together


def _refuse_unseen(rows: Sequence[Row[Any]], decision: Curation, seen: Mapping[UUID, Curation]) -> None:
    differing = {
        row.id: (seen[row.id], Curation(row.curation_status))
        for row in rows
        if row.id in seen and row.curation_status not in (seen[row.id], decision)
    }
    if differing:
        raise DecidedMeanwhile(differing)


async def _update_deliveries(
    session: AsyncSession, contact_ids: Sequence[UUID], decision: Curation, record: CurationRecord | None
) -> None:
    """Queue selected contacts for the destinations whose rules match; withdraw the waiting deliveries of others."""
    before = await curation_changes.deliveries_of(session, contact_ids) if record else {}
    if decision is Curation.SELECTED:
        await deliveries.queue_by_rule(session, contact_ids)
    else:
        await deliveries.withdraw(session, contact_ids)
    if record:
        after = await curation_changes.deliveries_of(session, contact_ids)
        await curation_changes.remember_deliveries(session, record, before, after)


async def ids_of(
    session: AsyncSession, resource: Resource, tenant_id: UUID, filters: Filters, limit: int
) -> list[UUID]:
    """Return the ids of matching rows, up to the limit."""
    matching = matching_unmerged(select(resource.model.id), resource, tenant_id, filters)
    return list(await session.scalars(matching.limit(limit)))


async def _lock(session: AsyncSession, resource: Resource, tenant_id: UUID, ids: Sequence[UUID]) -> Sequence[Row[Any]]:
    """Lock the rows and return their state; one lock order for all requests prevents deadlocks.

    Of a business all records are locked, and no worker adds one to it until the decision is stored.
    """
    model, shown_id, unmerged = resource.model, resource.model.id, resource.unmerged
    if resource.shown_as is not None:
        await same_business.lock(session, tenant_id)
        shown_id, unmerged = func.coalesce(resource.shown_as, model.id), ()
        shown = select(shown_id.label("id")).where(one_of(model.id, ids), model.tenant_id == tenant_id).cte("shown")
        ids = list(
            await session.scalars(
                union(select(shown.c.id), select(model.id).join(shown, resource.shown_as == shown.c.id))
            )
        )
    states = [getattr(model, f"{queue}_{part}") for queue in resource.queues for part in ("status", "revert_to")]
    completed: list[Any] = [
        literal_column(condition).label(f"{step.queue}_{name}")
        for step in resource.steps
        for name, condition in (
            ("has_completed", step.has_completed(step.table)),
            ("is_needed", step.needed.format(row=step.table)),
        )
    ]
    rows = await session.execute(
        select(model.id, shown_id.label("shown_id"), model.curation_status, *states, *completed)
        .where(one_of(model.id, ids), model.tenant_id == tenant_id, *unmerged)
        .order_by(model.id)
        .with_for_update(key_share=True)
    )
    return rows.all()


def _changes(resource: Resource, row: Row[Any], decision: Curation) -> Changes:
    decided: Changes = (("curation_status", decision),) if row.curation_status != decision else ()
    if decision is Curation.SELECTED:
        return decided + _open(resource, row)
    return decided + tuple(change for queue in resource.queues for change in _withdraw(queue, row))


def _open(resource: Resource, row: Row[Any]) -> Changes:
    """Queue the first step that the row needs and has not completed; a row that is in that queue stays there."""
    for queue in resource.queues:
        status = getattr(row, f"{queue}_status")
        if status != Status.COMPLETED and (status in IN_QUEUE or getattr(row, f"{queue}_is_needed")):
            return _keep_in_flight(queue, row) if status in IN_QUEUE else ((f"{queue}_status", Status.QUEUED),)
    return ()


def _keep_in_flight(queue: str, row: Row[Any]) -> Changes:
    """Cancel the withdrawal of a row in flight."""
    return ((f"{queue}_revert_to", None),) if getattr(row, f"{queue}_revert_to") is not None else ()


def _withdraw(queue: str, row: Row[Any]) -> Changes:
    """Set the row back to the status before it was queued: Completed or New."""
    status = getattr(row, f"{queue}_status")
    back = Status.COMPLETED if getattr(row, f"{queue}_has_completed") else Status.NEW
    if status == Status.PROCESSING:
        return ((f"{queue}_revert_to", back),) if getattr(row, f"{queue}_revert_to") != back else ()
    if status == Status.QUEUED:
        return ((f"{queue}_status", back), (f"{queue}_error", None), (f"{queue}_due_at", None))
    return ()


def _count(together: dict[Changes, list[UUID]], *statuses: Status) -> int:
    return sum(
        len(chosen)
        for changes, chosen in together.items()
        if any(
            column.endswith("_status") and column != "curation_status" and value in statuses
            for column, value in changes
        )
    )
