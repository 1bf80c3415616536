"""Our side: the crawler with robots.txt, permits and guard on, the parser pool, and COPY into PostgreSQL."""

import asyncio
import json
import resource
import sys
import time
from datetime import timedelta

import asyncpg
import psutil
import structlog
import uvloop

from scrapersky.crawl.crawler import Crawler
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.politeness.host_limits import HostPolicy, InProcessHostLimits
from scrapersky.crawl.politeness.robots import Robots
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.parser_pool.pool import ParserPool

AT_ONCE = 64


async def work(site: str, database: str, mode: str, first: int, last: int, children: int) -> dict[str, float]:
    """Fetch, extract and store this range of pages."""
    numbers = iter(range(first, last))
    totals = {"pages": 0, "bytes": 0, "rows": 0}
    rows: list[tuple[str, str, str]] = []
    contacts = mode == "contacts"
    store = await asyncpg.connect(database) if contacts else None
    pool = ParserPool(children, preload=("scrapersky.extract.contacts",)) if contacts else None
    guard = SsrfGuard(allowance=Allowance([site.removeprefix("http://")]))
    async with Client(guard) as client:
        limits = InProcessHostLimits(HostPolicy(slots=AT_ONCE * 2, delay=timedelta(0)))
        crawler = Crawler(client, limits, Robots(client), delay=timedelta(0))
        if pool is not None:
            await pool.__aenter__()
        begin, begin_cpu = time.perf_counter(), cpu_seconds()

        async def one_after_the_other() -> None:
            for number in numbers:
                page = await crawler.fetch(f"{site}/page/{number % 40}?{number}")
                totals["pages"] += 1
                totals["bytes"] += len(page.text)
                if pool is not None:
                    found = await pool.run(read_contacts, page.text, url=page.final_url, region="FI")
                    rows.extend((page.final_url, "email", email.address) for email in found.emails)
                    rows.extend((page.final_url, "phone", phone.number) for phone in found.phones)
                    rows.extend((page.final_url, "social", social.url) for social in found.socials)
                    rows.extend((page.final_url, "person", person.name) for person in found.people)
                if totals["pages"] % 100 == 0:
                    await flush()

        async def flush() -> None:
            batch = rows[:]
            rows.clear()
            totals["rows"] += len(batch)
            if store is not None and batch:
                async with writing:
                    await store.copy_records_to_table("found", records=batch)

        writing = asyncio.Lock()
        await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))
        await flush()
        seconds, cpu = time.perf_counter() - begin, cpu_seconds() - begin_cpu
        if pool is not None:
            await pool.close()
    if store is not None:
        await store.close()
    return {**totals, "seconds": seconds, "cpu": cpu}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children."""
    everyone = (psutil.Process(), *psutil.Process().children(recursive=True))
    return sum(sum(process.cpu_times()[:2]) for process in everyone)


def main() -> None:
    """Run and report; the memory is that of the worker and of all its children at their largest."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    site, database, mode, first, last, children = sys.argv[1:]
    totals = uvloop.run(work(site, database, mode, int(first), int(last), int(children)))
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    rss = usages[0].ru_maxrss / 1024 + int(children) * usages[1].ru_maxrss / 1024
    print(json.dumps(totals | {"rss": rss}))


if __name__ == "__main__":
    main()
