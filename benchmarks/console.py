"""The console over a million contacts: each budget with what was measured, and MISSED where it is missed."""

import argparse
import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import asyncpg
import httpx
from rich.console import Console
from rich.table import Table
from sqlalchemy import event
from tests.browser.chromium import FLAGS, find_chromium, why_not
from tests.factories.console_browser import OWN, create_person, log_in
from tests.factories.line_rows import add, add_line

from benchmarks.api import FILL, environment, serving
from benchmarks.parts import Parts
from benchmarks.record import Figure, record
from scrapersky.asgi import create_app
from scrapersky.console.assets import assets
from scrapersky.core.database import Database
from scrapersky.core.embedded.server import EmbeddedServer
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load

ROWS = 1_000_000
GRIDS = ("", "?curation_status=Selected", "?text=name+77", "?sort=name")
WATCHERS, WATCHED_SECONDS = 50, 8.0
SCROLLED = 10_000
SCROLL_PATIENCE = 60_000  # ms, for one more page of rows
# The name of the last row and its place in the list, as soon as it is another one than before.
LAST_ROW = """before => {
    const body = [...document.querySelectorAll(".grid tbody")].at(-1);
    const name = [...body.rows].at(-1).querySelector("th")?.innerText;
    return name && name !== before && [name, Number(body.dataset.first) + body.rows.length - 1];
}"""


@dataclass
class Measured:
    """A budget and what was measured."""

    what: str
    value: float
    limit: float
    unit: str

    @property
    def is_missed(self) -> bool:
        """Whether the value is over its limit."""
        return self.value > self.limit

    def figure(self, rows: int) -> Figure:
        """Return the figure for the record."""
        return Figure(f"{self.what}, {rows:,} rows", self.value, self.unit, f"≤ {self.limit:g}", not self.is_missed)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--pages", type=int, default=40, help="of each kind of grid")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--data", type=Path, help="keep the database in this directory, and use it again")
    asked = parser.parse_args()
    parts = Parts()
    with data_directory(asked.data) as home:
        url = EmbeddedServer(home).start()
        subprocess.run([sys.executable, "-m", "scrapersky", "migrate"], env=environment(url), check=True)
        search = await prepared(url) or await prepare(url, asked.rows)
        found = sizes()
        with parts.part("pages"):
            found += await pages(url, search, asked.pages)
        if not why_not():
            with parts.part("browser"):
                found += await in_browser(url)
    table = Table("what", "measured", "at most", "")
    for one in found:
        table.add_row(one.what, f"{one.value:,g} {one.unit}", f"{one.limit:,g}", "MISSED" if one.is_missed else "")
    Console().print(table)
    if why := why_not():
        print(f"NOT MEASURED in a browser: {why}")
    record("console", [one.figure(asked.rows) for one in found])
    if asked.json:
        asked.json.write_text(json.dumps([{**asdict(one), "missed": one.is_missed} for one in found], indent=2))
    parts.end()


@contextmanager
def data_directory(kept: Path | None) -> Iterator[Path]:
    """Yield the directory of the database: the one to keep, or one that is deleted afterwards."""
    if kept is not None:
        kept.mkdir(mode=0o755, parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def prepared(url: str) -> str | None:
    """Return the path of the search if a run before this one has prepared the database."""
    owner = await asyncpg.connect(url)
    is_filled = await owner.fetchval("SELECT to_regclass('counted') IS NOT NULL")
    search = await owner.fetchval("SELECT id FROM search WHERE text <> 'bakers' LIMIT 1") if is_filled else None
    await owner.close()
    return f"/console/searches/{search}" if search else None


async def prepare(url: str, rows: int) -> str:
    """Create an admin, a million contacts, and a search that is under way; return the path of the search."""
    database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
    await create_person(database, "admin", "default", "ada")
    await database.close()
    owner = await asyncpg.connect(url)
    tenant = await owner.fetchval("SELECT id FROM tenant WHERE name = 'default'")
    for first in range(0, rows, 50_000):
        await owner.execute(FILL, tenant, first + 1, min(first + 50_000, rows))
    ids = await add_line(owner, tenant)
    late = "UPDATE search SET place_search_status = 'Queued', place_search_due_at = now() + interval '1 day'"
    await owner.execute(late)
    await add(owner, "search", tenant, text="bakers", area="Turku", provider="fake")
    await owner.execute("VACUUM (ANALYZE) contact")
    await owner.execute("CREATE TABLE counted (at timestamptz DEFAULT clock_timestamp())")
    await owner.execute(
        "CREATE FUNCTION note_count() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "$$BEGIN INSERT INTO counted DEFAULT VALUES; RETURN NULL; END$$"
    )
    await owner.execute(
        "CREATE TRIGGER note AFTER INSERT OR UPDATE ON search_progress FOR EACH ROW EXECUTE FUNCTION note_count()"
    )
    await owner.close()
    return f"/console/searches/{ids['searches']}"


def sizes() -> list[Measured]:
    """Return the sizes of style and modules."""
    found = assets().by_name
    return [
        Measured("all CSS, gzipped", len(found["console.css"].compressed) / 1000, 10, "kB"),
        Measured("all modules, gzipped", len(found["console.js"].compressed) / 1000, 25, "kB"),
    ]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[httpx.AsyncClient, Callable[[], int]]]:
    """Open the application in this process; yield a client that is logged in, and a count of its statements."""
    variables = Environment({"DATABASE_URL": url, "SCRAPERSKY_LOG_LEVEL": "error"}, None)
    configure_logs(load(variables))
    app = create_app(variables, run_engine=False)
    statements = 0

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        nonlocal statements
        statements += not statement.startswith(("SELECT set_config", "SET "))

    async with app.router.lifespan_context(app):
        event.listen(app.state.application.database.engine.sync_engine, "before_cursor_execute", note)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=OWN) as client:
            await log_in(client, "ada")
            yield client, lambda: statements


async def pages(url: str, search: str, count: int) -> list[Measured]:
    """Measure the pages of grids and the live part of a search, without a network."""
    async with opened(url) as (client, statements):
        seconds, last, cpu = [], httpx.Response(200), time.process_time()
        for query in GRIDS:
            for _ in range(count):
                began = time.perf_counter()
                last = await client.get(f"/console/contacts{query}")
                seconds.append(time.perf_counter() - began)
                assert last.status_code == 200, last.text
        cpu = (time.process_time() - cpu) / len(seconds)
        before = statements()
        await client.get("/console/contacts")
        per_page = statements() - before
        part = {"Console-Part": "progress"}
        first = await client.get(search, headers=part)
        per_answer = []
        for is_counted in (False, True):  # by another process
            await asyncio.sleep(1.5)
            if is_counted:
                await count_elsewhere(url)
            before = statements()
            counted = await client.get(search, headers=part)
            per_answer.append(statements() - before)
        before = statements()
        same = await client.get(search, headers={**part, "If-None-Match": counted.headers["etag"]})
        fresh = statements() - before
        watched = await watch(client, search, url)
    raw = len(last.content)
    return [
        Measured("grid page, server time p95", round(sorted(seconds)[int(len(seconds) * 0.95)] * 1000, 1), 150, "ms"),
        Measured("grid page, CPU of the web process", round(cpu * 1000, 1), 150, "ms"),
        Measured("grid page, HTML", raw / 1000, 50, "kB"),
        Measured("grid page, HTML gzipped", len(gzip.compress(last.content, 6)) / 1000, 9, "kB"),
        Measured("statements of a grid page", per_page, 6, ""),
        Measured("statements of a live answer", per_answer[1], 2, ""),
        Measured("statements of the one live answer a second that counts anew", per_answer[0], 12, ""),
        Measured("statements of a live answer within the same second", fresh, 0, ""),
        Measured("live answer, gzipped", len(gzip.compress(first.content, 6)) / 1000, 3, "kB"),
        Measured("status of an unchanged live answer", same.status_code, 304, ""),
        Measured(f"snapshots a second with {WATCHERS} watchers", watched, 1, ""),
    ]


async def count_elsewhere(url: str) -> None:
    """Make the snapshots of all searches new, as another web process does."""
    owner = await asyncpg.connect(url)
    await owner.execute("UPDATE search_progress SET counted_at = clock_timestamp()")
    await owner.close()


async def watch(client: httpx.AsyncClient, search: str, url: str) -> float:
    """Ask for the live part as 50 tabs do; return how many snapshots a second were counted."""
    owner = await asyncpg.connect(url)
    await owner.execute("TRUNCATE counted")
    began = time.monotonic()

    async def tab() -> None:
        while time.monotonic() - began < WATCHED_SECONDS:
            await client.get(search, headers={"Console-Part": "progress"})
            await asyncio.sleep(1)

    await asyncio.gather(*(tab() for _ in range(WATCHERS)))
    counted = await owner.fetchval("SELECT count(*) FROM counted")
    await owner.close()
    return round(counted / (time.monotonic() - began), 2)


async def in_browser(url: str) -> list[Measured]:
    """Measure what a person waits for, in a Chromium."""
    from playwright.async_api import async_playwright

    async with serving(url, SCRAPERSKY_RATE_LIMIT_PER_IP="0") as (port, _), async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        base = f"http://127.0.0.1:{port}"
        page = await browser.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await page.goto(f"{base}/console/login", wait_until="networkidle")
        first_visit = len(requests)
        await page.get_by_label("Name").fill("ada")
        await page.get_by_label("Password").fill("correct horse battery staple")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/line")
        navigations, filters = [], []
        for _ in range(10):
            began = time.perf_counter()
            await page.goto(f"{base}/console/contacts", wait_until="commit")
            await page.locator("tbody tr").first.wait_for()
            navigations.append(time.perf_counter() - began)
        requests.clear()
        await page.goto(f"{base}/console/places", wait_until="networkidle")
        later = len([one for one in requests if "/static/" not in one])
        for number in range(10):
            began = time.perf_counter()
            await page.goto(f"{base}/console/contacts?text=name+{number + 3}", wait_until="commit")
            await page.locator("tbody tr").first.wait_for()
            filters.append(time.perf_counter() - began)
        scrolled = await scroll(page, base)
        await browser.close()
    return [
        Measured("requests of a first visit", first_visit, 5, ""),
        Measured("requests of a later page", later, 1, ""),
        Measured("navigation to the first row, p50", round(median(navigations) * 1000), 400, "ms"),
        Measured("filter to new rows, p50", round(median(filters) * 1000), 300, "ms"),
        *scrolled,
    ]


async def scroll(page: Any, base: str) -> list[Measured]:
    """Scroll through 10,000 rows; measure what stays in the page."""
    await page.goto(f"{base}/console/contacts")
    session = await page.context.new_cdp_session(page)
    region, last, reached = page.locator(".grid-form .scroll"), "", 0
    while reached < SCROLLED:
        await region.evaluate("one => { one.scrollTop = one.scrollHeight; }")
        found = await page.wait_for_function(LAST_ROW, arg=last, timeout=SCROLL_PATIENCE)
        last, reached = await found.json_value()
    rows = await page.locator("tr").count()
    await session.send("HeapProfiler.collectGarbage")
    heap = (await session.send("Runtime.getHeapUsage"))["usedSize"]
    return [
        Measured(f"<tr> in the page after {SCROLLED:,} rows", rows, 800, ""),
        Measured("heap after that", round(heap / 1_000_000, 1), 40, "MB"),
    ]


if __name__ == "__main__":
    asyncio.run(main())
