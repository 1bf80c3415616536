"""Every screen: no violation that axe finds, in both themes, and no sideways scrolling on a phone."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import asyncpg
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect

from scrapersky.asgi import create_app
from tests.browser.conftest import OpenTab, Site, client_of, serving
from tests.browser.screens import SCREENS, Screen
from tests.factories.api_application import environment
from tests.factories.console_browser import create_person, log_in
from tests.factories.line_rows import NOUNS

TABS = 2  # that are checked at the same time
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """([only, without]) => axe.run({exclude: without ? [without] : []}, {resultTypes: ["violations"], runOnly: only})
    .then(found => found.violations.flatMap(one => one.nodes.slice(0, 3).map(
        node => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`)))"""
SHELL = ".top, .rail, .bar-nav"  # the same on each screen of a person: it is checked on the first one
# Rows of one list are alike: a few of them have every violation, and axe takes seconds for fifty.
WITHOUT_LIKES = "document.querySelectorAll('tbody > tr:nth-child(n+4)').forEach(row => row.remove())"


async def violations(page: Page, without: str = "") -> list[str]:
    """Return what axe finds on the page as it is, in both themes: rule, element, cure; `without` a part, if given."""
    await page.evaluate(AXE_SCRIPT)
    await page.evaluate(WITHOUT_LIKES)
    await page.emulate_media(color_scheme="light")
    found: list[str] = await page.evaluate(RUN, [{"type": "tag", "values": TAGS}, without])
    await page.emulate_media(color_scheme="dark")  # nothing but colours depends on the theme
    dark = await page.evaluate(RUN, [{"type": "rule", "values": ["color-contrast"]}, without])
    return found + [f"dark: {one}" for one in dark]


async def visit(
    tab: OpenTab, site: Site, width: int, screens: Sequence[Screen] = SCREENS
) -> AsyncIterator[tuple[Screen, Page]]:
    """Yield the screens as they are shown in a window of this width, each with its menu open if it has one."""
    pages: dict[str, Page] = {}
    for screen in screens:
        if screen.role not in pages:
            pages[screen.role] = await tab(screen.role, width=width)
        page = pages[screen.role]
        await page.goto(site.path(screen.path))
        if screen.click:
            await page.locator(screen.click).first.click()
        yield screen, page


async def wrong_with(page: Page) -> list[str]:
    """Return what axe finds on the page as it is, and whether it is too wide for a phone."""
    found = await violations(page)
    await page.set_viewport_size({"width": 320, "height": 640})
    return [*found, *await too_wide(page)]


async def too_wide(page: Page) -> list[str]:
    """Return how wide the page is if that is more than a phone shows."""
    width = await page.evaluate("document.documentElement.scrollWidth")
    return [f"{width} px wide"] if width > 320 else []


async def test_no_screen_has_an_accessibility_violation_in_light_or_dark_or_scrolls_sideways_on_a_phone(tab, site):
    async def check(screens: Sequence[Screen]) -> list[str]:
        wrong, known = [], set()
        async for screen, page in visit(tab, site, 1280, screens):
            is_new = screen.role not in known or screen.click.startswith(".top")
            known.add(screen.role)
            if not has_menu(screen):
                await page.set_viewport_size({"width": 320, "height": 800})
                wrong += [f"{screen}: {one}" for one in await too_wide(page)]
                await page.set_viewport_size({"width": 1280, "height": 800})
            wrong += [f"{screen}: {one}" for one in await violations(page, "" if is_new else SHELL)]
        return wrong

    in_tabs = await asyncio.gather(*(check(SCREENS[first::TABS]) for first in range(TABS)))
    found = [one for each in in_tabs for one in each]
    assert not found, "\n".join(found)


def has_menu(screen: Screen) -> bool:
    """Whether a menu is open, whose place depends on the width of the window in which it was opened."""
    return bool(screen.click) or "menu=" in screen.path


async def test_no_open_menu_makes_a_phone_scroll_sideways(tab, site):
    seen = visit(tab, site, 320, [screen for screen in SCREENS if has_menu(screen)])
    wide = [f"{screen}: {one}" async for screen, page in seen for one in await too_wide(page)]
    assert not wide, "\n".join(wide)


@pytest.mark.parametrize("width", [1280, 1600])
async def test_no_table_of_a_row_is_wider_than_its_place(tab, site, width):
    rows = [one for one in SCREENS if one.path in {f"/{noun}/{{{noun}}}" for noun in NOUNS}]
    cut = "[...document.querySelectorAll('.row-page .scroll')].filter(one => one.scrollWidth > one.clientWidth).length"
    wide = [screen.path async for screen, page in visit(tab, site, width, rows) if await page.evaluate(cut)]
    assert len(rows) == len(NOUNS)
    assert not wide


@pytest.mark.parametrize("javascript", [True, False])
async def test_every_page_is_two_taps_away_on_a_phone(tab, site, javascript):
    page = await tab("admin", width=320, javascript=javascript)
    await page.goto(site.path("/audit"))
    bar = page.locator(".bar-nav")
    for entry in await bar.locator("> *").all():
        box = await entry.bounding_box()
        assert box
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 320
    assert await bar.locator("> a").count() == 5
    await expect(bar.locator("[aria-current=page]")).to_have_text("Audit")
    await expect(page.locator(".rail")).to_be_hidden()
    await bar.locator("text=More").click()
    await expect(page.locator(".rail a").last).to_be_visible()
    assert await page.locator(".rail a").count() >= 20
    await page.locator(".rail >> text=Jobs").click()
    await page.wait_for_url("**/console/jobs")
    await expect(bar.locator("[aria-current=page]")).to_have_text("Jobs")


async def test_the_words_of_the_map_can_be_read_on_a_phone(tab, site):
    page = await tab("viewer", width=320)
    await page.goto(site.path("/map"))
    heights = await page.evaluate(
        "[...document.querySelectorAll('.map text')]"
        ".map(one => one.getScreenCTM().a * parseFloat(getComputedStyle(one).fontSize))"
    )
    assert heights
    assert min(heights) >= 10


async def test_the_decisions_of_a_phone_leave_room_for_the_rows(tab, site):
    page = await tab("curator", width=320)
    await page.goto(site.path("/contacts"))
    await page.locator("tbody input").first.check()
    foot = await page.locator(".foot").bounding_box()
    assert foot
    assert foot["height"] <= 80


@pytest.mark.parametrize(
    ("path", "click", "keys", "shown"),
    [
        ("/line", "", ["?"], "dialog[open] dl.keys"),
        ("/line", "", ["Control+k", "h", "a", "m"], "dialog.palette [role=option] .muted:not(:empty)"),
        ("/contacts", "[data-all]", ["s"], "dialog.ask[open] h1"),
    ],
)
async def test_dialogs_are_accessible_and_fit_a_phone(tab, site, path, click, keys, shown):
    page = await tab("curator")
    await page.goto(site.path(path))
    if click:
        await page.locator(click).click()
    for key in keys:
        await page.keyboard.press(key)
    await expect(page.locator(shown).first).to_be_visible()
    assert not await wrong_with(page)


async def test_a_toast_and_a_conflict_are_accessible_and_fit_a_phone(tab, site):
    page = await tab("curator", width=320)
    await page.goto(site.path("/places"))
    await page.locator("tbody input").first.check()
    await page.locator("button[value=Maybe]").click()
    undo = page.locator(".toast form[data-undo]")
    await expect(undo).to_be_visible()
    path = await undo.get_attribute("action")
    assert not await wrong_with(page)
    await undo.locator("button").click()
    await expect(page.locator(".toast")).to_contain_text("Restored 1 row.")
    await page.evaluate(
        "path => { const form = document.createElement('form'); form.method = 'post'; form.action = path;"
        " document.body.append(form); form.submit(); }",
        path,
    )
    await expect(page.locator(".code")).to_have_text("409")
    assert not await wrong_with(page)


async def test_alarms_are_accessible_and_fit_a_phone(tab, site, server):
    connection = await asyncpg.connect(server.url("browser"))
    # Their conditions, too: the watch of alarms resolves an alarm without one.
    await connection.execute(
        "INSERT INTO provider_cooldown (name, until, reason, failures) "
        "VALUES ('google_places', now(), '403 Forbidden', 50), ('overture', now(), '503 Service Unavailable', 50)"
    )
    await connection.execute(
        "INSERT INTO alarm (id, kind, subject, message) "
        "SELECT gen_random_uuid(), 'provider_failing', name, reason FROM provider_cooldown ON CONFLICT DO NOTHING"
    )
    page = await tab("admin")
    async with asyncio.timeout(300):
        while not await page.locator(".alarm .others").count():
            await page.goto(site.path("/jobs"))
    assert not await wrong_with(page)
    await page.locator(".alarm summary").click()
    await expect(page.locator(".alarm .others a")).to_be_in_viewport(ratio=1)
    assert not await wrong_with(page)
    await connection.execute("DELETE FROM provider_cooldown")
    await connection.execute("DELETE FROM alarm")
    await connection.close()


@pytest.mark.parametrize(
    ("status", "path"), [(404, "/contacts/00000000-0000-7000-8000-000000000000"), (422, "/contacts?verdict=zzz")]
)
async def test_error_pages_are_accessible_and_fit_a_phone(tab, site, status, path):
    page = await tab("viewer")
    answer = await page.goto(site.path(path))
    assert answer.status == status
    assert not await wrong_with(page)


EMPTY = (
    "/line",
    "/searches",
    "/searches/new",
    "/contacts",
    "/places",
    "/map",
    "/find",
    "/files",
    "/jobs",
    "/dead-letters",
    "/deliveries",
    "/destinations",
    "/schedules",
    "/people",
)


async def test_an_empty_installation_is_accessible_and_fits_a_phone(tab, site, server, template, faults):
    await server.execute(f"CREATE DATABASE empty_browser TEMPLATE {template}")
    app = create_app(environment(server.url("empty_browser")), run_engine=False)
    async with serving(app) as address:
        faults.base = address
        await create_person(app.state.application.database, "admin", "default", "ada")
        async with client_of(address) as client:
            await log_in(client, "ada")
            cookie = {"name": "scrapersky", "value": client.cookies["scrapersky"], "url": address}
        page = await tab("", url=address)
        await page.context.add_cookies([cookie])
        wrong = []
        for path in EMPTY:
            await page.set_viewport_size({"width": 1280, "height": 800})
            await page.goto(f"{address}/console{path}")
            wrong += [f"{path}: {one}" for one in await wrong_with(page)]
        await page.goto("about:blank")
    await server.execute("DROP DATABASE empty_browser WITH (FORCE)")
    assert not wrong, "\n".join(wrong)
