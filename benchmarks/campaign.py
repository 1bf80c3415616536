"""make bench-campaign: 1,000 queries as one campaign with two workers: the memory of a worker, the load of each host.

The queries are trades in towns of a sandbox, with different limits, so that many find the same businesses. The workers
keep the limits of hosts that a worker has by default (two visits at a time, and a pause); Nominatim refuses clients
that send more than one request per second, and the sites take a while to answer, so that requests at once are seen.
"""

import argparse
import asyncio
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks.engine_server import running_server
from benchmarks.line_workers import Work, work_until_idle
from benchmarks.record import Figure, record
from scrapersky.actions.searches.campaigns import CampaignRequest, request_campaign
from scrapersky.bootstrap import open_application
from scrapersky.cli.shared.application import cli_actor
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.destinations.files.lead_file import LeadFile
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.world.cities import cities
from scrapersky.sandbox.world.trades import trades
from scrapersky.store.leads.read import columns_of, leads
from scrapersky.store.searches import campaigns
from scrapersky.store.searches.campaigns import CampaignCounts
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

QUERIES, WORKERS, BUSINESSES, SEED = 1_000, 2, 1_500, 31
SLOTS, DELAY_SECONDS, LATENCY_SECONDS = 2, 0.2, 0.02
MAX_WORKER_MB = 350
RULES = AdvanceRules(pages_per_site=2)


@dataclass(frozen=True)
class Result:
    """What became of the campaign."""

    work: Work
    counts: CampaignCounts
    rows: int
    hosts: int
    requests: int
    max_concurrent: int  # requests that one site had at a time
    failed: int  # rows that failed although their site can be read


def queries(count: int) -> list[SearchRequest]:
    """Return searches for each trade in each town, with limits that make them different ones."""
    towns = [city.name for city in cities().values()]
    every = ((limit, trade, town) for limit in (5, 20, 60, 100, None) for trade, town in product(trades(), towns))
    return [
        SearchRequest(trade, Where.of(town), "openstreetmap", limit, None, RULES)
        for limit, trade, town in islice(every, count)
    ]


async def measure(url: str, wanted: int, businesses: int) -> Result:
    """Make the campaign with two workers; return what it took."""
    settings = load(Environment({"DATABASE_URL": url, "SCRAPERSKY_LOG_LEVEL": "error"}, None))
    await migrate(database := Database(url, settings))
    await database.close()
    async with Sandbox(SEED, businesses, latency_seconds=LATENCY_SECONDS) as sandbox:
        sandbox.nominatim.min_seconds = 1
        variables = {
            **sandbox.environment(),
            "CRAWL_MAX_CONCURRENCY_PER_HOST": str(SLOTS),
            "CRAWL_HOST_DELAY_SECONDS": str(DELAY_SECONDS),
            "CRAWL_MAX_ROBOTS_DELAY_SECONDS": "1",
            "PLACE_SEARCH_SCHEDULER_MAX_ATTEMPTS": "3",
        }
        campaign, tenant = await request(url, variables, wanted)
        work = await work_until_idle(url, variables, WORKERS)
        sites = {host: seen for host, seen in sandbox.traffic.report().items() if "." in host and host[-1].isalpha()}
        rows, counts = await read(url, settings, tenant, campaign)
        readable = [entry["host"] for entry in sandbox.truth() if entry["reachable"]]
    return Result(
        work,
        counts,
        rows,
        len(sites),
        sum(seen["requests"] for seen in sites.values()),
        max(seen["max_concurrent"] for seen in sites.values()),
        await count_failed(url, readable),
    )


async def request(url: str, variables: dict[str, str], wanted: int) -> tuple[UUID, UUID]:
    """Request the campaign; return its id and that of its tenant."""
    environment = Environment({**variables, "DATABASE_URL": url, "SCRAPERSKY_LOG_LEVEL": "error"}, None)
    application = await open_application(environment)
    try:
        actor = await cli_actor(application, "default")
        asked = CampaignRequest.of(queries(wanted), RULES, "benchmark", None)
        async with application.database.session(actor.tenant_id) as session:
            requested = await request_campaign(session, actor, asked)
        return requested.search.id, actor.tenant_id
    finally:
        await application.close()


async def read(url: str, settings: Any, tenant: UUID, campaign: UUID) -> tuple[int, CampaignCounts]:
    """Write the file of the campaign; return its rows, and the searches by their state."""
    database = Database(url, settings)
    try:
        with TemporaryDirectory() as folder, LeadFile(Path(folder) / "leads.csv", list(columns_of("business"))) as file:
            async with database.session(tenant) as session:
                rows = await file.write(leads(session, campaign))
                return rows, await campaigns.counts(session, campaign)
    finally:
        await database.close()


async def count_failed(url: str, hosts: list[str]) -> int:
    """Return how many web sites that can be read failed."""
    connection = await asyncpg.connect(url)
    try:
        failed = "SELECT count(*) FROM domain WHERE domain_metadata_status = 'Error' AND name = ANY ($1)"
        return int(await connection.fetchval(failed, hosts))
    finally:
        await connection.close()


async def main() -> None:
    """Run the campaign, print and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--businesses", type=int, default=BUSINESSES)
    given = parser.parse_args()
    with running_server() as server:
        async with server.database("campaign") as url:
            found = await measure(url, given.queries, given.businesses)
    counts, work = found.counts, found.work
    print(
        f"{counts.searches:,} searches ({counts.completed:,} completed, {counts.skipped} skipped, "
        f"{counts.failed} failed) "
        f"found {counts.places:,} places, {found.rows:,} rows; {found.requests:,} requests to {found.hosts:,} hosts in "
        f"{work.seconds:.0f} s, {work.cpu_seconds:.0f} s of CPU; a worker had {work.worker_mb:.0f} MB, one host "
        f"{found.max_concurrent} requests at a time; {found.failed} readable sites failed"
    )
    record("campaign", figures(found))


def figures(found: Result) -> list[Figure]:
    """Return the figures of a run."""
    undone = found.counts.searches - found.counts.completed
    memory = round(found.work.worker_mb)
    return [
        Figure("memory of a worker", memory, "MB", f"≤ {MAX_WORKER_MB} MB", memory <= MAX_WORKER_MB),
        Figure("requests at a time to one host", found.max_concurrent, "", f"≤ {SLOTS}", found.max_concurrent <= SLOTS),
        Figure("searches that were not completed", undone, "", "0", undone == 0),
        Figure("readable sites that failed", found.failed, "", "0", found.failed == 0),
        Figure("seconds of two workers", round(found.work.seconds), "s"),
        Figure("CPU of the workers", round(found.work.cpu_seconds), "s"),
    ]


if __name__ == "__main__":
    asyncio.run(main())
