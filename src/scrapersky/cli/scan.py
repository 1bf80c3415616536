"""`scrapersky scan SITE`: have one web site's sitemaps analysed, and see what became of it."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
import uvloop

from scrapersky.actions import jobs, scan_site
from scrapersky.cli.shared.actor import TenantName, acting
from scrapersky.cli.shared.application import opened
from scrapersky.cli.shared.output import print_json, printable
from scrapersky.store.accounts import tenants


def scan(
    site: Annotated[str, typer.Argument(help="The web site: example.com, or an address on it.")],
    max_pages: Annotated[int, typer.Option(min=0, max=1000, help="Pages that may be read afterwards.")] = 5,
    check: Annotated[bool, typer.Option("--check", help="Only say how its latest scan stands.")] = False,
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Queue a web site for its sitemap analysis; workers start on it at once.

    --check says whether sitemaps were found, and how many; pages are counted when their lists have been imported.

    Example: scrapersky scan example.com && scrapersky run sitemap_analysis && scrapersky scan example.com --check

    Exit codes: 0 queued or completed, 1 not completed (yet), 2 wrong usage, no web site, or database.
    """
    job = uvloop.run(_scan(site, max_pages, check, tenant))
    if as_json:
        print_json(job)
    else:
        typer.echo(_told(job))
    raise typer.Exit(1 if check and job["state"] != "completed" else 0)


def _told(job: Mapping[str, Any]) -> str:
    """One line: how it stands, and what was found."""
    parts = [f"{job['site']}: {job['state']}"]
    if job["state"] == "completed" and (found := job["result"]):
        lists = f"{found['sitemaps']} list{'s' * (found['sitemaps'] != 1)} of pages"
        parts.append(f"sitemaps {found['outcome']}: {lists}, {found['pages']} pages so far")
        parts += [found["reason"]] if found["reason"] and found["outcome"] != "found" else []
    parts += [job["error"]] if job["error"] else []
    return ", ".join(map(printable, parts))


async def _scan(site: str, max_pages: int, check: bool, tenant: str) -> dict[str, Any]:
    async with opened() as application:
        actor = await acting(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            job = await (
                scan_site.latest(session, actor, site) if check else scan_site.start(session, actor, site, max_pages)
            )
            found = None
            if job.state == "completed" and job.subject_id is not None:
                found = dict(await jobs.scan_result(session, job.subject_id))
            return {
                "job_id": str(job.id),
                "site": site,
                "state": job.state,
                "error": job.error,
                "result": job.result or found,
            }
