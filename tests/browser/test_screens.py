"""Every screen: no violation that axe finds, in both themes, and no sideways scrolling on a phone."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

from tests.browser.conftest import OpenTab, Site
from tests.browser.screens import SCREENS, Screen

TABS = 2  # that are checked at the same time
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """only => axe.run({resultTypes: ["violations"], runOnly: only}).then(found => found.violations.flatMap(
    one => one.nodes.slice(0, 3).map(node => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`)))"""
# Rows of one list are alike: a few of them have every violation, and axe takes seconds for fifty.
WITHOUT_LIKES = "document.querySelectorAll('tbody > tr:nth-child(n+4)').forEach(row => row.remove())"


async def violations(page: Page) -> list[str]:
    """Return what axe finds on the page as it is, in both themes: rule, element, cure."""
    await page.evaluate(AXE_SCRIPT)
    await page.evaluate(WITHOUT_LIKES)
    await page.emulate_media(color_scheme="light")
    found: list[str] = await page.evaluate(RUN, {"type": "tag", "values": TAGS})
    await page.emulate_media(color_scheme="dark")  # nothing but colours depends on the theme
    dark = await page.evaluate(RUN, {"type": "rule", "values": ["color-contrast"]})
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


async def test_no_screen_has_an_accessibility_violation_in_light_or_dark(tab, site):
    async def check(screens: Sequence[Screen]) -> list[str]:
        seen = visit(tab, site, 1280, screens)
        return [f"{screen}: {one}" async for screen, page in seen for one in await violations(page)]

    in_tabs = await asyncio.gather(*(check(SCREENS[first::TABS]) for first in range(TABS)))
    found = [one for each in in_tabs for one in each]
    assert not found, "\n".join(found)


async def test_no_screen_scrolls_sideways_on_a_phone(tab, site):
    wide = []
    async for screen, page in visit(tab, site, 320):
        if (width := await page.evaluate("document.documentElement.scrollWidth")) > 320:
            wide.append(f"{screen}: {width} px")
    assert not wide, "\n".join(wide)
