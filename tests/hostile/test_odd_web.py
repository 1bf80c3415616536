"""The guarded client against the odd web: each oddity ends within its budget, with its reason, and hurts nobody."""

import asyncio
import gc
import os
import resource
import ssl
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import psutil
import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.crawl.errors import (
    FetchError,
    PageNotFound,
    PermanentFetchError,
    ProxiesCoolingDown,
    RetryLater,
    TooSoon,
)
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.network.dns_resolver import DnsResolver
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.proxies import parse_proxies
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from scrapersky.crawl.page import FetchedPage, Validators
from tests.hostile.odd_web import Canary, Hangup, OddWeb, Visitor

LIMITS = FetchLimits(deadline_seconds=0.6, connect_seconds=0.4, page_bytes=2_000_000, stream_bytes=2_000_000)
# Where something else than time ends a fetch, a busy machine shall not end it first.
PATIENT = replace(LIMITS, deadline_seconds=20, connect_seconds=10)

ENDS = {
    "/bomb/gzip": (PermanentFetchError, "longer than 2000000 bytes"),
    "/bomb/deflate": (PermanentFetchError, "longer than 2000000 bytes"),
    "/bomb/raw-deflate": (PermanentFetchError, "longer than 2000000 bytes"),
    "/bomb/members": (PermanentFetchError, "more than 10,000 members"),
    "/bomb/brotli": (PermanentFetchError, "'br', which we did not offer"),
    "/bomb/zstd": (PermanentFetchError, "'zstd', which we did not offer"),
    "/bomb/twice": (PermanentFetchError, "'gzip, gzip', which we did not offer"),
    "/bomb/endless-gzip": (PermanentFetchError, "longer than"),
    "/bomb/empty-blocks": (PermanentFetchError, "longer than"),
    "/gzip/damaged": (PermanentFetchError, "damaged"),
    "/gzip/lie": (PermanentFetchError, "damaged"),
    "/gzip/cut": (RetryLater, "broke off"),
    "/endless/body": (PermanentFetchError, "longer than"),
    "/endless/chunks": (PermanentFetchError, "longer than"),
    "/endless/chunk-extensions": (PermanentFetchError, "far more bytes"),
    "/endless/continue": (FetchError, "far more bytes|needs longer than"),
    "/endless/announced": (PermanentFetchError, "longer than"),
    "/drip/body": (RetryLater, "needs longer than 0.6 s"),
    "/drip/headers": (RetryLater, "needs longer than 0.6 s"),
    "/hang/before": (RetryLater, "needs longer than 0.6 s"),
    "/hang/headers": (RetryLater, "needs longer than 0.6 s"),
    "/hang/body": (RetryLater, "needs longer than 0.6 s"),
    "/broken/long-header": (PermanentFetchError, "proper HTTP"),
    "/broken/many-headers": (PermanentFetchError, "proper HTTP"),
    "/broken/long-status": (PermanentFetchError, "proper HTTP"),
    "/broken/not-http": (PermanentFetchError, "proper HTTP"),
    "/broken/two-lengths": (PermanentFetchError, "proper HTTP"),
    "/broken/negative-length": (PermanentFetchError, "proper HTTP"),
    "/broken/chunk-size": (FetchError, "proper HTTP|broke off"),
    "/broken/cut": (RetryLater, "broke off"),
    "/broken/cut-chunk": (RetryLater, "broke off"),
    "/broken/goodbye": (RetryLater, "connection to odd.example was lost"),
    "/broken/status-999": (PermanentFetchError, "answers 999"),
    "/to/self": (PermanentFetchError, "in a circle"),
    "/to/ping": (PermanentFetchError, "in a circle"),
    "/to/endless": (PermanentFetchError, "redirects more than 5 times"),
    "/to/slow": (RetryLater, "needs longer than 0.6 s"),
    "/to/nowhere": (PermanentFetchError, "without a Location header"),
    "/busy": (RetryLater, "429 Too Many Requests"),
    "/down": (RetryLater, "503 Service Unavailable"),
    "/forbidden": (PermanentFetchError, "403 Forbidden"),
    "/removed": (PageNotFound, "410 Gone"),
    "/missing": (PageNotFound, "404 Not Found"),
}


@pytest.fixture
async def web() -> AsyncIterator[OddWeb]:
    async with OddWeb() as web:
        yield web


@pytest.fixture
async def client(web: OddWeb) -> AsyncIterator[Client]:
    async with client_of(web, PATIENT) as client:
        yield client


@pytest.fixture
async def hasty(web: OddWeb) -> AsyncIterator[Client]:
    async with client_of(web) as client:
        yield client


def client_of(web: OddWeb, limits: FetchLimits = LIMITS, user_agent: str = "scrapersky") -> Client:
    guard = SsrfGuard(allowance=Allowance([web.place]))
    return Client(guard, limits, known_hosts={"odd.example": web.place}, user_agent=user_agent)


async def fetched(client: Client, path: str) -> FetchedPage:
    return await client.fetch(f"http://odd.example{path}")


@pytest.mark.parametrize("path", ENDS)
async def test_this_odd_response_ends_within_its_limits_and_with_its_reason(
    web: OddWeb, client: Client, hasty: Client, path: str
) -> None:
    kind, reason = ENDS[path]
    gc.collect()
    before = psutil.Process().memory_info().rss
    with pytest.raises(kind, match=reason) as caught:
        await fetched(hasty if "needs longer" in reason else client, path)
    assert psutil.Process().memory_info().rss - before < 40_000_000
    assert caught.value.reason.endswith(".")
    assert web.hits[path] >= 1


async def test_other_fetches_succeed_while_odd_responses_arrive(web: OddWeb, client: Client) -> None:
    async with client_of(web, replace(LIMITS, deadline_seconds=4, connect_seconds=4)) as other:
        odd = [asyncio.ensure_future(fetched(other, path)) for path in ENDS]
        served = 0
        while not all(task.done() for task in odd):
            assert (await fetched(client, "/fine")).text == "<title>fine</title>"
            served += 1
            await asyncio.sleep(0.01)
        outcomes = await asyncio.gather(*odd, return_exceptions=True)
    assert all(isinstance(outcome, FetchError) for outcome in outcomes)
    # All odd requests run at once: behind any of them at most one page would be served before they have ended.
    assert served >= 3


async def test_a_page_has_its_redirects_and_validators(client: Client) -> None:
    page = await fetched(client, "/to/fine")
    assert (page.status, page.text, page.final_url) == (200, "<title>fine</title>", "http://odd.example/fine")
    assert [(hop.url, hop.status) for hop in page.redirects] == [("http://odd.example/to/fine", 301)]
    assert (page.content_type, page.charset, page.not_modified) == ("text/html", "utf-8", False)


async def test_a_redirect_with_an_endless_body_is_not_read(client: Client) -> None:
    assert (await fetched(client, "/to/fine-with-endless-body")).text == "<title>fine</title>"


async def test_members_of_a_gzip_body_are_one_body(client: Client) -> None:
    assert (await fetched(client, "/gzip/members")).body == b"one two"


async def test_an_unchanged_page_is_not_sent_again(client: Client) -> None:
    first = await fetched(client, "/tagged")
    again = await client.fetch("http://odd.example/tagged", validators=first.validators)
    assert (again.not_modified, again.body, again.etag) == (True, b"", '"v1"')


@pytest.mark.parametrize("etag", ['"v1"\r\nX-Evil: 1', "ü" * 10, '"' + "a" * 5000 + '"', ""])
async def test_an_unsafe_validator_is_not_sent(web: OddWeb, client: Client, etag: str) -> None:
    page = await client.fetch("http://odd.example/tagged", validators=Validators(etag=etag))
    assert page.body == b"page"
    assert not {"If-None-Match", "X-Evil"} & set(web.heads[-1])


async def test_retry_after_is_kept_and_capped(client: Client) -> None:
    waits = {}
    for path in ("/busy", "/down", "/garbled"):
        with pytest.raises(RetryLater) as caught:
            await fetched(client, path)
        waits[path] = caught.value.after
    assert waits == {"/busy": timedelta(seconds=120), "/down": timedelta(hours=1), "/garbled": None}


async def test_header_bytes_that_are_not_text_are_replaced(client: Client) -> None:
    page = await fetched(client, "/odd-header")
    assert page.headers["X-Odd"] == "caf\ufffd \ufffd\ufffd"


async def test_redirects_in_html_are_not_followed() -> None:
    async with Canary() as canary:
        inside = f"http://127.0.0.1:{canary.port}/"
        body = f"<meta http-equiv=refresh content='0;url={inside}'><base href='{inside}'><iframe src='{inside}'>"

        async def lure(visitor: Visitor) -> None:
            await visitor.answer(body.encode(), Refresh=f"0; url={inside}", Link=f"<{inside}>; rel=preload")

        async with OddWeb(routes={"/lure": lure}) as web, client_of(web, PATIENT) as client:
            assert (await fetched(client, "/lure")).text == body
        assert canary.hits == 0


async def test_cookies_are_not_kept(client: Client) -> None:
    await fetched(client, "/cookie")
    assert (await fetched(client, "/cookie")).text == "none"


async def test_the_request_offers_only_supported_codings_and_has_the_user_agent(web: OddWeb) -> None:
    async with client_of(web, PATIENT, "scrapersky/1 (+https://who.example)") as client:
        sent = (await fetched(client, "/echo-headers")).text
    assert "Accept-Encoding: gzip, deflate\n" in sent + "\n"
    assert "User-Agent: scrapersky/1 (+https://who.example)" in sent
    assert "Host: odd.example" in sent


async def test_connections_are_reused(web: OddWeb, client: Client) -> None:
    for _ in range(5):
        await fetched(client, "/fine")
    assert web.connections == 1


async def test_idle_connections_count_towards_the_limit(web: OddWeb) -> None:
    hosts = {f"odd{number}.example": web.place for number in range(30)}
    guard = SsrfGuard(allowance=Allowance([web.place]))

    def open_connections() -> int:
        sockets = psutil.Process().net_connections("tcp")
        return sum(
            bool(each.raddr) and each.raddr.port == web.port and each.status == "ESTABLISHED" for each in sockets
        )

    async with Client(guard, replace(PATIENT, connections=5), known_hosts=hosts) as client:
        await asyncio.gather(*(client.fetch(f"http://{host}/fine") for host in hosts))
        assert 0 < open_connections() <= 5
        await client.fetch("http://odd0.example/fine")
        await client.fetch("http://odd0.example/fine")  # the newest connections are kept
        assert web.connections <= 31


async def test_without_a_free_file_descriptor_the_fetch_is_postponed(web: OddWeb, client: Client) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 20, hard))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(TooSoon, match="too many open files") as caught:
            await fetched(client, "/fine")
    finally:
        for number in taken:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not caught.value.counts
    assert (await fetched(client, "/fine")).status == 200


async def test_a_long_body_may_be_truncated_instead_of_refused(client: Client) -> None:
    page = await client.fetch("http://odd.example/endless/body", max_bytes=100_000, truncate=True)
    assert (len(page.body), page.truncated) == (100_000, True)


async def test_a_stream_gives_pieces_and_counts_only_time_spent_waiting(web: OddWeb) -> None:
    sizes = []
    short = replace(PATIENT, deadline_seconds=1.5)

    async def read_slowly() -> None:
        async with (
            client_of(web, short) as client,
            client.stream("http://odd.example/bomb/gzip", max_bytes=50_000_000) as answer,
        ):
            async for piece in answer:
                sizes.append(len(piece))
                if len(sizes) == 1:
                    await asyncio.sleep(1.7)  # a slow reader is not the site's fault

    with pytest.raises(PermanentFetchError, match="longer than 50000000"):
        await read_slowly()
    assert max(sizes) <= 65_536
    assert 49_900_000 < sum(sizes) <= 50_000_000


async def test_a_stream_closed_early_closes_its_connection(web: OddWeb, client: Client) -> None:
    async with client.stream("http://odd.example/endless/body") as answer:
        async for _ in answer:
            break
    assert (await fetched(client, "/fine")).status == 200
    assert web.connections == 2


async def test_proxies_of_the_environment_are_ignored(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await fetched(client, "/fine")).status == 200


async def test_every_request_goes_through_a_configured_proxy() -> None:
    async def proxied(visitor: object) -> None:
        await visitor.answer(b"by proxy")  # type: ignore[attr-defined]

    async with OddWeb(routes={"http://far.example/page": proxied}) as proxy:
        async with Client(SsrfGuard(), PATIENT, proxies=parse_proxies(f"http://{proxy.place}")) as client:
            assert (await client.fetch("http://far.example/page")).text == "by proxy"
            with pytest.raises(FetchError, match="this machine"):
                await client.fetch(f"http://127.0.0.1:{proxy.port}/".replace(f":{proxy.port}", ""))
        async with Client(SsrfGuard(), PATIENT, proxies=parse_proxies("http://127.0.0.1:9")) as client:
            with pytest.raises(ProxiesCoolingDown, match=r"The proxy http://127\.0\.0\.1:9 cannot be reached"):
                await client.fetch("http://far.example/page")


async def test_a_handshake_that_hangs_ends_in_time(web: OddWeb) -> None:
    silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(30), "127.0.0.1", 0)
    place = f"127.0.0.1:{silent.sockets[0].getsockname()[1]}"
    async with Client(SsrfGuard(allowance=Allowance([place])), LIMITS, known_hosts={"slow.example": place}) as client:
        with pytest.raises(RetryLater, match=r"in time|needs longer"):
            await client.fetch("https://slow.example/")
    silent.close()


async def test_certificates_are_verified() -> None:
    authority = trustme.CA()
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("good.example").configure_cert(served)

    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(hello, "127.0.0.1", 0, ssl=served)
    place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    hosts = {"good.example": place, "other.example": place}
    guard = SsrfGuard(allowance=Allowance([place]))
    async with (
        Client(guard, PATIENT, known_hosts=hosts) as wary,
        Client(guard, PATIENT, known_hosts=hosts, ssl_context=trusting) as client,
    ):
        with pytest.raises(PermanentFetchError, match=r"certificate of good\.example cannot be trusted"):
            await wary.fetch("https://good.example/")
        with pytest.raises(PermanentFetchError, match=r"certificate of other\.example cannot be trusted"):
            await client.fetch("https://other.example/")
        assert (await client.fetch("https://good.example/")).text == "ok"
    server.close()


async def test_a_silent_name_server_delays_no_other_lookup(web: OddWeb) -> None:
    released = threading.Event()
    asked = []
    port = web.port

    def lookup(host: str, _port: int, **_: object) -> list[tuple]:
        asked.append(host)
        if host.startswith("silent"):
            released.wait(240)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    client = client_of(web, PATIENT)
    client._resolver = DnsResolver(client.guard, threads=8, seconds=1.5, lookup=lookup)
    try:
        async with client:
            silent = [asyncio.ensure_future(client.fetch(f"http://silent{number}.example/")) for number in range(7)]
            await asyncio.sleep(0)
            assert (await client.fetch("http://quick.example/fine")).status == 200
            assert not any(task.done() for task in silent)
            outcomes = await asyncio.gather(*silent, return_exceptions=True)
            assert all(isinstance(outcome, RetryLater) and "name server" in outcome.reason for outcome in outcomes)
            # Even with every thread taken a lookup ends in time, and no thread is added.
            more = [client.fetch(f"http://silent-too{number}.example/") for number in range(5)]
            outcomes = await asyncio.gather(*more, return_exceptions=True)
            assert all(isinstance(outcome, RetryLater) for outcome in outcomes)
            assert len(asked) <= 9
    finally:
        released.set()


PIECES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 302 Found\r\n",
        b"HTTP/1.0 200\r\n",
        b"HTTP/2 200\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n",
        b"HTTP/1.1 103 Early Hints\r\n",
        b"HTTP/1.1 204 No Content\r\n",
        b"Content-Length: 3\r\n",
        b"Content-Length: x\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        b"Location: \xff\xfe\r\n",
        b"Location: http://[\r\n",
        b" folded: line\r\n",
        b"no colon\r\n",
        b"\r\n",
        b"3\r\nabc\r\n",
        b"0\r\n\r\n",
        b"\x1f\x8b\x08\x00",
        b"\x00",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=20), max_size=12).map(b"".join))
def test_any_bytes_of_a_server_end_in_a_page_or_a_fetch_error(answer: bytes) -> None:
    async def respond(visitor: Visitor) -> None:
        await visitor.raw(answer)
        raise Hangup

    async def ask() -> FetchedPage | FetchError:
        async with OddWeb(routes={"/": respond}) as web, client_of(web) as client:
            try:
                return await fetched(client, "/")
            except FetchError as error:
                return error

    assert isinstance(asyncio.run(ask()), FetchedPage | FetchError)
