"""Jobs: long-running actions. List and cancel them; start one that scans a website."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import jobs, scan_site
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.resources.routes import ApiResource, add_list_route, empty_router
from scrapersky.api.schemas.fields import PREFIX, Number, RequestModel, RowId
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.core.text_rules import Text
from scrapersky.models import Job
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate
from scrapersky.store.listing.columns import ROW_ID
from scrapersky.store.listing.resources import JOBS


class ScanRequest(RequestModel):
    """A website to scan for sitemaps."""

    base_url: Text = Field(
        description="a URL of the website; its registrable domain is scanned",
        examples=["https://kallio-dental.example"],
    )
    max_pages: Annotated[int, Number] = Field(
        1000, ge=1, le=1000, description="the maximum number of pages to process for contacts"
    )


class ScanStarted(BaseModel):
    """The job that scans the website."""

    job_id: UUID = Field(description="the job that follows the scan")
    status_url: str = Field(
        description="the path that shows its progress",
        examples=[f"{PREFIX}/sitemap/status/{ROW_ID}"],
    )
    created_at: datetime = Field(description="when the scan was requested")


API = ApiResource(JOBS, "job", JobSummary, JobSummary)
router = empty_router(API)
add_list_route(router, API)
scan_router = APIRouter(prefix="/sitemap", tags=["jobs"])


@router.get("/{id}", summary="One job", **requires(VIEWER, 404))
async def get_job(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """Return the job with its result so far."""
    return await _job(application, actor, row_id)


@router.post("/{id}/cancel", summary="Cancel a job", **requires(CURATOR, 404, 409))
async def cancel_job(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """Cancel a job. Its changes stay; queued work that nothing else needs is withdrawn. 409 if the job has ended."""
    async with application.database.session(actor.tenant_id) as session:
        return await _summary(session, await jobs.cancel(session, actor, row_id))


@scan_router.post("/scan", status_code=202, summary="Scan a website for sitemaps", **requires(CURATOR, 400))
async def scan_sitemap(
    body: ScanRequest, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ScanStarted:
    """Find or create the domain and queue its sitemap analysis. Refuses URLs that are no company's own website."""
    async with application.database.session(actor.tenant_id) as session:
        job = await scan_site.start(session, actor, body.base_url, body.max_pages)
    status_url = f"{PREFIX}/sitemap/status/{job.id}"
    response.headers["Location"] = status_url
    return ScanStarted(job_id=job.id, status_url=status_url, created_at=job.created_at)


@scan_router.get("/status/{id}", summary="The progress of a scan", **requires(VIEWER, 404))
async def get_scan_status(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> JobSummary:
    """Return the job of the scan."""
    return await _job(application, actor, row_id)


async def _job(application: WebApplication, actor: Actor, row_id: UUID) -> JobSummary:
    async with application.database.session(actor.tenant_id) as session:
        return await _summary(session, await paginate.get(session, JOBS, actor.tenant_id, row_id))


async def _summary(session: AsyncSession, job: Job) -> JobSummary:
    await session.flush()
    await session.refresh(job)
    summary = JobSummary.model_validate(job)
    if job.kind == jobs.SCAN and job.subject_id is not None:
        return summary.model_copy(update={"result": dict(await jobs.scan_result(session, job.subject_id))})
    return summary
