"""Named queries about jobs: long actions that outlive the request, go on after a restart, and can be cancelled."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.curation import Curated, curate
from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.engine.maintenance import Periodic
from scrapersky.models import Domain, Job, Page, SitemapFile
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.deliveries import DeliveryCounts
from scrapersky.store.line.steps import step_named
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters, matching_standing
from scrapersky.store.listing.resources import CONTACTS, JOBS, RESOURCES, Resource

OPEN = ("pending", "processing")
BITE = 1_000  # rows of one transaction
SECONDS = 5.0  # of one look after the open jobs; the next look goes on
SCAN, CURATION, DELIVERY = "sitemap_scan", "curation", "delivery"


class JobIsOver(Conflict):
    """The job has come to its end."""


async def start_curation(
    session: AsyncSession, noun: Resource, actor: Actor, filters: Filters, decision: Curation
) -> Job:
    """A decision about more rows than one request should change: done bite by bite, by whichever process is there."""
    wish = {"curation_status": decision.value}
    return await _start(session, CURATION, noun, actor, filters, wish, vars(Curated()))


async def start_delivery(session: AsyncSession, actor: Actor, filters: Filters, destination_id: UUID) -> Job:
    """Contacts for a destination, more than one request should queue."""
    wish = {"destination_id": str(destination_id)}
    return await _start(session, DELIVERY, CONTACTS, actor, filters, wish, vars(DeliveryCounts()))


async def _start(
    session: AsyncSession,
    kind: str,
    noun: Resource,
    actor: Actor,
    filters: Filters,
    wish: Mapping[str, str],
    nothing_yet: Mapping[str, int],
) -> Job:
    wanted = matching_standing(select(func.count()).select_from(noun.model), noun, actor.tenant_id, filters)
    job = Job(
        tenant_id=actor.tenant_id,
        kind=kind,
        parameters={
            "noun": noun.name,
            "filter": dict(filters),
            **wish,
            "matched": int(await session.scalar(wanted) or 0),
            "actor": {"name": actor.name, "role": actor.role, "origin": actor.origin},
            "cursor": None,
        },
        result=dict(nothing_yet),
        requested_by=actor.user_id,
    )
    session.add(job)
    await session.flush()
    await audit.record(session, actor, "start", f"job {job.id}", None, {"kind": kind, **_wish(job.parameters)})
    return job


async def advance(session: AsyncSession, job_id: UUID) -> bool:
    """Do the next bite of a job; true when nothing is left. Whoever holds the job's lock is at it already."""
    job = await session.scalar(
        select(Job).where(Job.id == job_id, Job.state.in_(OPEN)).with_for_update(skip_locked=True)
    )
    if job is None:
        return True
    asked = job.parameters
    noun, actor = RESOURCES[asked["noun"]], Actor(tenant_id=job.tenant_id, user_id=job.requested_by, **asked["actor"])
    wanted = matching_standing(select(noun.model.id), noun, job.tenant_id, asked["filter"])
    if asked["cursor"]:
        wanted = wanted.where(noun.model.id > UUID(asked["cursor"]))
    # What came after the request was not meant by it.
    wanted = wanted.where(noun.model.created_at <= job.created_at).order_by(noun.model.id).limit(BITE)
    ids = list(await session.scalars(wanted))
    try:
        done = await _bite(session, job, noun, actor, ids)
    except lists.UnknownRow as gone:  # the destination was removed meanwhile
        job.state, job.error, job.finished_at = "failed", str(gone), await session.scalar(select(func.now()))
        return True
    is_over = len(ids) < BITE
    job.parameters = {**asked, "cursor": str(ids[-1]) if ids else asked["cursor"]}
    job.result, job.state = vars(done), "completed" if is_over else "processing"
    job.progress = 1.0 if is_over else min(done.found / max(asked["matched"], 1), 1.0)
    job.finished_at = await session.scalar(select(func.now())) if is_over else None
    if is_over:
        await audit.record(session, actor, "finish", f"job {job.id}", None, {**_wish(asked), **vars(done)})
    return is_over


async def _bite(
    session: AsyncSession, job: Job, noun: Resource, actor: Actor, ids: Sequence[UUID]
) -> Curated | DeliveryCounts:
    """Do it to these rows; what was done so far, these included."""
    before, asked = job.result or {}, job.parameters
    if job.kind == DELIVERY:
        return DeliveryCounts(**before) + await deliveries.send(session, actor, UUID(asked["destination_id"]), ids)
    decision = Curation(asked["curation_status"])
    return Curated(**before) + await curate(session, noun, actor, ids, decision, is_told=False)


async def cancel(session: AsyncSession, actor: Actor, job_id: UUID) -> Job:
    """End a job before its time. What it has done stays done; a scan that nobody else waits for is taken back."""
    job: Job = await lists.get(session, JOBS, actor.tenant_id, job_id, lock=True)
    if job.state not in OPEN:
        raise JobIsOver(f"It is {job.state}.")
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


def _wish(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, as the audit keeps it: who asked stands there anyway."""
    return {name: value for name, value in parameters.items() if name not in ("actor", "cursor")}


async def scan_result(session: AsyncSession, domain_id: UUID) -> Mapping[str, Any]:
    """What a scan has found so far: the domain's own words, and counts."""
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


class RunJobs(Periodic):
    """Goes on with every open curation and delivery, whichever process began it."""

    name = "run_jobs"
    interval_minutes = 0.05

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, connection: asyncpg.Connection) -> str:
        """A bite of each in turn, for a few seconds; a process that dies loses one bite, which is done again."""
        rows = await connection.fetch(_OPEN, [CURATION, DELIVERY])
        left, until = [(row["id"], row["tenant_id"]) for row in rows], time.monotonic() + SECONDS
        while left and time.monotonic() < until:
            job_id, tenant_id = left.pop(0)
            async with self._database.session(tenant_id) as session:
                is_over = await advance(session, job_id)
            if not is_over:
                left.append((job_id, tenant_id))
        return f"{len(rows)} jobs looked after, {len(left)} to go on with"


_OPEN = "SELECT id, tenant_id FROM job WHERE kind = ANY($1) AND state IN ('pending', 'processing') ORDER BY created_at"
