"""WF4 and WF7 on sites that hide, with a browser: their pages are drawn, and the rows say what that took."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from scrapersky.crawl.web import NEEDS_BROWSER
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.sites.hidden_pages import lets_scripts_pass
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.conditions import Condition
from tests.browser.chromium import find_chromium
from tests.workflows.test_web_steps import Walk, search_with, walk

__all__ = ["walk"]  # the fixture
WITH_BROWSER = {"CRAWL_BROWSER": find_chromium() or "on", "CRAWL_BROWSER_SANDBOX": "false"}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(seed=7, businesses=900) as sandbox:
        yield sandbox


def business_with(sandbox: Sandbox, condition: Condition, passes: bool | None = None) -> Business:
    """Return a business whose site is in this condition."""
    return next(
        business
        for business in sandbox.world
        if business.condition is condition and business.host and passes in (None, lets_scripts_pass(business.host))
    )


async def read_home(line: Walk, host: str | None, search_id: UUID | None = None) -> Any:
    """Process the home page of a host; return its domain."""
    added = "INSERT INTO domain (tenant_id, search_id, name, start_url, domain_metadata_status) "
    await line.admin.execute("DELETE FROM domain")
    await line.admin.execute(
        f"{added} VALUES ($1, $2, $3, $4, 'Queued')", line.tenant, search_id, host, f"http://{host}/"
    )
    await line.run("domain_metadata")
    return await line.one("SELECT * FROM domain")


async def test_a_site_that_scripts_draw_is_read_like_any_other(walk, sandbox: Sandbox) -> None:
    shop = business_with(sandbox, Condition.JAVASCRIPT)
    line = walk(0, **sandbox.environment(), **WITH_BROWSER)
    domain = await read_home(line, shop.host)
    assert (domain["domain_metadata_status"], domain["hidden_reason"]) == ("Completed", None), domain
    cost = json.loads(domain["browser"])
    assert (cost["visits"], cost["result"], cost["bytes"] > 500) == (1, "a browser has read it", True)
    await line.run("page_curation")
    pages = await line.admin.fetch("SELECT * FROM page WHERE page_processing_status = 'Completed'")
    assert pages
    assert all(json.loads(page["browser"])["visits"] == 1 for page in pages)
    found = {row["email"] for row in await line.admin.fetch("SELECT email FROM contact WHERE email IS NOT NULL")}
    assert shop.email in found


async def test_a_bot_check_is_passed_or_stays_with_its_reason(walk, sandbox: Sandbox) -> None:
    line = walk(0, **sandbox.environment(), **WITH_BROWSER)
    passed = await read_home(line, business_with(sandbox, Condition.BOT_CHECK, passes=True).host)
    assert (passed["domain_metadata_status"], passed["hidden_reason"]) == ("Completed", None), passed
    stays = await read_home(line, business_with(sandbox, Condition.BOT_CHECK, passes=False).host)
    assert (stays["domain_metadata_status"], stays["hidden_reason"]) == ("Skipped", "bot_check")
    assert "a browser has read it" in stays["domain_metadata_error"]


async def test_without_a_browser_the_reason_says_what_would_help(walk, sandbox: Sandbox, admin, tenant) -> None:
    line = walk(0, **sandbox.environment())
    check = await read_home(line, business_with(sandbox, Condition.BOT_CHECK).host)
    assert check["domain_metadata_error"].endswith(NEEDS_BROWSER)
    shell = business_with(sandbox, Condition.JAVASCRIPT).host
    assert (await read_home(line, shell))["hidden_reason"] == "javascript"
    forbidden = walk(0, **sandbox.environment(), **WITH_BROWSER)
    domain = await read_home(forbidden, shell, await search_with(admin, tenant, browser="off"))
    assert (domain["hidden_reason"], domain["browser"]) == ("javascript", None)
