"""Grids in a browser: scrolled without end, decided by keyboard, filtered while typing; palette and map."""

import re

import asyncpg
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import SCOPE, OpenTab, Site
from tests.browser.test_screens import violations

ROWS = 2_000  # forty pages; `make bench-console` has a million
FILL = """INSERT INTO page (tenant_id, domain_id, url, kind, updated_at)
SELECT d.tenant_id, d.id, 'https://endless.example/' || lpad(n::text, 5, '0'), 'blog', now() + n * interval '1 second'
FROM generate_series(1, $2::int) n, domain d WHERE d.id = $1::uuid"""


@pytest_asyncio.fixture(scope=SCOPE, loop_scope=SCOPE)
async def many_pages(site: Site, server):
    """Many pages of one web site, for as long as these tests run; its address in the list of pages."""
    connection = await asyncpg.connect(server.url("browser"))
    await connection.execute(FILL, site.ids["domains"], ROWS)
    yield site.path("/pages?text=https%3A%2F%2Fendless.example")
    await connection.execute("DELETE FROM page WHERE url LIKE 'https://endless.example/%'")
    await connection.close()


async def scroll(page: Page, top: int) -> None:
    await page.locator("[data-endless]").evaluate("(region, top) => region.scrollTop = top", top)


async def settled_place(page: Page) -> tuple[str, str]:
    """Return the row at the top and the address of the list, once both have stayed the same for a second."""
    await page.locator("[data-endless]").dispatch_event("scroll")  # what a layout has moved is told as well
    found = await page.wait_for_function(
        """() => { const region = document.querySelector('[data-endless]');
        const top = region.getBoundingClientRect().top + region.querySelector('thead').getBoundingClientRect().height;
        const rows = [...region.querySelectorAll('tbody:not(.spacer) tr')];
        const first = rows.find(row => row.getBoundingClientRect().bottom > top + 1);
        const link = first?.querySelector('[data-open]').getAttribute('href');
        if (!link || link !== history.state?.row) { globalThis.place = null; return false; }
        const key = `${link} ${location.href}`;
        if (globalThis.place?.key !== key) globalThis.place = { key, since: performance.now() };
        return performance.now() - globalThis.place.since > 1000 && [link, location.href]; }""",
        timeout=180_000,
    )
    row, address = await found.json_value()
    return str(row), str(address)


async def test_thousands_of_rows_scroll_within_bounds_and_back_finds_the_same_place(tab: OpenTab, many_pages: str):
    page = await tab("curator")
    await page.goto(many_pages)
    for _ in range(80):
        await scroll(page, 10**9)
        await page.wait_for_function(
            "() => { const all = [...document.querySelectorAll('tbody')]; const last = all[all.length - 1];"
            " return !last.dataset.next || last !== globalThis.seenLast && (globalThis.seenLast = last); }",
            timeout=180_000,
        )
        if not await page.locator("tbody").last.get_attribute("data-next"):
            break
    assert await page.locator("tr").count() <= 800
    await expect(page.locator("[data-range]")).to_have_text(re.compile(r"1,[89]\d\d–2,000|1,901–1,950"))
    rows = await page.locator("tbody:not(.spacer)").count()
    assert rows <= 6
    middle = await page.locator("[data-endless]").evaluate("region => Math.round(region.scrollHeight / 2)")
    await scroll(page, middle)
    await expect(page.locator("tbody.spacer ~ tbody:not(.spacer)").first).to_be_visible()
    await page.wait_for_function("() => location.search.includes('at=') && history.state?.row")
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    selected = await page.locator("[data-selected]").text_content()
    await page.locator("tr:has(:focus) [data-open]").click()
    await expect(page.locator("#panel .row-title")).to_be_visible()
    before = await settled_place(page)
    await page.locator("#panel >> text=Whole page").click()
    await page.wait_for_url(re.compile("/pages/[0-9a-f-]{36}$"))
    await page.go_back()
    await expect(page.locator("#panel .row-title")).to_be_visible()
    assert await settled_place(page) == before
    await page.keyboard.press("Escape")
    await expect(page.locator("#panel")).to_be_hidden()
    assert await page.locator("[data-selected]").text_content() == selected == "1 selected:"
    assert await page.locator("tr").count() <= 800


async def test_rows_are_selected_decided_and_restored_by_keyboard(tab: OpenTab, many_pages: str):
    page = await tab("curator")
    await page.goto(many_pages + "&sort=updated_at")
    for key in ("j", "j", "x", "j", "j", "X"):
        await page.keyboard.press(key)
    await expect(page.locator("[data-selected]")).to_have_text("3 selected:")
    await page.keyboard.press("m")
    await expect(page.locator(".toast")).to_contain_text("3 pages: Maybe.")
    await expect(page.locator("td:has([class^=curation]):has-text('Maybe')")).to_have_count(3)
    await page.keyboard.press("u")
    await expect(page.locator(".toast")).to_contain_text("Restored 3 rows.")
    await expect(page.locator("td:has([class^=curation]):has-text('Maybe')")).to_have_count(0)
    focused = page.locator("tr:has([data-open]:focus)")
    await page.keyboard.press("n")  # nothing is selected: the row with the focus
    await expect(focused.locator("td:has([class^=curation])")).to_contain_text("Not a Fit")
    await page.keyboard.press("u")
    await expect(page.locator(".toast")).to_contain_text("Restored 1 row.")


@pytest.mark.parametrize("noun", ["places", "businesses", "domains", "sitemaps", "pages", "contacts"])
async def test_a_grid_fits_its_window(tab: OpenTab, site: Site, noun: str):
    page = await tab("curator", width=1280)
    await page.goto(site.path(f"/{noun}"))
    assert (
        await page.evaluate(
            """() => { const box = document.querySelector('.grid-form > .scroll').getBoundingClientRect();
        const heads = [...document.querySelectorAll('.grid-form thead th')];
        return heads.filter(one => one.getBoundingClientRect().right > box.right + 1).map(one => one.textContent); }"""
        )
        == []
    )
    for height in (500, 800, 1100):  # the rows scroll, not the page
        await page.set_viewport_size({"width": 1280, "height": height})
        root = await page.evaluate(
            "[document.documentElement.scrollHeight, document.querySelector('.foot').getBoundingClientRect().bottom]"
        )
        assert root[0] <= height
        assert root[1] <= height
    assert [one.strip() for one in await page.locator("thead th").all_text_contents()][2] == "decision"


async def test_contacts_open_as_people_and_mailboxes(tab: OpenTab, site: Site):
    page = await tab("curator", width=1000)
    await page.goto(site.path("/line"))
    await page.locator(".rail >> text=Contacts").click()
    await expect(page.locator(".chip")).to_contain_text("people and mailboxes")
    people = await page.locator("#count").inner_text()
    assert await page.locator("tbody th a", has_text=re.compile(r"^(https?:|\+\d)")).count() == 0
    await expect(page.locator("tbody th .why").first).to_be_visible()  # the position
    region = page.locator(".grid-form > .scroll")
    await region.evaluate("one => one.scrollLeft = 10_000")  # name and decision stay where they are
    left = await region.evaluate("one => one.getBoundingClientRect().left")
    for cell in ("tbody th", "tbody td.curation", "thead .head", "thead .curation"):
        box = await page.locator(cell).first.bounding_box()
        assert box
        assert left <= box["x"] < left + 260, cell
    await page.locator(".chip .drop").click()
    await expect(page.locator(".chip")).to_have_count(0)
    assert await page.locator("#count").inner_text() != people


async def test_a_toast_covers_no_button_and_is_said_once(tab: OpenTab, many_pages: str):
    page = await tab("curator", width=1280)
    await page.goto(many_pages + "&sort=updated_at")
    for key in ("j", "x", "m"):
        await page.keyboard.press(key)
    await expect(page.locator(".toast")).to_contain_text("1 page: Maybe.")
    await expect(page.locator("#status")).to_have_text("1 page: Maybe.")
    toast = await page.locator(".toast").bounding_box()
    status = await page.locator("#status").bounding_box()
    assert toast
    assert status
    assert status["width"] <= 1  # for assistive technology alone
    for button in await page.locator(".foot button:visible").all():
        box = await button.bounding_box()
        assert box
        assert toast["y"] + toast["height"] <= box["y"], await button.inner_text()
    assert not await violations(page)
    await page.keyboard.press("u")
    await expect(page.locator(".toast")).to_contain_text("Restored 1 row.")
    await page.locator("[data-close-toast]").click()
    await expect(page.locator(".toast")).to_have_count(0)


async def test_the_open_row_is_walked_with_j_and_k_and_decided(tab: OpenTab, many_pages: str):
    page = await tab("curator")
    await page.goto(many_pages + "&sort=updated_at")
    for key in ("j", "j", "Enter"):
        await page.keyboard.press(key)
    title = page.locator("#panel .row-title")
    names = await page.locator("tbody [data-open]").all_text_contents()
    await expect(title).to_have_text(f"https://{names[1]}")  # the list leaves the scheme out
    await page.keyboard.press("j")
    await expect(title).to_have_text(f"https://{names[2]}")
    await page.keyboard.press("k")
    await expect(title).to_have_text(f"https://{names[1]}")
    assert "open=" in page.url
    await page.keyboard.press("a")
    await expect(page.locator("#panel [aria-pressed=true]")).to_contain_text("Archived")
    await page.keyboard.press("u")
    await expect(page.locator("#panel [aria-pressed=true]")).to_contain_text("New")
    await page.go_back()
    await expect(page.locator("#panel")).to_be_hidden()


async def test_all_that_match_are_asked_about_with_single_rows_taken_out(tab: OpenTab, many_pages: str):
    page = await tab("curator")
    await page.goto(many_pages.replace("endless.example", "endless.example%2F0001"))
    await expect(page.locator("#count")).to_contain_text("of 10")
    await page.goto(many_pages.replace("endless.example", "endless.example%2F001"))
    await expect(page.locator("#count")).to_contain_text("of 100")
    await page.locator("thead input").check()
    await page.locator("[data-all]").click()
    await expect(page.locator("[data-selected]")).to_have_text("100 selected:")
    await page.locator("tbody input[name=id]").nth(3).uncheck()
    await expect(page.locator("[data-selected]")).to_have_text("99 selected:")
    await page.keyboard.press("s")
    dialog = page.locator("dialog[open]")
    await expect(dialog).to_contain_text("Decide about 99 pages")
    await expect(dialog).to_contain_text("queues 99 for pages")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_typing_filters_and_menus_choose(tab: OpenTab, many_pages: str):
    page = await tab("viewer")
    await page.goto(many_pages)
    await page.locator("[data-typed] input[type=search]").fill("https://endless.example/0000")
    await expect(page.locator("#count")).to_contain_text("1–9 of 9")
    assert await page.evaluate("document.activeElement.value") == "https://endless.example/0000"
    await page.locator("a[data-key=f]").click()
    await page.locator("#menu >> text=kind").click()
    await page.locator("#menu a:has-text('blog')").click()
    await expect(page.locator(".chip")).to_contain_text("kind")
    await expect(page.locator("#count")).to_contain_text("of 9")
    await page.locator(".chip .drop").click()
    await expect(page.locator(".chip")).to_have_count(0)


async def test_the_palette_goes_and_finds(tab: OpenTab, site: Site):
    page = await tab("curator")
    await page.goto(site.path("/line"))
    await page.keyboard.press("Control+k")
    await page.keyboard.type("contacts")
    await expect(page.locator("[role=option][aria-selected=true]")).to_contain_text("Contacts")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/console/contacts?*")
    name = await page.locator("tbody [data-open]").first.text_content() or ""
    await page.keyboard.press("Control+k")
    await page.keyboard.type(name[:12].lower())
    await expect(page.locator("[role=option]").first).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type(name[:12])
    await page.keyboard.press("Enter")
    await expect(page.locator("main .found-rows a").first).to_be_visible()


async def test_a_box_drawn_on_the_map_becomes_a_filter(tab: OpenTab, site: Site):
    page = await tab("viewer")
    await page.goto(site.path("/map"))
    await expect(page.locator("svg circle").first).to_be_visible()
    area = await page.locator(".map svg").bounding_box()
    assert area
    await page.keyboard.down("Shift")
    await page.mouse.move(area["x"] + 80, area["y"] + 130)
    await page.mouse.down()
    await page.mouse.move(area["x"] + area["width"] - 60, area["y"] + area["height"] - 60, steps=4)
    await page.mouse.up()
    await page.keyboard.up("Shift")
    await page.wait_for_url(re.compile("box="))
    await expect(page.locator("rect.box")).to_be_visible()
    counted = re.search(r"([\d,]+) places in the box", await page.locator(".count").inner_text())
    assert counted
    await page.locator("text=The list of these places").click()
    await expect(page.locator("#count")).to_contain_text(f"of {counted[1]}")


async def test_copied_cells_run_as_no_formula(tab: OpenTab, site: Site):
    page = await tab("viewer")
    await page.goto(site.path("/contacts"))
    copied = await page.evaluate(
        """() => { const cell = document.querySelector('tbody td'); cell.textContent = '=HYPERLINK("x")';
        getSelection().selectAllChildren(cell.closest('tr'));
        const data = new DataTransfer();
        document.dispatchEvent(new ClipboardEvent('copy', {clipboardData: data, bubbles: true}));
        return data.getData('text/plain'); }"""
    )
    assert "\t'=HYPERLINK" in copied


@pytest.mark.parametrize("width", [320, 1280])
async def test_a_grid_works_without_javascript(tab: OpenTab, many_pages: str, width: int):
    page = await tab("curator", javascript=False, width=width)
    await page.goto(many_pages + "&sort=updated_at")
    await page.locator("[rel=next]").click()
    await expect(page.locator("#count")).to_contain_text("51–100")
    await page.goto(many_pages + "&menu=kind")
    await page.locator("#menu a:has-text('blog')").click()
    await expect(page.locator(".chip").last).to_contain_text("blog")
    filtered, row = page.url, page.locator("tbody [data-open]").first
    name, key = await row.inner_text(), (await row.get_attribute("href") or "").rpartition("/")[2]
    await row.click()  # leads to the page of the row; a script opens it beside the list instead
    await page.wait_for_url(f"**/console/pages/{key}")
    await expect(page.locator("main .row-title")).to_have_text(f"https://{name}")  # the list leaves the scheme out
    await page.goto(f"{filtered}&open={key}")
    await expect(page.locator("#panel .row-title")).to_have_text(f"https://{name}")
