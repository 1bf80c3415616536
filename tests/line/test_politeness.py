"""Four workers, one web: no host ever gets more at a time than its limit, however many processes want it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky.sandbox.server import Sandbox

SLOTS = 2
WORKERS = 4
STEPS = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=77, businesses=60, latency_seconds=0.05) as little_internet:
        yield little_internet


@pytest.fixture
def workers(sandbox, database_url, tmp_path: Path):
    """Four real worker processes that stop when nothing is left."""
    environment = {
        **os.environ,
        **sandbox.environment(),
        "DATABASE_URL": database_url,
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_SECONDS": "0.1",
        "CRAWL_HOST_SLOTS": str(SLOTS),
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_PARSERS": "1",
        **{f"{name}_SCHEDULER_MAX_ATTEMPTS": "1" for name in STEPS},
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "scrapersky", "worker", "--until-idle"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(WORKERS)
    ]
    yield started
    for process in started:
        process.kill()
        process.wait()


async def test_no_host_gets_more_at_a_time_than_its_limit(admin, tenant, sandbox, workers):
    hosts = [entry["host"] for entry in sandbox.truth() if entry["host"] and entry["reachable"]][:15]
    await admin.executemany(
        "INSERT INTO domain (tenant_id, name, start_url, domain_metadata_status) VALUES ($1, $2, $3, 'Queued')",
        [(tenant, host, f"http://{host}/") for host in hosts],
    )
    codes = await asyncio.gather(*(asyncio.to_thread(process.wait, 150) for process in workers))
    assert codes == [0] * WORKERS
    read = await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Completed'")
    assert read > len(hosts), "the sites were really read, page by page"
    busiest = {
        host: entry.most_at_once for host, entry in sandbox.traffic.hosts.items() if host.removeprefix("www.") in hosts
    }
    assert len(busiest) >= len(hosts)
    assert max(busiest.values()) <= SLOTS
