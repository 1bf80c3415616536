"""The same search twice gives the same file, byte for byte, in whatever order the rows are processed."""

import json
from typing import Any
from uuid import UUID

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.destinations.files.lead_file import LeadFile
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.providers.registry import DEFAULT_PROVIDER
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import Per, columns_of, leads
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import STEPS, AdvanceRules
from tests.conftest import processors_of

PER: tuple[Per, ...] = ("business", "contact")
CONCURRENCY = (1, 3, 50)
# Claims go by this number: a random one shuffles the queue.
SHUFFLE = {step.workflow: f"UPDATE {step.table} SET {step.queue}_order = (random() * 1e6)::bigint" for step in STEPS}


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=23, businesses=150) as little_internet:
        yield little_internet


@pytest.fixture
async def application(sandbox, database_url):
    quick = {
        "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_MAX_CONCURRENCY_PER_HOST": "8",
        "CRAWL_PARSER_PROCESSES": "1",
    }
    opened = await open_application(Environment({**sandbox.environment(), "DATABASE_URL": database_url, **quick}, None))
    yield opened
    await opened.close()


async def run(application: Any, admin: Any, tenant: UUID, concurrency: int, folder: Any) -> list[bytes]:
    """Run the search for a tenant of its own, with every queue shuffled; return its files."""
    wish = SearchRequest("dentists", Where.of("Helsinki"), DEFAULT_PROVIDER, 15, None, AdvanceRules())
    async with application.database.session(tenant) as session:
        search = (await request_search(session, Actor("ada", tenant, "operator", "test"), wish)).search
    changes: dict[str, Any] = {"batch_size": concurrency, "max_batch_size": concurrency, "concurrency": concurrency}
    processors = processors_of(application.pipeline, application.database, application.settings, **changes)
    for _ in range(2):  # sitemap indexes queue further sitemaps
        for step in STEPS:
            await admin.execute(SHUFFLE[step.workflow])
            await run_job_loop(processors[step.workflow])
    files = []
    for per in PER:
        path = folder / f"{tenant}-{per}.csv"
        with LeadFile(path, list(columns_of(per))) as file:
            async with application.database.session(tenant) as session:
                await file.write(leads(session, search.id, per))
        files.append(path.read_bytes())
    return files


async def test_the_same_search_gives_the_same_file_in_whatever_order_its_rows_are_processed(
    application, admin, tmp_path
):
    runs = []
    for number, concurrency in enumerate(CONCURRENCY):
        tenant = await admin.fetchval("INSERT INTO tenant (name) VALUES ($1) RETURNING id", f"run {number}")
        runs.append(await run(application, admin, tenant, concurrency, tmp_path))
    for again in runs[1:]:
        for per, first, second in zip(PER, runs[0], again, strict=True):
            assert json.dumps(second.decode().splitlines()) == json.dumps(first.decode().splitlines()), per
    assert runs[0][1].count(b"@") > 10
