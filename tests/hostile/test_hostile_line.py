"""One hostile site of each kind beside nine honest ones, through the whole line of one worker process."""

import asyncio
import gzip
import json
import os
import sys
from contextlib import AsyncExitStack
from typing import Any

from tests.hostile.odd_web import OddWeb, Route, Visitor

HONEST = 9
MAX_WORKER_MEGABYTES = 350
MAX_BLOCK_SECONDS = 0.25
SLACK_SECONDS = 15.0  # of a machine whose load changes between the two runs

# Prints how long the honest sites took alone and beside the hostile ones, the longest block and the memory.
WORKER = """
import asyncio, json, sys, time
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment

OPEN = "SELECT count(*) FROM domain WHERE name = ANY($1) AND (domain_metadata_status IN ('Queued', 'Processing') " \\
    "OR sitemap_analysis_status IN ('Queued', 'Processing'))"
FOUND = "SELECT count(DISTINCT d.name) FROM contact c JOIN domain d ON d.id = c.domain_id WHERE d.name = ANY($1)"
ADD = "UPDATE domain SET domain_metadata_status = 'Queued' WHERE name = ANY($1)"

async def main(alone, beside, hostile):
    application = await open_application(Environment())

    async def value(sql, names):
        async with application.database.engine_connection() as connection:
            return await connection.fetchval(sql, names)

    async def seconds_for(queued, awaited):
        started = time.monotonic()
        await value(ADD, queued)
        while await value(FOUND, awaited) < len(awaited):
            await asyncio.sleep(0.1)
        return time.monotonic() - started

    application.runtime.start()
    first = await seconds_for(alone, alone)
    second = await seconds_for(hostile + beside, beside)
    while await value(OPEN, hostile):
        await asyncio.sleep(0.1)
    watchdog = application.watchdog
    await application.runtime.stop(grace_seconds=1)
    await application.close()
    megabytes = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024
    print(json.dumps([first, second, watchdog.longest_cpu_seconds, megabytes]))

asyncio.run(main(*json.loads(sys.argv[1])))
"""


def answering(body: bytes, kind: str = "text/html", **headers: str) -> Route:
    async def answer(visitor: Visitor) -> None:
        await visitor.answer(body, Content_Type=kind, **headers)

    return answer


def sitemap(*paths: str) -> Route:
    listed = "".join(f"<url><loc>{path}</loc></url>" for path in paths)
    return answering(f"<urlset>{listed}</urlset>".encode(), "application/xml")


async def contact(visitor: Visitor) -> None:
    host = visitor.headers["Host"].partition(":")[0]
    await visitor.answer(f"<h1>Yhteystiedot</h1><p>info@{host}</p>".encode(), Content_Type="text/html")


async def drip(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    await visitor.forever(b"x", pause=0.2)


HOME = answering(b"<html lang=fi><title>Hammas</title><h1>Hei</h1><a href=/yhteystiedot>Yhteystiedot</a></html>")
LARGE = answering(b"<p>" + b"\xe4\xf6 \x81" * 1_200_000)
HONEST_SITE = {"/": HOME, "/sitemap.xml": sitemap("/yhteystiedot"), "/yhteystiedot": contact}
AGENTS = b"".join(b"User-agent: a%d\n" % number for number in range(3000))
RULES = b"".join(b"Disallow: /%d\n" % number for number in range(3000))
CHILDREN = "".join(f"<sitemap><loc>/sitemap-{number}.xml</loc></sitemap>" for number in range(50_000))
HOSTILE_SITES: dict[str, dict[str, Route]] = {
    "robots": {**HONEST_SITE, "/robots.txt": answering(AGENTS + RULES, "text/plain")},
    "wildcards": {
        **HONEST_SITE,
        "/robots.txt": answering(b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*a*a*b\n" * 15_000, "text/plain"),
    },
    "members": {
        "/": HOME,
        "/sitemap.xml": answering(gzip.compress(gzip.compress(b"") * 400_000), "application/xml"),
    },
    "index": {
        "/": HOME,
        "/sitemap.xml": answering(f"<sitemapindex>{CHILDREN}</sitemapindex>".encode(), "application/xml"),
    },
    "large": {
        "/": LARGE,
        "/sitemap.xml": sitemap(*(f"/yhteystiedot/{number}" for number in range(5))),
        **{f"/yhteystiedot/{number}": LARGE for number in range(5)},
    },
    "attributes": {"/": answering(b"<p " + b"".join(b"a%d=1 " % number for number in range(100_000)) + b">")},
    "nesting": {"/": answering(b"<div>" * 200_000)},
    "drip": {"/robots.txt": drip},
    "bomb": {"/": answering(gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip")},
}


async def test_honest_sites_are_done_beside_hostile_ones(database_url: str, admin: Any, tenant: Any) -> None:
    alone, beside = ([f"{word}{number}.fi" for number in range(HONEST)] for word in ("alone", "beside"))
    hostile = [f"hostile-{kind}.fi" for kind in HOSTILE_SITES]
    async with AsyncExitStack() as stack:
        honest_web = await stack.enter_async_context(OddWeb(routes=HONEST_SITE))
        places = dict.fromkeys([*alone, *beside], honest_web.place)
        for name, routes in zip(hostile, HOSTILE_SITES.values(), strict=True):
            places[name] = (await stack.enter_async_context(OddWeb(routes=routes))).place
        await admin.executemany(
            "INSERT INTO domain (tenant_id, name, start_url, country) VALUES ($1, $2, $3, 'FI')",
            [(tenant, name, f"http://{name}/") for name in places],
        )
        environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": ",".join(sorted(set(places.values()))),
            "CRAWL_HOST_OVERRIDES": ",".join(f"{name}={place}" for name, place in places.items()),
            "CRAWL_HOST_DELAY_SECONDS": "0",
            "CRAWL_FETCH_TIMEOUT_SECONDS": "3",
            "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
            "DOMAIN_SCHEDULER_MAX_ATTEMPTS": "1",
            "DOMAIN_SITEMAP_SCHEDULER_MAX_ATTEMPTS": "1",
            "SCRAPERSKY_LOG_LEVEL": "warning",
        }
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WORKER, json.dumps([alone, beside, hostile])),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await worker.communicate()

    assert worker.returncode == 0, errors.decode()[-3000:]
    print(output.decode())  # the lines of the watchdog
    seconds_alone, seconds_beside, block_seconds, megabytes = json.loads(output.decode().splitlines()[-1])
    assert seconds_beside < 2 * seconds_alone + SLACK_SECONDS
    assert block_seconds < MAX_BLOCK_SECONDS, errors.decode()[-3000:]
    assert megabytes < MAX_WORKER_MEGABYTES
