"""Jobs: long actions somebody asked for. Watch them, cancel them; start one that scans a web site."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, BeforeValidator, Field
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import jobs, scan_site
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.api.schemas.listing import PREFIX, ByUpdate, Listing, ListQuery, RowId, Summary, list_page
from scrapersky.models import Job
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import JOBS

router = APIRouter(prefix="/jobs", tags=["jobs"], responses=problems(422, 503))
scan_router = APIRouter(prefix="/sitemap", tags=["jobs"], responses=problems(422, 503))

JobKind = Literal["sitemap_scan", "curation", "delivery"]
JobState = Literal["pending", "processing", "completed", "failed", "cancelled"]


def _number(given: object) -> object:
    if type(given) not in (int, float):
        raise ValueError("must be a number, not text and not true or false")
    return given


class JobSummary(Summary):
    """A job as it stands."""

    kind: str = Field(description="`sitemap_scan`, `curation` or `delivery`")
    state: str = Field(description="pending, processing, completed, failed or cancelled")
    progress: float = Field(description="0 to 1")
    parameters: dict[str, Any] = Field(description="what was asked for")
    result: dict[str, Any] | None = Field(description="what came of it so far")
    error: str | None
    subject_id: UUID | None = Field(description="the row it is about")
    finished_at: datetime | None


class JobQuery(ListQuery):
    """Which jobs, in which order."""

    sort: ByUpdate = "-updated_at"
    kind: JobKind | None = Field(None, description="only of this kind")
    state: JobState | None = Field(None, description="only in this state")


class ScanRequest(RequestModel):
    """A web site whose sitemaps are to be found."""

    base_url: Text = Field(description="an address of the site; its registrable domain is scanned")
    max_pages: Annotated[int, BeforeValidator(_number)] = Field(
        1000, ge=1, le=1000, description="how many of its pages may be read for contacts"
    )


class ScanStarted(BaseModel):
    """The job that was made for it."""

    job_id: UUID
    status_url: str
    created_at: datetime


@router.get("", summary="Jobs, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_jobs(
    query: Annotated[JobQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[JobSummary]:
    """Your own, filtered by kind and state."""
    return await list_page(application, actor, JOBS, JobSummary, query)


@router.get("/{id}", summary="One job", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_job(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """With what it has found so far."""
    return await _job(application, actor, row_id)


@router.post(
    "/{id}/cancel", summary="End a job before its time", responses=problems(404, 409), openapi_extra=requires(CURATOR)
)
async def cancel_job(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """What it has done stays done; work that waits for nobody else is taken back. 409 if it is over."""
    async with application.database.session(actor.tenant_id) as session:
        return await _line(session, await jobs.cancel(session, actor, row_id))


@scan_router.post(
    "/scan",
    status_code=202,
    summary="Find the sitemaps of a web site",
    responses=problems(400),
    openapi_extra=requires(CURATOR),
)
async def scan_sitemap(
    body: ScanRequest, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ScanStarted:
    """Finds or makes the domain and queues its analysis. Addresses that are no company's own site are refused."""
    async with application.database.session(actor.tenant_id) as session:
        job = await scan_site.start(session, actor, body.base_url, body.max_pages)
    status_url = f"{PREFIX}/sitemap/status/{job.id}"
    response.headers["Location"] = status_url
    return ScanStarted(job_id=job.id, status_url=status_url, created_at=job.created_at)


@scan_router.get("/status/{id}", summary="How a scan stands", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_scan_status(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """The same as the job."""
    return await _job(application, actor, row_id)


async def _job(application: WebApplication, actor: Actor, row_id: UUID) -> JobSummary:
    async with application.database.session(actor.tenant_id) as session:
        return await _line(session, await lists.get(session, JOBS, actor.tenant_id, row_id))


async def _line(session: AsyncSession, job: Job) -> JobSummary:
    await session.flush()
    await session.refresh(job)
    line = JobSummary.model_validate(job)
    if job.kind == jobs.SCAN and job.subject_id is not None:
        return line.model_copy(update={"result": dict(await jobs.scan_result(session, job.subject_id))})
    return line
