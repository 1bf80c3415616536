"""One browser and one console with a finished search of the sandbox, for all tests of this folder."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg
import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    async_playwright,
    expect,
)

from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.uvicorn_protocol import Server, server_config
from scrapersky.asgi import create_app
from scrapersky.cli.demonstration.pipeline import sandbox_variables
from scrapersky.core.roles import Role
from scrapersky.core.settings import Environment
from scrapersky.sandbox.sandbox import Sandbox
from tests.browser.chromium import FLAGS, find_chromium
from tests.factories.console_browser import OWN, create_person, log_in
from tests.factories.settings import PATIENT

HERE = Path(__file__).parent
SEARCH = "dentists in Helsinki"
SCOPE: Final = "package"
expect.set_options(timeout=120_000)  # the machine may be busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests in one event loop: browser, server and sandbox live in it."""
    for item in items:
        if item.path.is_relative_to(HERE) and asyncio.iscoroutinefunction(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope=SCOPE), append=False)


@dataclass(frozen=True)
class Site:
    """A console that is served, with people of every role and one finished search."""

    url: str
    application: WebApplication
    cookies: dict[str, str]  # by role
    ids: dict[str, str] = field(default_factory=dict)  # by noun: one row each

    def path(self, template: str) -> str:
        """Return the address of a screen: `{contacts}` stands for the id of a contact."""
        return f"{self.url}/console" + re.sub(r"\{(\w+)\}", lambda found: self.ids[found[1]], template)


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[str]:
    """Serve an application on a free port; yield its address."""
    async with app.router.lifespan_context(app):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = Server(server_config(app, 1))
            task = asyncio.create_task(server.serve([listener]))
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True
            await task


@pytest_asyncio.fixture(scope=SCOPE, loop_scope=SCOPE)
async def chromium() -> AsyncIterator[Browser]:
    """The browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        yield browser
        await browser.close()


@pytest.fixture(scope=SCOPE)
def seed() -> int:
    """The seed of the sandbox."""
    return 7


@pytest_asyncio.fixture(scope=SCOPE, loop_scope=SCOPE)
async def sandbox(seed: int) -> AsyncIterator[Sandbox]:
    """The web sites and the maps that the searches of these tests read."""
    async with Sandbox(seed=seed, businesses=60) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope=SCOPE, loop_scope=SCOPE)
async def site(server, template, sandbox: Sandbox, tmp_path_factory) -> AsyncIterator[Site]:
    """The console with its engine."""
    await server.execute(f"CREATE DATABASE browser TEMPLATE {template}")
    url = server.url("browser")
    variables = {**sandbox_variables(sandbox, tmp_path_factory.mktemp("site")), **PATIENT, "DATABASE_URL": url}
    variables |= {"SCRAPERSKY_RATE_LIMIT_PER_IP": "0", "SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT": "1000"}
    app = create_app(Environment(variables, None))
    async with serving(app) as address:
        cookies = {role.value: await _cookie(app, address, role.value) for role in Role}
        async with client_of(address, cookies["admin"]) as admin:
            search = await finished_search(admin, SEARCH)
            campaign = await finished_search(admin, f"{SEARCH}\n{SEARCH}")  # of this one search
            await _schedule(admin, campaign)
        ids = {**await _ids(url, search), "campaigns": campaign.rpartition("/")[2]}
        yield Site(address, app.state.application, cookies, ids)
    await server.execute("DROP DATABASE browser WITH (FORCE)")


def client_of(address: str, cookie: str = "") -> httpx.AsyncClient:
    """Return a client that sends what a browser sends with a form."""
    cookies = {"scrapersky": cookie} if cookie else {}
    return httpx.AsyncClient(base_url=address, headers=OWN, cookies=cookies, timeout=120)


async def _cookie(app: FastAPI, address: str, role: str) -> str:
    await create_person(app.state.application.database, role, "default", role)
    async with client_of(address) as client:
        await log_in(client, role)
        return client.cookies["scrapersky"]


async def finished_search(client: httpx.AsyncClient, text: str) -> str:
    """Start a search and wait until no work of it is left; return its path."""
    started = await client.post("/console/searches", data={"text": text, "provider": "openstreetmap"})
    assert started.status_code == 303, started.text
    path = started.headers["location"]
    async with asyncio.timeout(300):
        while "data-final" not in (await client.get(path, headers={"Console-Part": "progress"})).text:
            await asyncio.sleep(0.2)
    return str(path)


async def _schedule(client: httpx.AsyncClient, path: str) -> None:
    """Give a search a schedule whose next run is after the tests."""
    kept = await client.post(f"{path}/schedule", data={"every": "cron", "cron": "0 6 1 * *"})
    assert kept.status_code == 303, kept.text


async def _ids(url: str, search: str) -> dict[str, str]:
    """Return the ids of the rows behind one contact, by noun."""
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(
            "SELECT c.id contacts, c.page_id pages, c.domain_id domains, b.id businesses, b.place_id places, "
            "s.id sitemaps FROM contact c JOIN sitemap_file s ON s.domain_id = c.domain_id "
            "JOIN business_domain d ON d.domain_id = c.domain_id JOIN local_business b ON b.id = d.business_id "
            "WHERE c.name <> '' AND c.email <> '' ORDER BY c.id, b.id, s.id LIMIT 1"
        )
    finally:
        await connection.close()
    return {"searches": search.rpartition("/")[2], **{name: str(value) for name, value in row.items()}}


@dataclass
class Faults:
    """What no page may do: errors of scripts, reports of the policies, requests elsewhere, dialogs."""

    base: str
    seen: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.seen.append(f"script: {error}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)

    def _console(self, message: ConsoleMessage) -> None:
        is_status = message.text.startswith("Failed to load resource")  # an error page, or a part that is away
        if message.type in ("error", "warning") and not is_status:
            self.seen.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.base}/", "data:", "blob:")):
            self.seen.append(f"request: {request.url}")

    async def _dialog(self, dialog: Dialog) -> None:
        self.seen.append(f"dialog: {dialog.message}")
        await dialog.dismiss()


OpenTab = Callable[..., Awaitable[Page]]


@pytest.fixture
def faults(site: Site) -> Iterator[Faults]:
    """What the pages of the test did wrong; none at its end."""
    faults = Faults(site.url)
    yield faults
    assert not faults.seen


@pytest_asyncio.fixture(loop_scope=SCOPE)
async def tab(chromium: Browser, site: Site, faults: Faults) -> AsyncIterator[OpenTab]:
    """Open a tab of a person: `await tab("curator", width=320, dark=True, javascript=False)`; role "" is a stranger."""
    contexts: list[BrowserContext] = []

    async def open_tab(
        role: str = "admin", *, width: int = 1280, dark: bool = False, javascript: bool = True, url: str = site.url
    ) -> Page:
        context = await chromium.new_context(
            base_url=f"{url}/console/",
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            reduced_motion="reduce",
            locale="en-GB",
        )
        context.set_default_timeout(120_000)  # the machine may be busy
        contexts.append(context)
        if role:
            await context.add_cookies([{"name": "scrapersky", "value": site.cookies[role], "url": url}])
        page = await context.new_page()
        faults.watch(page)
        return page

    yield open_tab
    for context in contexts:
        await context.close()
