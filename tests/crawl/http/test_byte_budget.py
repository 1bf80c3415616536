"""The memory for pages: small ones are never held up by large ones, and a large one waits before it is read."""

import asyncio

import pytest

from scrapersky.crawl.errors import TooSoon
from scrapersky.crawl.http import byte_budget
from scrapersky.crawl.http.byte_budget import MEDIUM_BYTES, SMALL_BYTES, ByteBudget
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard
from tests.hostile.odd_web import OddWeb, Visitor

PAGE_BYTES = 5_000_000
TOTAL = 8 * PAGE_BYTES  # two of the largest pages at once


async def test_a_page_reserves_more_while_it_grows() -> None:
    reservation = ByteBudget(TOTAL, PAGE_BYTES).reservation()
    assert [await reservation.grow(size) for size in (0, 1000, SMALL_BYTES + 1, MEDIUM_BYTES + 1, PAGE_BYTES)] == [
        SMALL_BYTES,
        SMALL_BYTES,
        MEDIUM_BYTES,
        PAGE_BYTES,
        PAGE_BYTES,
    ]


async def test_the_largest_pages_wait_for_each_other_and_not_the_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_budget, "WAIT_SECONDS", 0.01)
    budget = ByteBudget(TOTAL, PAGE_BYTES)
    first, second, third, small = (budget.reservation() for _ in range(4))
    await first.grow(PAGE_BYTES)
    await second.grow(PAGE_BYTES)
    with pytest.raises(TooSoon, match="large pages") as caught:
        await third.grow(PAGE_BYTES)
    assert (caught.value.counts, caught.value.after) == (False, byte_budget.RETRY_AFTER)
    assert await small.grow(1) == SMALL_BYTES
    first.release()
    assert await third.grow(PAGE_BYTES) == PAGE_BYTES


async def test_a_page_with_a_small_limit_needs_one_part() -> None:
    assert await ByteBudget(1_000_000, 10_000).reservation().grow(10_000) == SMALL_BYTES


@pytest.mark.parametrize("is_announced", [True, False])
async def test_memory_is_reserved_before_the_body_is_read(is_announced: bool) -> None:
    asked: list[int] = []
    body = b"x" * 2_000_000

    async def answer(visitor: Visitor) -> None:
        if is_announced:
            await visitor.answer(body)
        else:
            await visitor.raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
            raise ConnectionError

    async def reserve(size: int) -> int:
        asked.append(size)
        await asyncio.sleep(0)
        return SMALL_BYTES if size <= SMALL_BYTES else PAGE_BYTES

    async with OddWeb(routes={"/": answer}) as web:
        guard = SsrfGuard(allowance=Allowance([web.place]))
        async with Client(guard, known_hosts={"odd.example": web.place}) as client:
            page = await client.fetch("http://odd.example/", reserve=reserve)

    assert len(page.body) == 2_000_000
    if is_announced:
        assert asked == [2_000_000]
    else:
        assert asked[0] == 0
        assert SMALL_BYTES < asked[1] < 1_000_000  # one read of the socket beyond what is reserved
