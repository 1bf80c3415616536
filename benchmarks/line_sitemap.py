"""The memory of a worker while it streams one sitemap of a million URLs into pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from aiohttp import web as server

from benchmarks.line_workers import Work, work_until_idle


async def million(url: str, urls: int) -> dict[str, Any]:
    """Import one sitemap with one worker; measure its time and memory."""
    async with endless_site(urls) as port:
        connection = await asyncpg.connect(url)
        tenant = await connection.fetchval("SELECT id FROM tenant")
        domain = await connection.fetchval(
            "INSERT INTO domain (tenant_id, name) VALUES ($1, 'million.fi') RETURNING id", tenant
        )
        await connection.execute(
            "INSERT INTO sitemap_file (tenant_id, domain_id, url, kind, sitemap_import_status) "
            "VALUES ($1, $2, 'http://million.fi/sitemap.xml', 'urlset', 'Queued')",
            *(tenant, domain),
        )
        variables = {
            "CRAWL_HOST_OVERRIDES": f"*=127.0.0.1:{port}",
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{port}",
            "CRAWL_MAX_STREAM_BYTES": "500000000",
            "CRAWL_FETCH_TIMEOUT_SECONDS": "600",
            "SITEMAP_IMPORT_SCHEDULER_TIMEOUT_SECONDS": "900",
        }
        done: Work = await work_until_idle(url, variables, 1)
        stored = await connection.fetchval("SELECT count(*) FROM page WHERE domain_id = $1", domain)
        failed = await connection.fetchval("SELECT sitemap_import_error FROM sitemap_file WHERE domain_id = $1", domain)
        await connection.close()
    if stored != urls:
        raise RuntimeError(f"{stored:,} of {urls:,} URLs were stored: {failed}")
    return {
        "urls": urls,
        "seconds": round(done.seconds, 1),
        "urls_per_second": round(stored / done.seconds),
        "cpu_seconds": round(done.cpu_seconds, 1),
        "worker_memory_mb": round(done.worker_mb, 1),
        "worker_memory_rise_mb": round(done.rise_mb, 1),
        "worker_and_children_memory_mb": round(done.family_mb, 1),
    }


@asynccontextmanager
async def endless_site(urls: int) -> AsyncIterator[int]:
    """Serve a site whose sitemap has the requested number of URLs."""

    async def answer(request: server.Request) -> server.StreamResponse:
        if request.path != "/sitemap.xml":
            return server.Response(status=404)
        response = server.StreamResponse(headers={"Content-Type": "application/xml"})
        await response.prepare(request)
        await response.write(b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">')
        for start in range(0, urls, 1000):
            await response.write("".join(map(_record, range(start, min(start + 1000, urls)))).encode())
        await response.write(b"</urlset>")
        await response.write_eof()
        return response

    app = server.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = server.AppRunner(app)
    await runner.setup()
    await server.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _record(number: int) -> str:
    return f"<url><loc>http://million.fi/tuote/{number}/kuvaus</loc><lastmod>2026-01-02</lastmod></url>"
