"""Scan a web site: queue the sitemap analysis of its domain, and create a job that shows the progress."""

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions import jobs
from scrapersky.core.errors import ScraperSkyError, UnknownName
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import SITES, Status
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.models import Domain, Job
from scrapersky.providers.areas.where import Where
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.queue_rows import IN_QUEUE
from scrapersky.store.searches import request as searches
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules


class NotASite(ScraperSkyError):
    """This is not a web site that can be scanned."""

    status_code = 422
    fields = ("base_url",)


class NeverScanned(UnknownName):
    """There is no scan of this site."""


async def start(session: AsyncSession, actor: Actor, base_url: str, max_pages: int) -> Job:
    """Find or create the domain, queue its analysis unless it is queued already, and return the job of the scan."""
    site = _site(base_url)
    request = SearchRequest(site.name, Where(), SITES, None, None, AdvanceRules(pages_per_site=max_pages))
    former = await searches.lock_and_find(session, actor.tenant_id, request)
    search = await searches.save(session, actor.tenant_id, request, former)
    search.result_count = 1
    domain = await _domain(session, actor, site)
    domain.search_id = search.id
    is_queued_now = domain.sitemap_analysis_status not in IN_QUEUE
    if is_queued_now:
        domain.sitemap_analysis_status = Status.QUEUED
    job = Job(
        tenant_id=actor.tenant_id,
        kind=jobs.SCAN,
        state="processing" if domain.sitemap_analysis_status == Status.PROCESSING else "pending",
        parameters={"base_url": base_url, "max_pages": max_pages, "search_id": str(search.id)},
        subject_id=domain.id,
        requested_by=actor.user_id,
    )
    session.add(job)
    await session.flush()
    after = {"domain": domain.name, "queued": is_queued_now, **job.parameters}
    await audit.record(session, actor, "scan", f"domain {domain.id}", None, after)
    return job


async def latest(session: AsyncSession, actor: Actor, base_url: str) -> Job:
    """Return the latest scan of this site. Raises NeverScanned."""
    newest = (
        select(Job)
        .join(Domain, Domain.id == Job.subject_id)
        .where(Job.tenant_id == actor.tenant_id, Job.kind == jobs.SCAN, Domain.name == _site(base_url).name)
        .order_by(Job.created_at.desc())
        .limit(1)
    )
    job = (await session.scalars(newest)).first()
    if job is None:
        raise NeverScanned(f"{base_url} has never been scanned; `scrapersky scan {base_url}` does it.")
    return job


def _site(base_url: str) -> CompanyDomain:
    try:
        found = parse_website(base_url)
    except InvalidWebsite as error:
        raise NotASite(str(error)) from None
    if not isinstance(found, CompanyDomain):
        raise NotASite(f"A page on {found.platform} is not a web site of its own; name the site of the business.")
    return found


async def _domain(session: AsyncSession, actor: Actor, site: CompanyDomain) -> Domain:
    """Return the tenant's domain of this name, locked; create it if there is none."""
    await session.execute(
        insert(Domain)
        .values(
            id=new_id(),
            tenant_id=actor.tenant_id,
            name=site.name,
            unicode_name=site.unicode_name,
            start_url=site.start_url,
        )
        .on_conflict_do_nothing(index_elements=["tenant_id", "name"])
    )
    mine = select(Domain).where(Domain.tenant_id == actor.tenant_id, Domain.name == site.name)
    domain = (await session.scalars(mine.with_for_update(key_share=True))).one()
    if site.start_url is not None:
        domain.start_url = site.start_url
        if domain.final_url is not None and _origin(domain.final_url) != _origin(site.start_url):
            domain.final_url = None  # what a person writes now counts more than where it once led
    return domain


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
