"""The wire under clients that are slow, endless or both: real sockets, a server with little patience."""

import asyncio
import json
import os
import socket
from contextlib import asynccontextmanager

import psutil
import uvicorn
from starlette.responses import PlainTextResponse

from scrapersky.api.http.middleware import RequestGuard
from scrapersky.api.http.uvicorn_protocol import MAX_HEADER_BYTES, DeadlineProtocol, server_config
from tests.conftest import make_settings

SECONDS = 0.3  # the patience of these servers
ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def hello(scope, receive, send):
    await PlainTextResponse("hello")(scope, receive, send)


class Hasty(DeadlineProtocol):
    header_seconds = SECONDS


class HastyAboutBodies(DeadlineProtocol):
    receive_seconds = 2.0  # well after the wall has answered


@asynccontextmanager
async def listening(app, protocol=Hasty):
    """The port of a real server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = server_config(app, 1)
        config.http = protocol
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


def guarded(**limits):
    return RequestGuard(hello, settings=make_settings("postgresql://x/y"), local_only=True, **limits)


async def read_answer(reader):
    """Status, headers and body of the next answer."""
    async with asyncio.timeout(90):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        return int(head[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


async def ends(reader):
    """Everything until the server hangs up: that it does is what is waited for."""
    async with asyncio.timeout(90):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def test_incomplete_headers_get_408():
    async with listening(hello) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: loc")
        status, headers, body = await read_answer(reader)
        assert (status, headers["connection"]) == (408, "close")
        assert headers["content-type"] == "application/problem+json"
        assert json.loads(body)["status"] == 408
        assert await ends(reader) == b""
        writer.close()


async def test_headers_sent_byte_by_byte_get_408():
    async with listening(hello) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def drip():
            writer.write(b"GET / HTTP/1.1\r\n")
            while True:
                writer.write(b"X-Drip: 1\r\n")
                await asyncio.sleep(SECONDS / 5)

        dripping = asyncio.create_task(drip())
        assert (await read_answer(reader))[0] == 408
        dripping.cancel()
        writer.close()


async def test_a_silent_client_is_disconnected():
    async with listening(hello) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await ends(reader)).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_empty_lines_after_a_response_do_not_keep_the_connection():
    async with listening(hello) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        assert (await read_answer(reader))[0] == 200

        async def drip():
            while True:
                writer.write(b"\r\n")
                await asyncio.sleep(SECONDS / 5)

        dripping = asyncio.create_task(drip())
        await ends(reader)
        dripping.cancel()
        writer.close()


async def test_a_slow_second_request_gets_408_and_a_fast_one_is_served():
    async with listening(hello) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(ASK)
            assert (await read_answer(reader))[0] == 200
        writer.write(ASK[:-2])
        assert (await read_answer(reader))[0] == 408
        writer.close()


async def test_a_request_in_small_pieces_is_served():
    async with listening(hello, DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for letter in ASK:
            writer.write(bytes([letter]))
            await writer.drain()
        assert (await read_answer(reader))[0] == 200
        writer.close()


async def test_endless_headers_get_431_before_they_are_complete():
    async with listening(hello, DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nX-Long: " + b"x" * (MAX_HEADER_BYTES + 100_000))
        assert (await read_answer(reader))[0] == 431
        writer.close()


async def test_twenty_thousand_headers_get_431():
    async with listening(guarded(), DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = b"".join(b"X-%d: 1\r\n" % number for number in range(20_000))
        writer.write(ASK[:-2] + lines + b"\r\n")
        assert (await read_answer(reader))[0] == 431
        writer.close()


async def test_a_slow_body_gets_408_and_is_disconnected():
    async with listening(guarded(body_seconds=0.05), HastyAboutBodies) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
        assert (await read_answer(reader))[0] == 408
        await ends(reader)
        writer.close()


async def test_a_slow_but_steady_body_is_accepted():
    class Impatient(DeadlineProtocol):
        receive_seconds = SECONDS

    async with listening(guarded(body_seconds=SECONDS), Impatient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 800000\r\n\r\n")
        for _ in range(10):  # for three times the patience of both, ten times as fast as it has to be
            writer.write(b" " * 80_000)
            await asyncio.sleep(SECONDS / 3)
        status, _, body = await read_answer(reader)
        assert (status, body) == (200, b"hello")
        writer.close()


async def test_four_hundred_megabytes_without_a_length_get_413_in_little_memory():
    chunk = b"40000\r\n" + b" " * 0x40000 + b"\r\n"
    process = psutil.Process(os.getpid())
    async with listening(guarded(), DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        before, most = process.memory_info().rss, 0
        for _ in range(1600):
            writer.write(chunk)
            try:
                await writer.drain()
            except ConnectionError:
                break
            most = max(most, process.memory_info().rss)
        assert (await read_answer(reader))[0] == 413
        assert most - before < 50_000_000
        writer.close()


async def test_no_response_names_the_server():
    async with listening(guarded(), DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK)
        assert "server" not in (await read_answer(reader))[1]
        writer.close()


async def test_the_server_ignores_forwarded_headers():
    async def whose(scope, receive, send):
        await PlainTextResponse(f"{scope['client'][0]} {scope['scheme']}")(scope, receive, send)

    async with listening(whose, DeadlineProtocol) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK[:-2] + b"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n\r\n")
        assert (await read_answer(reader))[2] == b"127.0.0.1 http"
        writer.close()
