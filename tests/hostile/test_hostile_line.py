"""One hostile site of each kind beside nine honest ones, through the whole line of one worker process."""

import asyncio
import gzip
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from tests.hostile.odd_web import OddWeb, Route, Visitor

HONEST = 9
MAX_WORKER_MEGABYTES = 350
MAX_BLOCK_SECONDS = 0.25  # of processor time, for which a busy machine is not to blame
PATIENCE_SECONDS = "60"  # of a probe: an answer that never comes is a failure
UNENDING = "endless"  # the hostile site that is never done

# Logs the port of its probes, processes honest sites alone, prints that it is warm, and waits for a line. Then queues
# honest sites behind the hostile ones. When the honest ones are done it counts the hostile ones that are not, and
# waits for those that have an end. Prints how long the honest sites took alone and beside the others, the number of
# unfinished ones, the longest block of the loop and the memory; runs until its standard input ends.
WORKER = """
import asyncio, json, sys, time
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.worker_http import serve_health

OPEN = "SELECT count(*) FROM domain WHERE name = ANY($1) AND (domain_metadata_status IN ('Queued', 'Processing') " \\
    "OR sitemap_analysis_status IN ('Queued', 'Processing'))"
FOUND = "SELECT count(DISTINCT d.name) FROM contact c JOIN domain d ON d.id = c.domain_id WHERE d.name = ANY($1)"
ADD = "UPDATE domain SET domain_metadata_status = 'Queued' WHERE name = ANY($1)"

async def main(alone, beside, hostile, ending):
    application = await open_application(Environment())

    async def value(sql, *values):
        async with application.database.engine_connection() as connection:
            return await connection.fetchval(sql, *values)

    async def done(names):
        started = time.monotonic()
        while await value(FOUND, names) < len(names):
            await asyncio.sleep(0.05)
        return round(time.monotonic() - started, 1)

    async with serve_health(application):
        application.runtime.start()
        await value(ADD, alone)
        seconds = [await done(alone)]
        print("warm", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        application.watchdog.longest_cpu_seconds = 0.0  # modules and word lists are loaded
        await value(ADD, hostile + beside)
        seconds.append(await done(beside))
        unfinished = await value(OPEN, hostile)
        while await value(OPEN, ending):
            await asyncio.sleep(0.1)
        megabytes = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024
        print(json.dumps([seconds, unfinished, application.watchdog.longest_cpu_seconds, megabytes]), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await application.runtime.stop(grace_seconds=1)
    await application.close()

asyncio.run(main(*json.loads(sys.argv[1])))
"""

# Asks /health/live of a worker, in a process of its own, until its standard input ends. Prints that it has an answer;
# at the end the number of answers, and the most processor time that the loop used between a question and its answer.
POLLER = """
import http.client, json, select, sys

def used():
    return int(open(f"/proc/{worker}/schedstat").read().split()[0]) / 1e9

worker, port, patience = sys.argv[1:]
probe, answers, longest = http.client.HTTPConnection("127.0.0.1", int(port), timeout=float(patience)), 0, 0.0
while not select.select([sys.stdin], [], [], 0.01)[0]:
    before = used()
    probe.request("GET", "/health/live")
    answer = probe.getresponse()
    assert answer.status == 200 and b"alive" in answer.read()
    answers, longest = answers + 1, max(longest, used() - before)
    if answers == 1:
        print("answered", flush=True)
print(json.dumps([answers, longest]))
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


def hostile_sites() -> dict[str, dict[str, Route]]:
    """Build the hostile sites, some of which are large."""
    return {
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
        UNENDING: {"/": drip},
        "bomb": {"/": answering(gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip")},
    }


def environment(database_url: str, places: dict[str, str]) -> dict[str, str]:
    """Return the environment of a worker that reaches each name at its place."""
    return {
        **os.environ,
        "DATABASE_URL": database_url,
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": ",".join(sorted(set(places.values()))),
        "CRAWL_HOST_OVERRIDES": ",".join(f"{name}={place}" for name, place in places.items()),
        "CRAWL_HOST_DELAY_SECONDS": "0",
        "CRAWL_FETCH_TIMEOUT_SECONDS": "120",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
        "DOMAIN_SCHEDULER_MAX_ATTEMPTS": "1",
        "DOMAIN_SITEMAP_SCHEDULER_MAX_ATTEMPTS": "1",
        "SCRAPERSKY_WORKER_PORT": "0",
    }


async def start(script: str, *arguments: str, env: dict[str, str] | None = None) -> asyncio.subprocess.Process:
    """Start a script of Python in a process of its own."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, *arguments), env=env, stdin=pipe, stdout=pipe, stderr=pipe
    )


async def line_of(process: asyncio.subprocess.Process, pattern: str) -> Sequence[str]:
    """Read the output up to a line with this pattern, print the warnings before it, and return its groups."""
    assert process.stdout is not None
    while line := (await process.stdout.readline()).decode():
        if found := re.search(pattern, line):
            return found.groups()
        if "warning" in line:
            print(line, end="")  # of the watchdog, too
    raise AssertionError((await process.communicate())[1].decode()[-3000:])


async def test_honest_sites_are_done_beside_hostile_ones(database_url: str, admin: Any, tenant: Any) -> None:
    alone, beside = ([f"{word}{number}.fi" for number in range(HONEST)] for word in ("alone", "beside"))
    sites = hostile_sites()
    hostile = {kind: f"hostile-{kind}.fi" for kind in sites}
    ending = [name for kind, name in hostile.items() if kind != UNENDING]
    webs = {name: OddWeb(routes=sites[kind]) for kind, name in hostile.items()}
    async with AsyncExitStack() as stack:
        honest_web = await stack.enter_async_context(OddWeb(routes=HONEST_SITE))
        places = {name: (await stack.enter_async_context(web)).place for name, web in webs.items()}
        # Younger than the hostile ones: they are claimed after them.
        places |= dict.fromkeys([*alone, *beside], honest_web.place)
        await admin.executemany(
            "INSERT INTO domain (tenant_id, name, start_url, country) VALUES ($1, $2, $3, 'FI')",
            [(tenant, name, f"http://{name}/") for name in places],
        )
        given = json.dumps([alone, beside, list(hostile.values()), ending])
        worker = await start(WORKER, given, env=environment(database_url, places))
        assert worker.stdin is not None
        [port] = await line_of(worker, r"worker_http_started.*port=([0-9]+)")
        await line_of(worker, "^(warm)")
        poller = await start(POLLER, str(worker.pid), port, PATIENCE_SECONDS)
        await line_of(poller, "^(answered)")
        worker.stdin.write(b"\n")
        [figures] = await line_of(worker, r"^(\[\[.*)")
        answered, poller_errors = await poller.communicate(b"")
        _, errors = await worker.communicate(b"")

    print(figures, answered.decode())
    assert poller.returncode == 0, poller_errors.decode()
    assert worker.returncode == 0, errors.decode()[-3000:]
    _, unfinished, block_seconds, megabytes = json.loads(figures)
    answers, used_seconds = json.loads(answered)
    assert all(web.hits for web in webs.values())
    assert unfinished  # the honest sites have waited for none that has no end
    assert block_seconds < MAX_BLOCK_SECONDS
    assert answers > 1
    assert used_seconds < MAX_BLOCK_SECONDS
    assert megabytes < MAX_WORKER_MEGABYTES
