"""Write the pictures of docs/images: screens of the console over the sandbox, in which all people are invented.

`python scripts/screenshots.py [FOLDER]`; needs `make browser`.
"""

import asyncio
import re
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright
from tests.browser.chromium import FLAGS, find_chromium

from scrapersky.api.http.uvicorn_protocol import Server, server_config
from scrapersky.asgi import create_app
from scrapersky.cli.demonstration.pipeline import sandbox_variables
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, load
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.accounts import invitations

FOLDER = Path(__file__).parents[1] / "docs" / "images"
SEARCH = "dentists in Helsinki"
WIDTH, HEIGHT = 1280, 768  # the columns that a grid shows at first fit
DONE_SECONDS = 180
MOSTLY_DONE = re.compile(r"(9[8-9]|100) %")  # some servers of the sandbox answer only at the second try, later
MAX_BYTES = 180_000


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the page (`{search}` is that of the search), and how it is looked at."""

    name: str
    path: str
    dark: bool = False
    width: int = WIDTH
    click: str = ""


SHOTS = (
    Shot("search", "{search}"),
    Shot("search-dark", "{search}", dark=True),
    Shot("new-search", "/console/searches/new?text=bakeries+in+Turku"),
    Shot("line", "/console/line"),
    Shot("contacts", "/console/contacts?sort=name"),
    Shot("contact", "{contact}"),
    Shot("download", "{search}", click=".head .menu summary"),
    Shot("phone", "{search}", width=390),
)


def main(folder: Path) -> None:
    """Write the pictures. Raises SystemExit if one is too large for the repository."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        asyncio.run(photograph(Path(home), folder))
    for file in (folder / f"{shot.name}.png" for shot in SHOTS):
        if file.stat().st_size > MAX_BYTES:
            raise SystemExit(f"{file.name} has {file.stat().st_size:,} bytes; {MAX_BYTES:,} are allowed.")


async def photograph(home: Path, folder: Path) -> None:
    """Run a search in the sandbox and photograph the screens."""
    async with served(home) as (link, browser):
        page = await browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        paths = await run_search(page, link)
        for shot in SHOTS:
            await take(page, shot, paths, folder / f"{shot.name}.png")


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[tuple[str, Browser]]:
    """Serve the console over a sandbox; yield the link of the first admin, and a browser."""
    async with Sandbox(seed=2026, businesses=120) as sandbox:
        environment = Environment(sandbox_variables(sandbox, home), None)
        configure_logs(load(environment))
        app = create_app(environment)
        async with app.router.lifespan_context(app), async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
            with socket.create_server(("127.0.0.1", 0)) as listener:
                server = Server(server_config(app, 1))
                serving = asyncio.create_task(server.serve([listener]))
                token = await invitations.for_first_admin(app.state.application.database)
                base = f"http://127.0.0.1:{listener.getsockname()[1]}"
                yield f"{base}/console/welcome?token={token}", browser
                await browser.close()
                server.should_exit = True
                await serving


async def run_search(page: Page, link: str) -> dict[str, str]:
    """Log in, search, wait until most is done; return the addresses of the search and of a contact with a person."""
    await page.goto(link)
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill("correct horse battery staple")
    await page.get_by_role("button", name="Begin").click()
    await page.get_by_label("What and where").fill(SEARCH)
    await page.get_by_role("button", name="Start the search").click()
    await page.locator(".percent", has_text=MOSTLY_DONE).wait_for(timeout=DONE_SECONDS * 1_000)
    search = page.url.partition("?")[0]
    await page.goto(f"{search}?tab=contacts")
    contact = page.locator("tr:has(th .why):has(.verdict-deliverable) [data-open]").first
    base = link.partition("/console")[0]
    return {"search": search, "contact": f"{base}{await contact.get_attribute('href')}", "base": base}


async def take(page: Page, shot: Shot, paths: dict[str, str], file: Path) -> None:
    """Photograph one screen."""
    await page.emulate_media(color_scheme="dark" if shot.dark else "light")
    await page.set_viewport_size({"width": shot.width, "height": HEIGHT if shot.width == WIDTH else 844})
    address = shot.path.format(**paths)
    await page.goto(address if address.startswith("http") else paths["base"] + address)
    if shot.click:
        await page.locator(shot.click).first.click()
    await page.screenshot(path=file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
