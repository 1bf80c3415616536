"""Hostile and endless text of crawled pages in every column of every screen, in a browser that would run it."""

from collections.abc import AsyncIterator

import asyncpg
import pytest_asyncio
from playwright.async_api import Page

from scrapersky.asgi import create_app
from scrapersky.pipeline import build_pipeline
from tests.browser.conftest import SCOPE, client_of, serving
from tests.console.test_pages import full_pages, make_hostile
from tests.factories.api_application import environment
from tests.factories.console_browser import create_person, log_in
from tests.factories.line_rows import add_line, fill_line

LONG = "W" * 300  # the widest letter, and no place to break the line
LONG_URL = f"https://{'.'.join(['w' * 60] * 4)}.example/{LONG}?{LONG}"
LONG_PAGES = (
    "/audit",
    "/find?find=www",
    f"/contacts?text={LONG}",
    "/contacts/duplicates?by=phone",
    "/dead-letters/rows",
)
WIDTHS = (320, 1280)
TOO_WIDE = """async () => {
    await new Promise(requestAnimationFrame);  // the page has noticed its new width
    return document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
        .filter(one => one.getBoundingClientRect().right > innerWidth && !one.closest(".scroll"))
        .map(one => one.outerHTML.slice(0, 120));
}"""


@pytest_asyncio.fixture(loop_scope=SCOPE)
async def line(server, template, tab, faults) -> AsyncIterator[tuple[Page, asyncpg.Connection, dict[str, str]]]:
    """A tab of an admin over a console without an engine, its database, and the ids of the rows of a line."""
    await server.execute(f"CREATE DATABASE hostile TEMPLATE {template}")
    url = server.url("hostile")
    app = create_app(environment(url), run_engine=False, pipeline=build_pipeline({}))
    async with serving(app) as address, client_of(address) as client:
        admin = await asyncpg.connect(url)
        ids = await add_line(admin, await admin.fetchval("SELECT id FROM tenant WHERE name = 'default'"))
        await create_person(app.state.application.database, "admin", "default", "ada")
        await log_in(client, "ada")
        faults.base = address
        page: Page = await tab("", url=address)
        await page.context.add_cookies([{"name": "scrapersky", "value": client.cookies["scrapersky"], "url": address}])
        yield page, admin, ids
        await page.goto("about:blank")
        await admin.close()
    await server.execute("DROP DATABASE hostile WITH (FORCE)")


async def test_no_markup_no_dialog_no_request_and_no_report_by_hostile_rows(line):
    page, admin, ids = line
    await make_hostile(admin, ids)
    for path in full_pages(ids):
        await page.goto(path.lstrip("/"))
        theirs = await page.evaluate("document.querySelectorAll('img, script:not([src]), [onerror], b').length")
        assert theirs == 0, path
        assert not await page.evaluate("[...document.links].some(one => one.protocol === 'javascript:')"), path


async def test_no_text_without_blanks_makes_a_page_wider_than_the_window(line):
    page, admin, ids = line
    await fill_line(admin, ids, LONG, LONG_URL)
    wide = []
    for path in (*full_pages(ids), *LONG_PAGES):
        await page.goto(path.lstrip("/"))
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 800})
            wide += [f"{path} at {width} px: {one}" for one in await page.evaluate(TOO_WIDE)]
    assert not wide, "\n".join(wide)
