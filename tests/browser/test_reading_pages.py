"""The browser that reads hidden pages: what it draws, what it never reaches, and how each hostile page ends."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import psutil
import pytest
import pytest_asyncio
from playwright.async_api import Browser as PlaywrightBrowser

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.browser.browser import Browser, BrowserVisit
from scrapersky.crawl.web import Web
from tests.browser.chromium import find_chromium
from tests.factories.http_server import ReceivedRequest, Reply, ScriptedServer
from tests.hostile.odd_web import Canary

SHOP = "http://shop.lab/"
SCOPE: Final = "package"


class Datagrams(asyncio.DatagramProtocol):
    """Counts datagrams that arrive."""

    def __init__(self) -> None:
        self.hits = 0

    def datagram_received(self, data: bytes, sender: object) -> None:
        self.hits += 1


@dataclass(frozen=True)
class Target:
    """What no page may reach: a server and a socket for datagrams on one port of this machine."""

    canary: Canary
    datagrams: Datagrams

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.canary.port}"

    @property
    def hits(self) -> tuple[int, int]:
        """Return the connections and the datagrams that arrived."""
        return self.canary.hits, self.datagrams.hits


class Site:
    """A hostile shop, the target it aims at, and the browser that reads it."""

    def __init__(self, server: ScriptedServer, target: Target) -> None:
        self.server = server
        self.target = target

    def settings(self, **variables: str) -> Settings:
        place = f"127.0.0.1:{self.server.port}"
        inside = self.target.place
        defaults = {
            "CRAWL_BROWSER": find_chromium() or "on",
            "CRAWL_BROWSER_SANDBOX": "false",
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": place,
            "CRAWL_HOST_OVERRIDES": f"shop.lab={place},other.lab={place},inside.lab={inside}",
            "CRAWL_HOST_DELAY_SECONDS": "0",
            "CRAWL_MAX_CONCURRENCY_PER_HOST": "50",
        }
        return load(Environment({**defaults, **variables}, env_file=None))

    async def draw(
        self, page: str, variables: Mapping[str, str] = MappingProxyType({}), *, is_closed: bool = True
    ) -> BrowserVisit:
        """Serve the page at the shop and read it with a browser; `is_closed`: without a network, if possible."""
        self.server.requests.clear()
        self.server.replies["/"] = [Reply(page, content_type="text/html")]
        web = Web(self.settings(**variables))
        assert isinstance(web.browser, Browser)
        if not is_closed:
            web.browser._prefix = ()
        try:
            async with (await web.crawler()).visit() as visit:
                done = await web.browser.draw(visit, SHOP)
        finally:
            await web.close()
        assert _chromiums() == []
        return done


@asynccontextmanager
async def open_shop() -> AsyncIterator[Site]:
    """Serve the shop and listen at its target, both on ports of their own."""
    async with ScriptedServer() as server, Canary() as canary:
        loop = asyncio.get_running_loop()
        transport, datagrams = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", canary.port))
        target = Target(canary, datagrams)
        server.replies |= {
            "/app.js": [Reply(DRAWS, content_type="text/javascript")],
            "/data.json": [Reply({"mail": "anna@shop.lab"})],
            "/to-canary": [Reply(status=302, headers={"Location": f"http://{target.place}/"})],
            "/to-name": [Reply(status=302, headers={"Location": "http://inside.lab/"})],
            "/worker.js": [Reply(f"fetch('http://{target.place}/worker')", content_type="text/javascript")],
            "/endless": lambda request: _next_step(request),
            "/file.zip": [Reply("PK" * 1000, content_type="application/zip", headers=ATTACHED)],
        }
        yield Site(server, target)
        transport.close()


@pytest_asyncio.fixture(scope=SCOPE, loop_scope=SCOPE)
async def shop() -> AsyncIterator[Site]:
    """The shop; its files are the same for all pages."""
    async with open_shop() as site:
        yield site


ATTACHED = {"Content-Disposition": "attachment; filename=file.zip"}
DRAWS = """
fetch('/data.json').then((response) => response.json()).then((data) => {
    document.getElementById('root').innerHTML = `<a href="mailto:${data.mail}">Anna</a>`;
});
"""
SHELL = "<html><body><div id=root></div><script src=/app.js></script>"

# Every way out of a page that is known to us, to an address of this machine.
ATTACKS = """
const there = 'http://{place}/', ways = {
    fetch: () => fetch(there), json: () => fetch(there, {method: 'POST', body: '{}'}),
    xhr: () => { const r = new XMLHttpRequest(); r.open('GET', there); r.send(); },
    beacon: () => navigator.sendBeacon(there, 'x'), events: () => new EventSource(there),
    socket: () => new WebSocket('ws://{place}/'), transport: () => new WebTransport('https://{place}/'),
    module: () => import(there), worker: () => new Worker('/worker.js'), shared: () => new SharedWorker('/worker.js'),
    blob: () => new Worker(URL.createObjectURL(new Blob([`fetch('${there}')`]))),
    service: () => navigator.serviceWorker.register('/worker.js'), popup: () => window.open(there),
    name: () => fetch('http://inside.lab/'), socketName: () => new WebSocket('ws://inside.lab/'),
    local: () => fetch('http://localhost:{port}/'), redirect: () => fetch('/to-canary'),
    redirectName: () => fetch('/to-name'), file: () => fetch('file:///etc/passwd'),
    rtc: () => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:{place}'},
        {urls: 'turn:{place}?transport=tcp', username: 'u', credential: 'p'}]});
        c.createDataChannel('x'); c.createOffer().then((o) => c.setLocalDescription(o)); },
};
window.made = [];
for (const [name, way] of Object.entries(ways)) { try { Promise.resolve(way()).catch(() => 0); window.made.push(name); }
    catch (error) { window.made.push(name + ' ' + error); } }
for (const html of ['<img src=X>', '<iframe src=X></iframe>', '<script src=X><' + '/script>', '<video src=X autoplay>',
    '<link rel=preload as=fetch href=X>', '<link rel=stylesheet href=X>', '<link rel=preconnect href=X>',
    '<link rel=dns-prefetch href=X>', '<link rel=prefetch href=X>', '<object data=X></object>', '<embed src=X>',
    '<link rel=icon href=X>', '<link rel=manifest href=X>', '<style>@import "X"; body{background:url(X)}</style>',
    '<iframe src="/to-canary"></iframe>', '<iframe srcdoc="<img src=X>"></iframe>',
    '<form id=f action=X target=_blank></form>', '<a id=a href=X ping=X download>x</a>']) {
    const holder = document.createElement('div');
    for (const child of new DOMParser().parseFromString(html.replaceAll('X', there), 'text/html').querySelectorAll('*'))
        if (!['HTML', 'HEAD', 'BODY'].includes(child.tagName)) {
            const copy = document.createElement(child.tagName);
            for (const attribute of child.attributes) copy.setAttribute(attribute.name, attribute.value);
            copy.textContent = child.textContent; holder.append(copy); }
    document.body.append(holder);
}
document.getElementById('f').submit(); document.getElementById('a').click();
setTimeout(() => { document.getElementById('root').innerHTML = 'info@shop.lab'; }, 200);
setTimeout(() => { location = there; }, 300);
"""


def attacks(target: Target) -> str:
    script = ATTACKS.replace("{place}", target.place).replace("{port}", str(target.canary.port))
    return f"<html><body><div id=root></div><script>{script}</script>"


def _next_step(request: ReceivedRequest) -> Reply:
    step = int(request.query.get("step", "0")) + 1
    page = f"<p>step {step}<script>location = '/endless?step={step}'</script>"
    return Reply(page, content_type="text/html")


def _chromiums() -> list[int]:
    """Return the processes of browsers that scrapersky started and that still run."""
    return [
        process.pid
        for process in psutil.Process().children(recursive=True)
        if "--remote-debugging-pipe" in (line := _command_line(process)) and "scrapersky-browser-" in " ".join(line)
    ]


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@asynccontextmanager
async def no_hit(shop: Site) -> AsyncIterator[None]:
    before = shop.target.hits
    yield
    assert shop.target.hits == before


async def test_a_page_is_drawn_with_the_files_that_its_scripts_ask_for(shop: Site) -> None:
    done = await shop.draw(SHELL)
    assert done.page is not None, done.result
    assert b'<a href="mailto:anna@shop.lab">Anna</a>' in done.page.body
    assert (done.page.final_url, done.page.status) == (SHOP, 200)
    assert (done.requests, done.bytes > 100) == (3, True)
    assert shop.server.paths() == ["/robots.txt", "/", "/app.js", "/data.json"]
    agents = {request.headers["User-Agent"] for request in shop.server.requests}
    assert len(agents) == 1
    assert agents.pop().startswith("scrapersky/")


async def test_robots_txt_is_obeyed_for_every_file(shop: Site) -> None:
    shop.server.replies["/robots.txt"] = [Reply("User-agent: *\nDisallow: /data", content_type="text/plain")]
    try:
        done = await shop.draw(SHELL)
    finally:
        del shop.server.replies["/robots.txt"]
    assert done.page is not None
    assert b"anna@" not in done.page.body
    assert "/data.json" not in shop.server.paths()


@pytest.mark.parametrize("is_closed", [True, False], ids=["in a closed network", "by its options alone"])
async def test_no_script_reaches_an_address_of_this_machine(shop: Site, is_closed: bool) -> None:
    async with no_hit(shop):
        done = await shop.draw(attacks(shop.target), is_closed=is_closed)
    assert done.page is not None, done.result
    assert b"info@shop.lab" in done.page.body


async def test_the_same_page_hits_the_canary_in_an_ordinary_browser(chromium: PlaywrightBrowser) -> None:
    async with open_shop() as shop:  # of its own: this browser goes on sending while it closes the page
        target = shop.target
        shop.server.replies["/"] = [Reply(attacks(target), content_type="text/html")]
        page = await chromium.new_page()
        try:
            await page.goto(shop.server.url)
            while not (target.canary.hits > 10 and target.datagrams.hits):
                await page.wait_for_timeout(50)
            made = await page.evaluate("window.made ?? []")
        finally:
            await page.close()
    assert all(" " not in name for name in made), "an attack that this browser does not know proves nothing"


async def test_no_tag_of_a_page_reaches_an_address_of_this_machine(shop: Site) -> None:
    there = f"http://{shop.target.place}/"
    head = f"<meta http-equiv=refresh content='0; url={there}'><base href={there}><script src={there}></script>"
    async with no_hit(shop):
        done = await shop.draw(f"<html><head>{head}</head><body>still here<img src=x>", is_closed=False)
    assert done.page is not None
    assert b"still here" in done.page.body


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("while (true) {}", "could not draw it within 8 s"),
        ("const a = []; while (true) a.push(new Uint8Array(5e7).fill(1))", "memory"),
        ("setInterval(() => { for (let i = 0; i < 50; i++) fetch('/' + Math.random()) }, 50)", "more and more files"),
        ("document.head.append(document.createComment('x'.repeat(6e6)))", "too long"),
    ],
    ids=["endless", "memory", "requests", "huge"],
)
async def test_a_hostile_page_ends_with_a_reason(shop: Site, script: str, told: str) -> None:
    limits = {"CRAWL_BROWSER_TIMEOUT_SECONDS": "40"}
    if told == "memory":
        limits["CRAWL_BROWSER_MAX_MEMORY_BYTES"] = "700000000"
    elif told == "could not draw it within 8 s":
        limits["CRAWL_BROWSER_TIMEOUT_SECONDS"] = "8"
    async with asyncio.timeout(300):
        done = await shop.draw(f"<html><body>x<script>{script}</script>", limits)
    assert done.page is None
    assert told in done.result
    assert len(shop.server.requests) < 70


DISTURBING = (
    "for (let i = 0; i < 30; i++) { alert('stop'); window.open('/other' + i); } confirm('?'); prompt('?'); print();"
    "for (let i = 0; i < 200; i++) localStorage['k' + i] = 'v'.repeat(20000); indexedDB.open('x');"
    "document.documentElement.requestFullscreen().catch(() => 0); location = '/file.zip'"
)
ENDLESS = "addEventListener('beforeunload', (event) => { event.preventDefault() }); location = '/endless'"


@pytest.mark.parametrize("script", [DISTURBING, ENDLESS], ids=["dialogs and downloads", "endless redirects"])
async def test_what_disturbs_a_visitor_does_not_stop_the_browser(shop: Site, script: str) -> None:
    done = await shop.draw(f"<html><body><p>info@shop.lab<script>{script}</script>")
    assert done.page is not None, done.result
    assert b"info@shop.lab" in done.page.body or b"step" in done.page.body
    assert sum(path.startswith("/endless") for path in shop.server.paths()) <= 5


async def test_a_redirect_of_the_server_is_followed_and_the_page_has_its_true_address(shop: Site) -> None:
    shop.server.replies["/moved"] = [Reply("<p>info@shop.lab", content_type="text/html")]
    shop.server.replies["/leave"] = [Reply(status=302, headers={"Location": "http://other.lab/moved"})]
    done = await shop.draw("<html><body><script>location = '/leave'</script>")
    assert done.page is not None, done.result
    assert (done.page.final_url, b"info@" in done.page.body) == ("http://other.lab/moved", True)


async def test_a_bot_check_that_a_script_passes_is_passed(shop: Site) -> None:
    check = "<html><body>Checking<script>document.cookie = 'human=1'; location.reload()</script>"

    def answer(request: ReceivedRequest) -> Reply:
        if "human=1" in request.headers.get("Cookie", ""):
            return Reply("<p>info@shop.lab", content_type="text/html")
        return Reply(check, 403, "text/html", {"cf-mitigated": "challenge"})

    web = Web(shop.settings())
    shop.server.replies["/"] = answer
    assert web.browser is not None
    async with (await web.crawler()).visit() as visit:
        done = await web.browser.draw(visit, SHOP)
    await web.close()
    assert done.page is not None, done.result
    assert (done.page.status, b"info@shop.lab" in done.page.body) == (200, True)


async def test_one_browser_draws_one_page_at_a_time_and_its_memory_comes_back(
    shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapersky.crawl.browser.browser.MAX_WAIT_SECONDS", 300)
    shop.server.replies["/"] = [Reply(SHELL, content_type="text/html")]
    counts = []

    for processes in ("1", "2"):
        web = Web(shop.settings(CRAWL_BROWSER_PROCESSES=processes))
        crawler, browser = await web.crawler(), web.browser
        assert browser is not None
        most, drawing = 0, True

        async def watch() -> None:
            nonlocal most
            while drawing:  # noqa: B023
                most = max(most, len(_browsers()))
                await asyncio.sleep(0.05)

        async def draw() -> BrowserVisit:
            async with crawler.visit() as visit:  # noqa: B023
                return await browser.draw(visit, SHOP)  # noqa: B023

        watching = asyncio.create_task(watch())
        visits = await asyncio.gather(*(draw() for _ in range(3)))
        drawing = False
        await watching
        await web.close()
        assert all(done.page is not None for done in visits)
        assert _chromiums() == []
        counts.append(most)
    assert counts == [1, 2]


def _browsers() -> set[str]:
    """Return the folders of the browsers that run: each has one of its own, which all its processes name."""
    lines = (_command_line(process) for process in psutil.Process().children(recursive=True))
    return {found for line in lines for found in re.findall(r"scrapersky-browser-\w+", " ".join(line))}


async def test_a_visit_that_is_cancelled_leaves_no_browser(shop: Site) -> None:
    shop.server.requests.clear()
    task = asyncio.create_task(shop.draw("<html><body><script>while (true) {}</script>"))
    while "/" not in shop.server.paths():
        await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert _chromiums() == []


def test_settings_that_cannot_work_say_what_helps(shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSetting, match="Install one"):
        Web(shop.settings(CRAWL_BROWSER="/no/such/chromium"))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(BadSetting, match="does not work for root"):
        Web(shop.settings(CRAWL_BROWSER_SANDBOX="true"))
    assert Web(load(Environment({}, env_file=None))).browser is None
