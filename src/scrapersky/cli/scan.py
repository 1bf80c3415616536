"""`scrapersky scan SITE`: queue the sitemap analysis of a web site, and show its result."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async, tenant_session
from scrapersky.cli.shared.options import DEFAULT_TENANT, AsJson, TenantName
from scrapersky.cli.shared.output import print_json, printable


def scan(
    site: Annotated[str, typer.Argument(help="The web site: example.com, or a URL on it.")],
    max_pages: Annotated[int, typer.Option(min=0, max=1000, help="Maximum number of pages read afterwards.")] = 5,
    check: Annotated[bool, typer.Option("--check", help="Only show the state of the latest scan.")] = False,
    tenant: TenantName = DEFAULT_TENANT,
    as_json: AsJson = False,
) -> None:
    """Queue the sitemap analysis of a web site; workers process it at once.

    --check shows whether sitemaps were found, and how many; pages are counted once their sitemaps have been imported.

    Example: scrapersky scan example.com && scrapersky run sitemap_analysis && scrapersky scan example.com --check

    Exit codes: 0 queued or completed, 1 not completed yet or failed, 2 wrong usage, not a web site, or database error.
    """
    job = run_async(_scan(site, max_pages, check, tenant))
    if as_json:
        print_json(job)
    else:
        typer.echo(_sentence(job))
    raise typer.Exit(1 if check and job["state"] != "completed" else 0)


def _sentence(job: Mapping[str, Any]) -> str:
    parts = [f"{job['site']}: {job['state']}"]
    if job["state"] == "completed" and (found := job["result"]):
        sitemaps = f"{found['sitemaps']} sitemap{'s' * (found['sitemaps'] != 1)}"
        parts.append(f"sitemaps {found['outcome']}: {sitemaps}, {found['pages']} pages so far")
        parts += [found["reason"]] if found["reason"] and found["outcome"] != "found" else []
    parts += [job["error"]] if job["error"] else []
    return ", ".join(map(printable, parts))


async def _scan(site: str, max_pages: int, check: bool, tenant: str) -> dict[str, Any]:
    from scrapersky.actions import jobs, scan_site

    async with tenant_session(tenant) as (_, session, actor):
        if check:
            job = await scan_site.latest(session, actor, site)
        else:
            job = await scan_site.start(session, actor, site, max_pages)
        result = job.result
        if not result and job.state == "completed" and job.subject_id is not None:
            result = dict(await jobs.scan_result(session, job.subject_id))
        return {"job_id": str(job.id), "site": site, "state": job.state, "error": job.error, "result": result or None}
