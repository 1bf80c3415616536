"""Live parts: how often they ask, what they say when the server or the database is away, and that rows never jump."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from playwright.async_api import Page, Request, Route, expect

from scrapersky.asgi import create_app
from tests.browser.conftest import serving
from tests.browser.test_first_five_minutes import printed_link
from tests.browser.test_screens import wrong_with
from tests.factories.api_application import environment
from tests.factories.console_browser import PASSWORD
from tests.faults.conftest import unix_socket_of
from tests.faults.proxy import Proxy

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


class Asked:
    """The requests for parts that a page has sent."""

    def __init__(self, page: Page) -> None:
        self.count = 0
        self._more = asyncio.Event()
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if "console-part" in request.headers:
            self.count += 1
            self._more.set()

    async def again(self, times: int = 1) -> None:
        """Wait for further requests."""
        wanted = self.count + times
        async with asyncio.timeout(300):
            while self.count < wanted:
                self._more.clear()
                await self._more.wait()


async def test_a_live_part_pauses_on_demand_and_asks_nothing_in_a_hidden_tab(tab, site):
    page: Page = await tab("operator")
    asked = Asked(page)
    await page.goto(site.path("/line"))
    await asked.again(2)
    await page.evaluate(HIDE, True)
    before = asked.count
    await page.wait_for_timeout(2_500)  # two and a half times the interval
    assert asked.count <= before + 1  # one may have been under way
    await page.evaluate(HIDE, False)
    await asked.again()
    await page.keyboard.press("p")
    await expect(page.locator("#live")).to_have_text("paused")
    await page.keyboard.press("r")
    await asked.again()
    await expect(page.locator("#live")).to_have_text("live")


async def test_a_slow_or_failing_server_is_asked_once_at_a_time_and_when_it_says_so(tab, site):
    page: Page = await tab("operator")
    open_now, most = 0, 0
    fails = asyncio.Event()

    async def answer(route: Route) -> None:
        nonlocal open_now, most
        if "console-part" not in route.request.headers:
            return await route.continue_()
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(1.2)  # longer than the interval
        open_now -= 1
        if fails.is_set():
            return await route.fulfill(status=503, headers={"Retry-After": "4"})
        return await route.continue_()

    asked = Asked(page)
    await page.route("**/console/line", answer)
    await page.goto(site.path("/line"))
    await asked.again(2)
    fails.set()
    await expect(page.locator("#live")).to_have_text("away (tries again in 4 s)")
    fails.clear()
    await expect(page.locator("#live")).to_have_text("live")
    assert most == 1
    await page.unroute_all(behavior="wait")


async def test_a_lost_database_is_said_and_the_page_recovers_by_itself(tab, site, server, faults):
    proxy = Proxy(unix_socket_of(server.url("browser")))
    await proxy.start()
    url = f"postgresql://postgres@127.0.0.1:{proxy.port}/browser"
    async with serving(create_app(environment(url), run_engine=False)) as address:
        faults.base = address
        page: Page = await tab("operator", url=address)
        await page.goto(f"{address}/console/line")
        await expect(page.locator("#live")).to_have_text("live")
        await proxy.refuse()
        await expect(page.locator("#live")).to_contain_text("away (tries again in")
        other: Page = await tab("operator", url=address)
        answer = await other.goto(f"{address}/console/contacts")
        assert answer is not None
        assert answer.status == 503
        await expect(other.get_by_role("link", name="Try again")).to_be_visible()
        await expect(other.locator("main")).to_contain_text("tries again by itself")
        assert not await wrong_with(other)
        await proxy.start()
        await expect(page.locator("#live")).to_have_text("live", timeout=180_000)
        await expect(other.locator("h1")).to_have_text("Contacts", timeout=180_000)  # by itself
        for one in (page, other):
            await one.goto("about:blank")
    await proxy.close()


async def test_numbers_change_in_place_and_a_link_that_is_being_pressed_is_followed(tab, site):
    page: Page = await tab("operator")
    await page.goto(site.path("/line"))
    asked, rates = Asked(page), iter(range(1, 10_000))

    async def answer(route: Route) -> None:
        if "console-part" not in route.request.headers:
            return await route.continue_()
        text = await (await route.fetch()).text()
        body = text.replace(">place_search<", f">place_search {next(rates)}<", 1)
        return await route.fulfill(body=body.replace("<tbody>", "<tbody data-new>"), content_type="text/html")

    await page.route("**/console/line", answer)
    await page.evaluate(
        "[...document.querySelectorAll('#line a, #line td, #line table')].forEach(one => one.mine = true)"
    )
    link = page.locator("#line tbody a[data-open]").nth(3)
    name = await link.text_content()
    box = await link.bounding_box()
    assert box
    await page.mouse.move(box["x"] + 20, box["y"] + 5)
    await page.mouse.down()
    await asked.again(2)
    await expect(page.locator("#line tbody")).to_have_attribute("data-new", "")
    others = "[...document.querySelectorAll('#line a, #line td, #line table')].filter(one => !one.mine)"
    assert await page.evaluate(f"{others}.map(one => one.outerHTML)") == []
    await page.mouse.up()
    await page.wait_for_url("**/console/queues/*")
    assert name
    await expect(page.locator("h1")).to_contain_text(name.split()[-1])
    await page.unroute_all(behavior="wait")


async def test_new_rows_are_offered_and_those_that_are_shown_do_not_move(tab, site):
    page: Page = await tab("curator")
    path = site.path("/searches/{searches}")
    plain = await (await page.context.request.get(path)).text()
    progress = plain.partition('<div id="progress">')[2].partition('<nav class="tabs"')[0]

    async def answer(route: Route) -> None:
        if "console-part" in route.request.headers:  # as if the search were under way and had found 14 more
            total = int(progress.partition('data-total="')[2].partition('"')[0]) + 14
            body = progress.replace(" data-final", "", 1)
            body = body.replace('data-total="', f'data-total="{total}" data-was="', 1)
            return await route.fulfill(body=body.rpartition("</div>")[0], content_type="text/html")
        body = plain.replace('<div id="progress">', '<div id="progress" data-live="progress">')
        return await route.fulfill(body=body.replace(" data-final", "", 1), content_type="text/html")

    await page.route(f"{path}*", answer)
    await page.goto(path)
    rows = page.locator("#grid tbody tr")
    before = await rows.all_inner_texts()
    box = await rows.first.bounding_box()
    await expect(page.locator("#new-rows")).to_have_text("14 new · show")
    assert await rows.all_inner_texts() == before
    assert (await rows.first.bounding_box())["y"] - box["y"] < 1  # type: ignore[index]
    await page.unroute_all(behavior="wait")


WATCH = """() => {
    window.tops = [];
    const note = () => window.tops.push(document.querySelector(".tabs").getBoundingClientRect().top + scrollY);
    note();
    new MutationObserver(note).observe(document.getElementById("progress"), {childList: true, subtree: true});
}"""


@pytest.mark.parametrize(("width", "text"), [(1280, "hotels in Helsinki"), (320, "hairdressers in Helsinki")])
async def test_the_list_stays_in_its_place_from_the_first_row_to_the_end(tab, site, width, text):
    page: Page = await tab("curator", width=width)
    loads = 0

    def count(_: object) -> None:
        nonlocal loads
        loads += 1

    await page.goto(site.path("/searches/new"))
    await page.get_by_label("What and where").fill(text)
    page.on("load", count)
    await page.get_by_role("button", name="Start the search").click()
    await page.wait_for_url(re.compile("/console/searches/[0-9a-f]"))
    await page.evaluate(WATCH)
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    await expect(page.locator("#progress [data-final]")).to_be_attached(timeout=180_000)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)  # its part was replaced
    await expect(page.locator("#grid tbody tr").first).to_be_visible()
    await expect(page.locator("#live")).to_be_hidden()  # nothing changes any more
    tops = await page.evaluate("tops")
    assert len(tops) > 1
    assert len(set(tops)) == 1
    assert loads == 1
    boxes = page.locator("#grid tbody [name=id]")
    if width == 320:
        assert await page.locator("#grid tbody td[data-label]").count()  # cells of cards say their column
    else:
        await page.get_by_label("Select all rows of this page").check()
        assert await page.locator("#grid tbody [name=id]:checked").count() == await boxes.count()
    counted = await page.locator(".found [data-count=contacts]").inner_text()
    assert await page.locator(".tabs [data-count=contacts]").inner_text() == counted


@asynccontextmanager
async def balanced(ports: list[int]) -> AsyncIterator[str]:
    """Listen on one port and lead each connection to the next server that answers."""
    turn = 0

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal turn
        for _ in ports:
            turn += 1
            try:
                there = await asyncio.open_connection("127.0.0.1", ports[turn % len(ports)])
                break
            except OSError:
                continue
        else:
            writer.close()
            return
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))

    balancer = await asyncio.start_server(lead, "127.0.0.1", 0)
    async with balancer:
        yield f"http://127.0.0.1:{balancer.sockets[0].getsockname()[1]}"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def test_of_two_web_processes_one_may_die_and_nobody_is_logged_out(tab, site, server, faults):
    url = server.url("browser")
    async with AsyncExitStack() as second, AsyncExitStack() as first:
        addresses = [
            await stack.enter_async_context(serving(create_app(environment(url), run_engine=False)))
            for stack in (first, second)
        ]
        async with balanced([int(one.rpartition(":")[2]) for one in addresses]) as address:
            faults.base = address
            page: Page = await tab("operator", url=address)
            loads = 0

            def count(_: object) -> None:
                nonlocal loads
                loads += 1

            page.on("load", count)
            asked = Asked(page)
            await page.goto(f"{address}/console/line")
            await asked.again(3)
            await first.aclose()
            await asked.again(3)
            await expect(page.locator("#live")).to_have_text("live", timeout=180_000)
            assert loads == 1
            assert page.url.endswith("/console/line")
            await page.goto(f"{address}/console/account")
            await expect(page.get_by_role("heading", name="Account")).to_be_visible()
            await page.goto("about:blank")


async def test_a_stop_with_ten_open_tabs_ends_in_time(tab, server, template, faults, tmp_path):
    await server.execute(f"CREATE DATABASE ten_tabs TEMPLATE {template}")
    variables = {"DATABASE_URL": server.url("ten_tabs"), "SCRAPERSKY_PORT": "0", "SCRAPERSKY_DATA_DIR": str(tmp_path)}
    async with printed_link(variables, "serve") as link:  # stops it, and waits for the end
        faults.base = link.partition("/console")[0]
        first: Page = await tab("")
        await first.goto(link)
        await first.get_by_label("Name").fill("ada")
        await first.get_by_label("Password").fill(PASSWORD)
        await first.get_by_role("button", name="Begin").click()
        pages = [first, *[await first.context.new_page() for _ in range(9)]]
        asked = [Asked(page) for page in pages]
        for page in pages:
            await page.goto(f"{faults.base}/console/line")
            await expect(page.locator(".alarm")).to_have_count(0)  # its worker has reported before the first page
        await asyncio.gather(*(one.again(2) for one in asked))
    for page in pages:
        await expect(page.locator("#live")).to_contain_text("away (tries again in")
    await server.execute("DROP DATABASE ten_tabs WITH (FORCE)")
