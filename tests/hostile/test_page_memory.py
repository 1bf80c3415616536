"""Fifty hostile pages of 5 MB at once: the worker stays small, for pages wait until there is memory for them."""

import asyncio
import os
import sys

from tests.hostile.odd_web import OddWeb, Route, Visitor

PAGES = 50
SIZE = 4_900_000
MAX_WORKER_MEGABYTES = 350

# The worker's part of the step alone: fetch and parse each page, all at once, as the engine does.
WORKER = f"""
import asyncio, sys
from uuid import uuid4
from scrapersky.crawl.http import byte_budget
from scrapersky.core.settings import Environment, load
from scrapersky.crawl.web import Web
from scrapersky.workflows.page_curation import PageCuration, PageToRead

byte_budget.WAIT_SECONDS = 1.0  # most pages find no room; the engine tries them again later

async def main(paths):
    web = Web(load(Environment()))
    work = PageCuration(web).work
    urls = ["http://site%d.example%s" % (number, paths[number % len(paths)]) for number in range({PAGES})]
    pages = [PageToRead(uuid4(), uuid4(), url, kind=None, country=None, etag=None) for url in urls]
    results = await asyncio.gather(*map(work, pages), return_exceptions=True)
    await web.close()
    kinds = sorted(set(type(result).__name__ for result in results))
    peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024
    print(peak, len(results), ",".join(kinds))

asyncio.run(main(sys.argv[1:]))
"""

BODIES: dict[str, bytes] = {
    "/unknown-encoding": b"<p>" + b"\xe4\xf6 \x81" * (SIZE // 4),
    "/wide-characters": b"\xff\xfe" + "<p>\U0001f600 ".encode("utf-16-le") * (SIZE // 12),
}


def page(body: bytes) -> Route:
    async def answer(visitor: Visitor) -> None:
        await visitor.answer(body, Content_Type="text/html")

    return answer


async def test_the_worker_stays_small_while_many_large_pages_arrive() -> None:
    async with OddWeb(routes={path: page(body) for path, body in BODIES.items()}) as web:
        environment = {
            **os.environ,
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": web.place,
            "CRAWL_HOST_OVERRIDES": f"*={web.place}",
            "SCRAPERSKY_LOG_LEVEL": "error",
        }
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WORKER, *BODIES, env=environment, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await worker.communicate()

    megabytes, results, kinds = output.decode().split()[-3:]
    assert int(results) == PAGES
    assert set(kinds.split(",")) <= {"PageRead", "TooSoon"}
    assert "PageRead" in kinds
    assert int(megabytes) < MAX_WORKER_MEGABYTES
