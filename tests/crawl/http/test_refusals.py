"""Responses without success over real sockets: a bot check is told from other refusals, within limits."""

import gzip

import pytest

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.crawl.errors import BotCheckRequired, FetchError, PermanentFetchError, RetryLater
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from tests.hostile.odd_web import OddWeb, Visitor

CHALLENGE = b"<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"


async def refusal(status: str, headers: str, body: bytes) -> FetchError:
    async def answer(visitor: Visitor) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        await visitor.raw(head.encode() + body)

    async with OddWeb(routes={"/": answer}) as web:
        guard = SsrfGuard(allowance=Allowance([web.place]))
        async with Client(guard, known_hosts={"odd.example": web.place}) as client:
            with pytest.raises(FetchError) as raised:
                await client.fetch("http://odd.example/")
    return raised.value


HTML = "Content-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        ("403 Forbidden", HTML, CHALLENGE),
        ("503 Service Unavailable", f"{HTML}Content-Encoding: gzip\r\n", gzip.compress(CHALLENGE)),
        ("200 OK", f"{HTML}cf-mitigated: challenge\r\n", CHALLENGE),
        ("403 Forbidden", HTML, CHALLENGE + b"x" * 1_000_000),
    ],
    ids=["plain", "compressed", "by a header", "long"],
)
async def test_a_bot_check_is_not_tried_again(status: str, headers: str, body: bytes) -> None:
    error = await refusal(status, headers, body)
    assert isinstance(error, BotCheckRequired)
    assert (error.reason_code, error.url) == (HiddenReason.BOT_CHECK, "http://odd.example/")


async def test_other_refusals_stay_what_they_are() -> None:
    forbidden = await refusal("403 Forbidden", HTML, b"<h1>Forbidden</h1>")
    assert (type(forbidden), forbidden.reason_code) == (PermanentFetchError, None)
    broken = await refusal("403 Forbidden", f"{HTML}Content-Encoding: gzip\r\n", b"no gzip at all")
    assert (type(broken), broken.reason_code) == (PermanentFetchError, None)
    login = await refusal("401 Unauthorized", HTML, b"")
    assert (type(login), login.reason_code) == (PermanentFetchError, HiddenReason.LOGIN)
    down = await refusal("503 Service Unavailable", HTML, b"<p>The site is down for maintenance.</p>")
    assert (type(down), down.reason_code) == (RetryLater, HiddenReason.UNFINISHED)
