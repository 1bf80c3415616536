"""make bench-line: whole sites, from their name to their contacts, side by side with Scrapy; and a million URLs.

Ours: two workers that know the name of each site. They read its home page, look for its sitemaps, list and classify
every page in them, read the few that are worth it and store each contact once, with leases, permits and rules.
Scrapy: two spiders that are told which sitemaps there are and which pages to read. They read the same home pages,
sitemaps and pages, and store what their regular expressions find.
Both begin with nothing loaded: the start of their processes is part of their time.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from rich.console import Console
from rich.table import Table

from benchmarks.line_sitemap import million
from benchmarks.line_workers import run_command, work_until_idle
from benchmarks.parts import Parts
from benchmarks.peers import ROOT, peer_python
from benchmarks.record import Figure, record
from scrapersky.core.embedded.server import EmbeddedServer
from scrapersky.sandbox.sandbox import Sandbox

ROUNDS = 3
WORKERS = 2
MEMORY_TARGET_MB = 350
ADDRESS = "127.77.0.1"  # of this machine, with the ports of the web, so that both sides find it without our settings
HERE = Path(__file__).parent
TABLES = "CREATE UNLOGGED TABLE found (url text, kind text, value text); CREATE UNLOGGED TABLE listed (url text)"


@dataclass
class Run:
    """One side, once."""

    sites: int
    pages: int
    rows: int
    requests: int
    seconds: float
    cpu_seconds: float


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--businesses", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    python = peer_python("fetch", ["scrapy", "uvloop", "asyncpg", "phonenumbers"])
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        home = Path(name)
        home.chmod(0o755)
        bench = Bench(EmbeddedServer(home).start(), home, python)
        parts = Parts()
        runs: dict[str, list[Run]] = {"scrapersky": [], "scrapy": []}
        for number in range(asked.rounds):
            for name, side in (("scrapersky", bench.ours), ("scrapy", bench.scrapys)):
                async with sandbox_of(asked.businesses) as sandbox:  # each side waits for its pages and certificates
                    run = await parts.run(f"{name}, round {number + 1}", side(sandbox, f"round_{number}"), say)
                    runs[name] += [run] if run else []
        if not asked.json and all(runs.values()):
            show_runs(runs)
        figures = line_figures(runs) if all(runs.values()) else []
        sitemap = await parts.run("one sitemap", bench.million(asked.urls), None if asked.json else show_sitemap)
    if sitemap:
        memory = sitemap["worker_memory_mb"]
        figures.append(Figure("memory of a worker, one large sitemap", memory, "MB", "≤ 350 MB", memory <= 350))
    record("line", figures)
    if asked.json:
        print(json.dumps({"runs": {name: list(map(asdict, each)) for name, each in runs.items()}, "sitemap": sitemap}))
    parts.end()


def say(run: Run) -> None:
    """Print one run when it ends."""
    print(f"{run.pages:,} pages in {run.seconds:.1f} s, {run.rows:,} contacts", file=sys.stderr)


def sandbox_of(businesses: int) -> Sandbox:
    return Sandbox(seed=1, businesses=businesses, address=ADDRESS, port=80, secure_port=443)


class Bench:
    """Both sides on one PostgreSQL, each round in a fresh database."""

    def __init__(self, server: str, home: Path, python: Path) -> None:
        self._server, self._home, self._python = server, home, python

    async def database(self, name: str) -> str:
        """Create a migrated database without the steps that Scrapy does not have."""
        connection = await asyncpg.connect(self._server)
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()
        url = self._url(name)
        run_command(url, "migrate")
        for step in ("contact_verification", "delivery"):
            run_command(url, "pause", step)
        return url

    async def million(self, urls: int) -> dict[str, Any]:
        """Import one sitemap of so many URLs in a fresh database."""
        return await million(await self.database("million"), urls)

    def _url(self, name: str) -> str:
        return urlsplit(self._server)._replace(path=f"/{name}").geturl()

    async def ours(self, sandbox: Sandbox, name: str, workers: int = WORKERS, profiler: Sequence[str] = ()) -> Run:
        """Run workers that get each site by name only; then write the plan for the other side."""
        url = await self.database(name)
        connection = await asyncpg.connect(url)
        tenant = await connection.fetchval("SELECT id FROM tenant")
        truth = {entry["host"]: entry for entry in sandbox.truth() if entry["host"] and entry["reachable"]}
        await connection.executemany(
            "INSERT INTO domain (tenant_id, name, start_url, country, domain_metadata_status) "
            "VALUES ($1, $2, $3, $4, 'Queued')",
            [(tenant, host, f"http://{host}/", entry["country"]) for host, entry in sorted(truth.items())],
        )
        done = await work_until_idle(url, sandbox.environment(), workers, profiler)
        pages = await connection.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Completed'")
        rows = await connection.fetchval("SELECT count(*) FROM contact")
        plan = [dict(row) for row in await connection.fetch(PLAN)]
        (self._home / "plan.json").write_text(json.dumps(plan))
        await connection.execute(TABLES)
        await connection.close()
        return Run(len(truth), pages, rows, sandbox.traffic.requests, done.seconds, done.cpu_seconds)

    async def scrapys(self, sandbox: Sandbox, name: str) -> Run:
        """Run two spiders with half of the sites each: one Scrapy process uses one core."""
        url = self._url(name)
        sandbox.truth()  # plans all sites, as the other side does before its time begins
        spider = [str(self._python), "-P", str(HERE / "line_spider.py"), ADDRESS, url, str(self._home / "plan.json")]
        started, cpu = time.monotonic(), _cpu()
        running = [
            await asyncio.create_subprocess_exec(
                *(*spider, str(part), str(WORKERS)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            for part in range(WORKERS)
        ]
        said = [(await process.communicate())[0] for process in running]
        seconds, cpu = time.monotonic() - started, _cpu() - cpu
        totals = [json.loads(text.decode().splitlines()[-1]) for text in said]
        sites = len(json.loads((self._home / "plan.json").read_text()))
        pages, rows = (sum(total[name] for total in totals) for name in ("pages", "rows"))
        return Run(sites, pages, rows, sandbox.traffic.requests, seconds, cpu)


# What ours found out, as the other side is told it.
PLAN = """
SELECT d.start_url, coalesce(d.country, 'FI') AS country,
    ARRAY(SELECT s.url FROM sitemap_file s WHERE s.domain_id = d.id AND s.url LIKE 'http%' ORDER BY s.url) AS sitemaps,
    ARRAY(SELECT p.url FROM page p WHERE p.domain_id = d.id AND p.page_processing_status = 'Completed') AS pages
FROM domain d ORDER BY d.name"""


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def show_runs(runs: dict[str, list[Run]]) -> None:
    """Print the medians of both sides and their ratio."""
    console, middle = Console(), {name: _middle(rounds) for name, rounds in runs.items()}
    table = Table("", "pages/s", "businesses/min", "requests/s", "CPU ms/page", "pages", "contacts", "seconds")
    for name, run in middle.items():
        table.add_row(
            *(name, f"{run.pages / run.seconds:.0f}", f"{60 * run.sites / run.seconds:,.0f}"),
            *(f"{run.requests / run.seconds:.0f}", f"{1000 * run.cpu_seconds / run.pages:.1f}", f"{run.pages:,}"),
            *(f"{run.rows:,}", " ".join(f"{each.seconds:.1f}" for each in runs[name])),
        )
    console.print(table)
    ours, theirs = middle["scrapersky"], middle["scrapy"]
    ratio = (ours.pages / ours.seconds) / (theirs.pages / theirs.seconds)
    cpu = (ours.cpu_seconds / ours.pages) / (theirs.cpu_seconds / theirs.pages)
    console.print(f"ours beside Scrapy: {ratio:.2f} x the pages a second, {cpu:.2f} x the CPU a page")


def line_figures(runs: dict[str, list[Run]]) -> list[Figure]:
    """Return the figures of both sides for the record."""
    ours, theirs = _middle(runs["scrapersky"]), _middle(runs["scrapy"])
    ratio = (ours.sites / ours.seconds) / (theirs.sites / theirs.seconds)
    cpu, requests = 1000 * ours.cpu_seconds / ours.pages, ours.requests / ours.sites
    return [
        Figure("businesses a minute beside Scrapy", round(ratio, 2), "x", "≥ 1 x", ratio >= 1),
        Figure("CPU per page", round(cpu, 1), "ms", "≤ 8 ms", cpu <= 8),
        Figure("CPU per page, Scrapy", round(1000 * theirs.cpu_seconds / theirs.pages, 1), "ms"),
        Figure("requests a site", round(requests, 1), "", "≤ 8", requests <= 8),
    ]


def show_sitemap(sitemap: dict[str, Any]) -> None:
    """Print the import of one large sitemap, and whether the memory target is met."""
    console = Console()
    told = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in sitemap.items())
    most = sitemap["worker_memory_mb"]
    console.print(f"one sitemap: {told}", soft_wrap=True)
    console.print(
        f"memory of a worker: {most:.0f} MB, target {MEMORY_TARGET_MB} MB: {_verdict(most <= MEMORY_TARGET_MB)}"
    )


def _middle(rounds: list[Run]) -> Run:
    return sorted(rounds, key=lambda run: run.seconds)[len(rounds) // 2]


def _verdict(holds: bool) -> str:
    return "holds" if holds else "MISSED"


if __name__ == "__main__":
    asyncio.run(main())
