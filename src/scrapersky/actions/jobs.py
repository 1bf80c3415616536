"""Jobs: long changes of many rows, in chunks after the request, continued after a restart."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import undo_curation
from scrapersky.actions.curation import CurationCounts, curate
from scrapersky.actions.undo_curation import UndoCounts
from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.engine.pipeline import Pipeline
from scrapersky.models import CurationAction, Domain, Job, Page, SitemapFile
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.deliveries import DeliveryCounts
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import CONTACTS, JOBS, RESOURCES, Resource
from scrapersky.store.listing.shown import Shown, matching_shown
from scrapersky.store.operations import dead_letters
from scrapersky.store.operations.dead_letters import Action, DeadLetterQuery
from scrapersky.store.steps import step_named

OPEN = ("pending", "processing")
ROWS_PER_TRANSACTION = 1_000
MAX_RUN_SECONDS = 5.0  # the next run continues
SCAN, CURATION, DELIVERY, UNDO = "sitemap_scan", "curation", "delivery", "undo"
LETTERS: tuple[Action, ...] = ("retry", "drop")  # what can be done with dead letters


class JobIsOver(Conflict):
    """The job has ended already."""


@dataclass(frozen=True)
class LetterCounts:
    """Counts of dead letters: those that were looked at, and those that were retried or dropped."""

    found: int = 0
    done: int = 0


async def start_curation(
    session: AsyncSession, resource: Resource, actor: Actor, filters: Filters, shown: Shown, decision: Curation
) -> Job:
    """Start a job that curates more rows than one request should change; its id is that of the action to undo."""
    request = {"curation_status": decision.value}
    return await _start_matching(session, CURATION, resource, actor, filters, shown, request, vars(CurationCounts()))


async def start_delivery(
    session: AsyncSession, actor: Actor, filters: Filters, shown: Shown, destination_id: UUID
) -> Job:
    """Start a job that queues more contacts for a destination than one request should."""
    request = {"destination_id": str(destination_id)}
    return await _start_matching(session, DELIVERY, CONTACTS, actor, filters, shown, request, vars(DeliveryCounts()))


async def start_undo(session: AsyncSession, actor: Actor, action: CurationAction) -> Job:
    """Start a job that undoes a curation of more rows than one request should restore."""
    request = {"resource": action.resource, "action_id": str(action.id), "matched": action.row_count}
    return await _start(session, UNDO, actor, request, vars(UndoCounts()))


async def start_letters(
    session: AsyncSession, actor: Actor, action: Action, selection: DeadLetterQuery, matched: int
) -> Job:
    """Start a job that retries or drops more dead letters than one request should."""
    names = ("queue", "error_type", "text", "reason")
    request = {
        "resource": "dead-letters",
        "filter": {name: value for name in names if (value := getattr(selection, name)) is not None},
        "as_of": selection.failed_until.isoformat() if selection.failed_until else None,
        "except": [str(letter_id) for letter_id in selection.excluded],
        "matched": matched,
    }
    return await _start(session, action, actor, request, vars(LetterCounts()))


async def _start_matching(
    session: AsyncSession,
    kind: str,
    resource: Resource,
    actor: Actor,
    filters: Filters,
    shown: Shown,
    request: Mapping[str, str],
    nothing_yet: Mapping[str, int],
) -> Job:
    """Start a job for the rows that match and were shown. Raises CountChanged."""
    rows = select(func.count()).select_from(resource.model)
    matched = int(await session.scalar(matching_shown(rows, resource, actor.tenant_id, filters, shown)) or 0)
    shown.check(matched)
    bounds = {
        "as_of": shown.as_of.isoformat() if shown.as_of else None,
        "expected": shown.expected,
        "except": [str(row_id) for row_id in shown.excluded],
    }
    given = {name: value for name, value in bounds.items() if value not in (None, [])}
    chosen = {"resource": resource.name, "filter": dict(filters), **given, "matched": matched}
    return await _start(session, kind, actor, {**chosen, **request}, nothing_yet)


async def _start(
    session: AsyncSession, kind: str, actor: Actor, request: Mapping[str, Any], nothing_yet: Mapping[str, int]
) -> Job:
    job = Job(
        tenant_id=actor.tenant_id,
        kind=kind,
        parameters={
            **request,
            "actor": {"name": actor.name, "role": actor.role, "origin": actor.origin},
            "cursor": None,
        },
        result=dict(nothing_yet),
        requested_by=actor.user_id,
    )
    session.add(job)
    await session.flush()
    await audit.record(session, actor, "start", f"job {job.id}", None, {"kind": kind, **_audited(job.parameters)})
    return job


async def advance(session: AsyncSession, job_id: UUID, pipeline: Pipeline) -> bool:
    """Process the next chunk of a job; return whether the job needs no further call.

    A job that another process has locked is left to that process.
    """
    job = await session.scalar(
        select(Job).where(Job.id == job_id, Job.state.in_(OPEN)).with_for_update(skip_locked=True)
    )
    if job is None:
        return True
    parameters = job.parameters
    actor = Actor(tenant_id=job.tenant_id, user_id=job.requested_by, **parameters["actor"])
    try:
        if job.kind in LETTERS:
            chunk = await _move_letters(session, job, actor, pipeline)
        else:
            chunk = await (_undo if job.kind == UNDO else _process)(session, job, actor)
    except lists.UnknownRow as gone:  # the destination was removed meanwhile
        job.state, job.error, job.finished_at = "failed", str(gone), await session.scalar(select(func.now()))
        return True
    job.parameters = {**parameters, "cursor": chunk.cursor}
    job.result, job.state = vars(chunk.done), "completed" if chunk.is_last else "processing"
    job.progress = 1.0 if chunk.is_last else min(chunk.done.found / max(parameters["matched"], 1), 1.0)
    job.finished_at = await session.scalar(select(func.now())) if chunk.is_last else None
    if chunk.is_last:
        await audit.record(
            session, actor, "finish", f"job {job.id}", None, {**_audited(parameters), **vars(chunk.done)}
        )
    return chunk.is_last


@dataclass(frozen=True)
class _Chunk:
    """The counts of a job after a chunk, and its position."""

    done: CurationCounts | DeliveryCounts | UndoCounts | LetterCounts
    cursor: str | None
    is_last: bool


async def _process(session: AsyncSession, job: Job, actor: Actor) -> _Chunk:
    """Process the next matching rows: curate or deliver them, never more in all than were shown."""
    before, parameters = job.result or {}, job.parameters
    resource = RESOURCES[parameters["resource"]]
    left = parameters.get("expected", parameters["matched"]) - before.get("found", 0)
    size = max(min(ROWS_PER_TRANSACTION, left), 0)
    ids = await _next_ids(session, job, resource, size)
    done: CurationCounts | DeliveryCounts
    if job.kind == DELIVERY:
        destination = UUID(parameters["destination_id"])
        done = DeliveryCounts(**before) + await deliveries.send(session, actor, destination, ids)
    else:
        decision = Curation(parameters["curation_status"])
        curated = await curate(session, resource, actor, ids, decision, is_audited=False, action_id=job.id)
        done = CurationCounts(**before) + curated
    is_last = len(ids) < ROWS_PER_TRANSACTION
    return _Chunk(done, str(ids[-1]) if ids else parameters["cursor"], is_last)


async def _next_ids(session: AsyncSession, job: Job, resource: Resource, size: int) -> list[UUID]:
    parameters, model = job.parameters, resource.model
    as_of = datetime.fromisoformat(parameters["as_of"]) if parameters.get("as_of") else None
    shown = Shown(as_of, excluded=tuple(UUID(row_id) for row_id in parameters.get("except", ())))
    wanted = matching_shown(select(model.id), resource, job.tenant_id, parameters["filter"], shown)
    if parameters["cursor"]:
        wanted = wanted.where(model.id > UUID(parameters["cursor"]))
    # Rows that are newer than the request are not part of it.
    wanted = wanted.where(model.created_at <= job.created_at)
    return list(await session.scalars(wanted.order_by(model.id).limit(size)))


async def _undo(session: AsyncSession, job: Job, actor: Actor) -> _Chunk:
    """Restore the next rows of a curation."""
    action_id, cursor = UUID(job.parameters["action_id"]), job.parameters["cursor"]
    after = UUID(cursor) if cursor else None
    chunk = await undo_curation.restore_chunk(
        session, action_id, job.parameters["resource"], after, ROWS_PER_TRANSACTION
    )
    done = UndoCounts(**(job.result or {})) + chunk.counts
    return _Chunk(done, str(chunk.last_id or cursor), chunk.is_last)


async def _move_letters(session: AsyncSession, job: Job, actor: Actor, pipeline: Pipeline) -> _Chunk:
    """Retry or drop the next dead letters, never more in all than were counted; later failures stay."""
    before, parameters = LetterCounts(**(job.result or {})), job.parameters
    as_of = datetime.fromisoformat(parameters["as_of"]) if parameters["as_of"] else job.created_at
    selection = DeadLetterQuery(
        **parameters["filter"], failed_until=as_of, excluded=tuple(UUID(each) for each in parameters["except"])
    )
    failed_at, _, letter_id = (parameters["cursor"] or "").partition(" ")
    after = (datetime.fromisoformat(failed_at), UUID(letter_id)) if letter_id else None
    size = min(ROWS_PER_TRANSACTION, max(parameters["matched"] - before.found, 0))
    found = await dead_letters.next_letters(session, job.tenant_id, selection, after, size)
    action: Action = "retry" if job.kind == "retry" else "drop"
    moved = await dead_letters.move(session, pipeline, actor, [each for _, each in found], action)
    done = LetterCounts(before.found + len(found), before.done + len(moved.done))
    cursor = f"{found[-1][0].isoformat()} {found[-1][1]}" if found else parameters["cursor"]
    return _Chunk(done, cursor, len(found) < ROWS_PER_TRANSACTION)


async def cancel(session: AsyncSession, actor: Actor, job_id: UUID) -> Job:
    """Cancel a job; what it has done stays. A scan that no other job waits for is withdrawn. Raises JobIsOver."""
    job: Job = await lists.get(session, JOBS, actor.tenant_id, job_id, lock=True)
    if job.state not in OPEN:
        raise JobIsOver(f"The job is {job.state}: only an open job can be cancelled.")
    before = {"state": job.state, "progress": job.progress}
    await audit.record(session, actor, "cancel", f"job {job.id}", before, {"state": "cancelled", "done": job.result})
    now = await session.scalar(select(func.now()))
    job.state, job.cancel_requested_at, job.finished_at = "cancelled", now, now
    await session.flush()
    if job.kind == SCAN:
        others = select(Job.id).where(Job.subject_id == job.subject_id, Job.kind == SCAN, Job.state.in_(OPEN)).exists()
        await session.execute(
            update(Domain)
            .where(Domain.id == job.subject_id, Domain.sitemap_analysis_status == Status.QUEUED, ~others)
            .values(
                sitemap_analysis_status=literal_column(step_named("sitemap_analysis").status_when_withdrawn("domain")),
                sitemap_analysis_due_at=None,
                updated_at=func.now(),
            )
        )
    return job


def _audited(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the audit records."""
    return {name: value for name, value in parameters.items() if name not in ("actor", "cursor")}


async def scan_result(session: AsyncSession, domain_id: UUID) -> Mapping[str, Any]:
    """Return what a scan has found so far: the outcome of the analysis, and counts."""
    sitemaps = select(func.count()).where(SitemapFile.domain_id == domain_id).scalar_subquery()
    pages = select(func.count()).where(Page.domain_id == domain_id).scalar_subquery()
    row = (
        await session.execute(
            select(
                Domain.id.label("domain_id"),
                Domain.name.label("domain"),
                Domain.sitemap_result.label("outcome"),
                Domain.sitemap_reason.label("reason"),
                sitemaps.label("sitemaps"),
                pages.label("pages"),
            ).where(Domain.id == domain_id)
        )
    ).first()
    return {**row._mapping, "domain_id": str(row.domain_id)} if row else {}


class RunJobs(MaintenanceTask):
    """Continues every open job but scans, also those that another process started."""

    name = "run_jobs"
    interval_minutes = 0.05

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def run_on(self, database: Database) -> str:
        """Process a chunk of each open job in turn, for a few seconds. If the process dies, one chunk is done again."""
        async with database.engine_connection() as connection:
            rows = await connection.fetch(_OPEN, [CURATION, DELIVERY, UNDO, *LETTERS])
        left, until = [(row["id"], row["tenant_id"]) for row in rows], time.monotonic() + MAX_RUN_SECONDS
        while left and time.monotonic() < until:
            job_id, tenant_id = left.pop(0)
            async with database.session(tenant_id) as session:
                is_over = await advance(session, job_id, self._pipeline)
            if not is_over:
                left.append((job_id, tenant_id))
        return f"{len(rows)} open jobs, {len(left)} of them unfinished"


_OPEN = "SELECT id, tenant_id FROM job WHERE kind = ANY($1) AND state IN ('pending', 'processing') ORDER BY created_at"
