"""`scrapersky scan SITE`: have one web site's sitemaps analysed, and see what became of it."""

from typing import Annotated, Any

import typer
import uvloop

from scrapersky.cli.acting import TenantName, acting
from scrapersky.cli.opening import opened
from scrapersky.cli.output import print_json
from scrapersky.store import scans, tenants


def scan(
    site: Annotated[str, typer.Argument(help="The web site: example.com, or an address on it.")],
    max_pages: Annotated[int, typer.Option(min=0, max=1000, help="Pages that may be read afterwards.")] = 5,
    check: Annotated[bool, typer.Option("--check", help="Only say how its latest scan stands.")] = False,
    tenant: TenantName = tenants.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Queue a web site for its sitemap analysis; workers start on it at once.

    Example: scrapersky scan example.com && scrapersky run sitemap_analysis && scrapersky scan example.com --check

    Exit codes: 0 queued or completed, 1 not completed (yet), 2 wrong usage, no web site, or database.
    """
    job = uvloop.run(_scan(site, max_pages, check, tenant))
    if as_json:
        print_json(job)
    else:
        typer.echo(f"{job['site']}: {job['state']}" + (f", {job['error']}" if job["error"] else ""))
    raise typer.Exit(1 if check and job["state"] != "completed" else 0)


async def _scan(site: str, max_pages: int, check: bool, tenant: str) -> dict[str, Any]:
    async with opened() as house:
        actor = await acting(house, tenant)
        async with house.database.session(actor.tenant_id) as session:
            job = await (scans.latest(session, actor, site) if check else scans.start(session, actor, site, max_pages))
            return {
                "job_id": str(job.id),
                "site": site,
                "state": job.state,
                "error": job.error,
                "result": job.result,
            }
