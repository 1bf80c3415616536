"""A request to an API is sent once: the service may have billed it before the connection was lost."""

import asyncio

import pytest

from scrapersky.crawl.errors import RetryLater
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.network.ip_ranges import Allowance
from scrapersky.crawl.network.ssrf_guard import SsrfGuard

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def test_a_request_whose_kept_connection_is_lost_is_not_sent_again() -> None:
    received: list[bytes] = []

    async def answer_the_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            received.append(head.split()[1])
            if len(received) > 1:
                break  # the request was read, and its response is lost
            writer.write(ANSWER)
        writer.close()

    async with await asyncio.start_server(answer_the_first, "127.0.0.1", 0) as server:
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Client(SsrfGuard(allowance=Allowance([place]))) as client:
            assert (await client.request("GET", f"http://{place}/first")).status == 200
            with pytest.raises(RetryLater, match="was lost"):
                await client.request("GET", f"http://{place}/second")
    assert received == [b"/first", b"/second"]
