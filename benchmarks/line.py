"""The line as a whole: sites read a minute against the sandbox, and a worker's memory over a million sitemap URLs."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import psutil
from aiohttp import web as server
from rich.console import Console
from rich.table import Table

from scrapersky.core.embedded import start_embedded
from scrapersky.sandbox.server import Sandbox

MEMORY_BAR_MB = 350
URLS = 1_000_000
STEPS = ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--businesses", type=int, default=1_500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--urls", type=int, default=URLS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        home = Path(name)
        home.chmod(0o755)
        url = start_embedded(home)
        run_command(url, {}, "migrate")
        figures = {
            "line": await whole_line(url, asked.businesses, asked.workers),
            "sitemap": await million(url, asked.urls),
        }
    print(json.dumps(figures, indent=2)) if asked.json else show(figures)


def run_command(url: str, variables: dict[str, str], *words: str) -> None:
    """A command of the project, to its end."""
    subprocess.run([sys.executable, "-m", "scrapersky", *words], env=environment(url, variables), check=True)


def environment(url: str, variables: dict[str, str]) -> dict[str, str]:
    """The settings of a worker in the benchmark."""
    return {
        **os.environ,
        "DATABASE_URL": url,
        "SCRAPERSKY_LOG_LEVEL": "error",
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_HOST_SLOTS": "8",
        **{f"{step}_SCHEDULER_MAX_ATTEMPTS": "1" for step in STEPS},
        **variables,
    }


async def work(url: str, variables: dict[str, str], workers: int) -> tuple[float, float]:
    """Workers until idle: how long they took, and the most memory one of them and its children had, in MB."""
    started = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "scrapersky", "worker", "--until-idle"], env=environment(url, variables)
        )
        for _ in range(workers)
    ]
    most = 0.0
    try:
        while any(process.poll() is None for process in processes):
            most = max(most, *(memory_of(process.pid) for process in processes if process.poll() is None), 0.0)
            await asyncio.sleep(0.2)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return time.monotonic() - started, most


def memory_of(pid: int) -> float:
    """The resident memory of a worker itself, in MB; its parser children have limits of their own."""
    try:
        return psutil.Process(pid).memory_info().rss / 1e6
    except psutil.NoSuchProcess:
        return 0.0


async def whole_line(url: str, businesses: int, workers: int) -> dict[str, Any]:
    """Every web site of a world, from its name to its contacts."""
    async with Sandbox(seed=1, businesses=businesses) as sandbox:
        connection = await asyncpg.connect(url)
        tenant = await connection.fetchval("SELECT id FROM tenant")
        hosts = sorted({entry["host"] for entry in sandbox.truth() if entry["host"] and entry["reachable"]})
        await connection.executemany(
            "INSERT INTO domain (tenant_id, name, start_url, domain_metadata_status) VALUES ($1, $2, $3, 'Queued')",
            [(tenant, host, f"http://{host}/") for host in hosts],
        )
        seconds, memory = await work(url, sandbox.environment(), workers)
        pages = await connection.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Completed'")
        contacts = await connection.fetchval("SELECT count(*) FROM contact")
        await connection.close()
        return {
            "workers": workers,
            "sites": len(hosts),
            "requests": sandbox.traffic.requests,
            "pages": pages,
            "contacts": contacts,
            "seconds": round(seconds, 1),
            "requests_per_second": round(sandbox.traffic.requests / seconds, 1),
            "sites_per_minute": round(len(hosts) / seconds * 60, 1),
            "worker_memory_mb": round(memory, 1),
        }


async def million(url: str, urls: int) -> dict[str, Any]:
    """One sitemap of a million URLs, streamed into pages by one worker."""
    async with endless_site(urls) as port:
        connection = await asyncpg.connect(url)
        tenant = await connection.fetchval("SELECT id FROM tenant")
        domain = await connection.fetchval(
            "INSERT INTO domain (tenant_id, name) VALUES ($1, 'million.fi') RETURNING id", tenant
        )
        await connection.execute(
            "INSERT INTO sitemap_file (tenant_id, domain_id, url, kind, sitemap_import_status) "
            "VALUES ($1, $2, 'http://million.fi/sitemap.xml', 'urlset', 'Queued')",
            tenant,
            domain,
        )
        variables = {
            "CRAWL_KNOWN_HOSTS": f"*=127.0.0.1:{port}",
            "CRAWL_PRIVATE_ALLOWANCE": f"127.0.0.1:{port}",
        }
        seconds, memory = await work(url, variables, 1)
        stored = await connection.fetchval("SELECT count(*) FROM page WHERE domain_id = $1", domain)
        await connection.close()
        return {
            "urls": urls,
            "stored": stored,
            "seconds": round(seconds, 1),
            "urls_per_second": round(stored / seconds),
            "worker_memory_mb": round(memory, 1),
        }


@asynccontextmanager
async def endless_site(urls: int) -> AsyncIterator[int]:
    """A site whose sitemap has as many URLs as asked."""

    async def answer(request: server.Request) -> server.StreamResponse:
        if request.path != "/sitemap.xml":
            return server.Response(status=404)
        response = server.StreamResponse(headers={"Content-Type": "application/xml"})
        await response.prepare(request)
        await response.write(b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">')
        for start in range(0, urls, 1000):
            await response.write(
                "".join(
                    f"<url><loc>http://million.fi/tuote/{n}/kuvaus</loc><lastmod>2026-01-02</lastmod></url>"
                    for n in range(start, min(start + 1000, urls))
                ).encode()
            )
        await response.write(b"</urlset>")
        await response.write_eof()
        return response

    app = server.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = server.AppRunner(app)
    await runner.setup()
    site = server.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def show(figures: dict[str, dict[str, Any]]) -> None:
    """The figures as a table, and whether the bar of memory holds."""
    table = Table("what", "figure")
    for part, values in figures.items():
        for name, value in values.items():
            table.add_row(f"{part}: {name.replace('_', ' ')}", f"{value:,}")
    console = Console()
    console.print(table)
    most = max(values["worker_memory_mb"] for values in figures.values())
    verdict = "holds" if most <= MEMORY_BAR_MB else "missed"
    console.print(f"memory of a worker: {most:.0f} MB, bar {MEMORY_BAR_MB} MB: {verdict}")


if __name__ == "__main__":
    asyncio.run(main())
