"""Four workers on two machines, one web: no host ever gets more than its limit, however many want it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from scrapersky.sandbox.sites.responder import SiteResponder
from scrapersky.sandbox.truth import truth
from scrapersky.sandbox.world.world import World
from tests import ROOT
from tests.line.two_hosts import MACHINES, NO_NAMESPACE, WORKERS_EACH

SEED, BUSINESSES = 77, 60
SLOTS = 2
DELAY_SECONDS, TOLERANCE_SECONDS = 2.0, 0.5
STEPS = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")
# Real root keeps its right to PostgreSQL's directory; anybody else owns it, and becomes root of the namespace only.
UNSHARE = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--net")


def work(mode: str, *before: str, latency_seconds: float, **variables: str) -> tuple[int, str, str]:
    """Both machines until nothing is left to do; ends every process of theirs, whatever happens."""
    options = json.dumps({"seed": SEED, "businesses": BUSINESSES, "latency_seconds": latency_seconds})
    environment = {
        **os.environ,
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
        "CRAWL_PARSER_PROCESSES": "1",
        **{f"{name}_SCHEDULER_MAX_ATTEMPTS": "1" for name in STEPS},
        **variables,
    }
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "tests.line.two_hosts", mode, options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=400)
    finally:
        with suppress(ProcessLookupError):  # all of them have ended by themselves
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, errors


def four_workers(**options: Any) -> dict[str, Any]:
    """The report of the four; on loopback where this machine gives no namespaces, and the report says which it was."""
    could_not = True
    if shutil.which("unshare") and shutil.which("ip"):
        code, out, errors = work("namespaces", *UNSHARE, **options)
        could_not = code == NO_NAMESPACE or "unshare" in errors.partition(":")[0]
    if could_not:
        code, out, errors = work("loopback", **options)
    assert code == 0, errors
    report: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert report["codes"] == [0] * WORKERS_EACH * len(MACHINES), report["said"]
    return report


def sites(count: int) -> list[dict[str, Any]]:
    """Sites of the sandbox that can be read, each of its own host."""
    readable = {entry["host"]: entry for entry in truth(SiteResponder(World(SEED, BUSINESSES))) if entry["reachable"]}
    return list(readable.values())[:count]


async def test_no_host_gets_more_at_a_time_than_its_limit(admin, tenant, database_url):
    hosts = [entry["host"] for entry in sites(15)]
    await admin.executemany(
        "INSERT INTO domain (tenant_id, name, start_url, domain_metadata_status) VALUES ($1, $2, $3, 'Queued')",
        [(tenant, host, f"http://{host}/") for host in hosts],
    )

    report = four_workers(
        latency_seconds=0.05,
        DATABASE_URL=database_url,
        CRAWL_MAX_CONCURRENCY_PER_HOST=str(SLOTS),
        CRAWL_HOST_DELAY_SECONDS="0",
    )

    read = await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Completed'")
    assert read > len(hosts), "the sites were really read, page by page"
    counted = {host: seen for host, seen in report["hosts"].items() if host.removeprefix("www.") in hosts}
    assert len(counted) >= len(hosts)
    assert max(seen["max_concurrent"] for seen in counted.values()) <= SLOTS
    if report["mode"] == "namespaces":
        assert any(seen["guests"] == list(MACHINES) for seen in counted.values()), "both machines wanted the same host"


async def test_visits_to_one_host_keep_their_distance_whoever_makes_them(admin, tenant, database_url):
    """Reading a page is a visit of one request (decision 0010), so the server sees when each visit begins."""
    chosen = [entry for entry in sites(30) if entry["condition"] == "healthy" and len(entry["sitemap"]["urls"]) >= 5][
        :3
    ]
    for entry in chosen:
        domain = await admin.fetchval(
            "INSERT INTO domain (tenant_id, name, start_url) VALUES ($1, $2, $3) RETURNING id",
            *(tenant, entry["host"], f"http://{entry['host']}/"),
        )
        await admin.executemany(
            "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) VALUES ($1, $2, $3, 'Queued')",
            [(tenant, domain, url) for url in entry["sitemap"]["urls"][:5]],
        )

    report = four_workers(
        latency_seconds=0.0,
        DATABASE_URL=database_url,
        CRAWL_MAX_CONCURRENCY_PER_HOST=str(SLOTS),
        CRAWL_HOST_DELAY_SECONDS=str(DELAY_SECONDS),
        CRAWL_OBEY_ROBOTS="false",  # robots.txt comes before the first visit of each process, and is not a visit
    )

    states = await admin.fetch("SELECT page_processing_status AS state, page_processing_error AS error FROM page")
    assert {row["state"] for row in states} == {"Completed"}, states
    counted = {host: seen for host, seen in report["hosts"].items() if seen["requests"]}
    assert [seen["requests"] for seen in counted.values()] == [5] * len(chosen)
    assert min(seen["min_gap_seconds"] for seen in counted.values()) >= DELAY_SECONDS - TOLERANCE_SECONDS
