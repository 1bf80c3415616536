"""The first five minutes: from the printed link to the file, with the mouse, by keyboard alone, without JavaScript."""

import asyncio
import csv
import io
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openpyxl import load_workbook
from playwright.async_api import Download, Locator, Page, expect

from scrapersky.cli.demonstration.pipeline import _announce, sandbox_variables
from tests.browser.conftest import SEARCH
from tests.factories.console_browser import PASSWORD

MAX_CLICKS = 12
HANG_SECONDS = 600  # a command that takes so long hangs


@asynccontextmanager
async def printed_link(variables: dict[str, str], *command: str) -> AsyncIterator[str]:
    """Run a command that serves the console and yield the link that it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scrapersky", *command), stdout=asyncio.subprocess.PIPE, env={**os.environ, **variables}
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(300):
            while not (found := re.search(r"http://\S+/welcome\S+", (await process.stdout.readline()).decode())):
                pass
        yield found[0]
    finally:
        process.terminate()
        async with asyncio.timeout(HANG_SECONDS):
            assert await process.wait() == 0


async def saved(download: Download) -> bytes:
    return (await download.path()).read_bytes()


async def test_from_the_printed_link_to_the_file_in_a_few_clicks(server, template, sandbox, tab, faults, tmp_path):
    await server.execute(f"CREATE DATABASE first_minutes TEMPLATE {template}")
    variables = {**sandbox_variables(sandbox, tmp_path), "DATABASE_URL": server.url("first_minutes")}
    variables |= {"SCRAPERSKY_PORT": "0"}
    clicks = 0
    async with printed_link(variables, "serve") as link, asyncio.timeout(HANG_SECONDS):
        faults.base = link.partition("/console")[0]
        page: Page = await tab("")

        async def click(target: Locator) -> None:
            nonlocal clicks
            clicks += 1
            await target.click()

        await page.goto(link)
        await page.get_by_label("Name").fill("ada")
        await page.get_by_label("Password").fill(PASSWORD)
        await click(page.get_by_role("button", name="Begin"))
        await page.get_by_label("What and where").fill("dentists in Helsinki")
        await click(page.get_by_role("button", name="Start the search"))
        await expect(page.locator("#progress")).to_contain_text("under way")
        await expect(page.locator("#live")).to_have_text("live")
        await expect(page.locator("#grid tbody tr").first).to_be_visible(timeout=180_000)  # by themselves
        await expect(page.locator("#keys-hint")).to_contain_text("keeps one")
        await expect(page.locator("#progress [data-final]")).to_be_attached(timeout=180_000)
        await expect(page.locator("#grid tbody tr").first).to_be_visible()
        await click(page.locator(".menu summary", has_text="Download"))
        async with page.expect_download() as download:
            await click(page.get_by_role("link", name="Excel one row per contact"))
        await page.keyboard.press("Escape")
        await page.keyboard.press("r")  # a key that was used ends the hint
        await expect(page.locator("#keys-hint")).to_have_count(0)
        for _ in range(10):  # the process has to stop although they ask on
            await (await page.context.new_page()).goto(f"{faults.base}/console/line")
        rows = list(load_workbook(io.BytesIO(await saved(await download.value))).active.values)
    assert "email" in rows[0]
    assert len(rows) > 10
    assert clicks <= MAX_CLICKS
    await server.execute("DROP DATABASE first_minutes WITH (FORCE)")


async def test_the_same_by_keyboard_alone(tab, site):
    page: Page = await tab("")
    await page.goto(site.path("/searches/new"))  # leads to the login, and back
    for keys in ("curator", "Tab", PASSWORD, "Enter"):
        await (page.keyboard.press(keys) if keys in ("Tab", "Enter") else page.keyboard.type(keys))
    await expect(page.get_by_label("What and where")).to_be_focused()
    await page.keyboard.type(SEARCH)
    await page.keyboard.press("Enter")
    await expect(page.locator("#progress")).to_contain_text("done")
    await page.keyboard.press("d")
    async with page.expect_download() as download:
        await page.keyboard.press("Enter")
    assert load_workbook(io.BytesIO(await saved(await download.value))).active.max_row > 5
    await page.keyboard.press("Escape")
    await page.keyboard.press("j")  # the first contact
    await page.keyboard.press("x")
    await page.keyboard.press("s")
    await expect(page.locator(".notice, .toast").last).to_contain_text("1 contact: Selected.")
    await page.keyboard.press("u")
    await expect(page.locator(".notice, .toast").last).to_contain_text("Restored 1")


async def test_the_same_without_javascript(tab, site):
    page: Page = await tab("", javascript=False)
    await page.goto(site.path("/searches/new"))
    await page.get_by_label("Name").fill("curator")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_label("What and where").fill(SEARCH)
    await page.get_by_role("button", name="Show the estimate").click()
    await expect(page.locator("#estimate")).to_contain_text("This search exists.")
    await page.get_by_role("button", name="Start the search").click()
    await expect(page.locator("#progress")).to_contain_text("done")
    await page.locator(".menu summary", has_text="Download").click()
    async with page.expect_download() as download:
        await page.get_by_role("link", name="CSV one row per business").click()
    text = (await saved(await download.value)).decode("utf-8-sig")
    assert len(list(csv.DictReader(io.StringIO(text)))) > 5
    await page.locator("tbody input[type=checkbox]").first.check()
    await page.get_by_role("button", name="Maybe").click()
    await expect(page.locator(".notice")).to_contain_text("1 contact: Maybe.")
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".notice")).to_contain_text("Restored 1")
    await page.locator(".top .menu summary").click()
    await page.get_by_role("button", name="Log out").click()
    await page.goto(site.path("/contacts"))
    await expect(page).to_have_url(re.compile("/console/login"))


async def test_the_search_of_the_demo_is_finished_when_its_link_is_printed(tab, faults):
    async with printed_link({"SCRAPERSKY_PORT": "0"}, "demo", "--serve", "--businesses", "60") as link:
        faults.base = link.partition("/console")[0]
        page: Page = await tab("")
        await page.goto(link)
        await page.keyboard.press("Enter")
        await page.wait_for_url(re.compile(r"^http://[^/]+/console/searches/"))
        assert await page.locator("#progress [data-final]").count() == 1
        assert await page.locator("#progress[data-live]").count() == 0
        await expect(page.locator(".now")).to_contain_text("100 %")
        await page.goto("about:blank")


async def test_the_link_of_the_demo_opens_the_finished_search_once(tab, site, capsys):
    await _announce(site.application, site.url, f"/console/searches/{site.ids['searches']}")
    [link] = re.findall(r"http://\S+/welcome\S+", capsys.readouterr().out)
    page: Page = await tab("")
    await page.goto(link)
    await expect(page.locator("button:focus")).to_have_count(1)  # the only button has the focus
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(site.path("/searches/{searches}"))
    await expect(page.locator(".sandbox")).to_contain_text("all places, web sites and people are invented")
    again = await page.goto(link)
    assert again.status == 404
