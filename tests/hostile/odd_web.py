"""An odd web: a raw server with one route per oddity, on a real socket, written below HTTP so that it can break it."""

import asyncio
import gzip
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

CRLF = b"\r\n"
Route = Callable[["Visitor"], Awaitable[None]]
ROUTES: dict[str, Route] = {}


def route(path: str) -> Callable[[Route], Route]:
    """Register a function for a path."""

    def register(function: Route) -> Route:
        ROUTES[path] = function
        return function

    return register


class Visitor:
    """One request: what was asked, and ways to answer it badly."""

    def __init__(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path = lines[0].split(" ")[:2]
        self.headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        self._writer = writer

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        if self._writer.is_closing():
            raise Hangup
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self, body: bytes = b"", status: str = "200 OK", **headers: str) -> None:
        """Send a proper response; an underscore in the name of a header means a hyphen."""
        fields = {
            "Content-Length": str(len(body)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        await self.raw(_head(status, fields) + (b"" if self.method == "HEAD" else body))

    async def redirect(self, location: str, status: str = "302 Found") -> None:
        """Send a redirect with this location, unchecked."""
        await self.raw(_head(status, {"Location": location, "Content-Length": "0"}))

    async def forever(self, piece: bytes, pause: float = 0) -> None:
        """Send the same bytes until the client disconnects."""
        while True:
            await self.raw(piece)
            await asyncio.sleep(pause)


def _head(status: str, fields: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")


class OddWeb:
    """The server. `hits` counts requests per path; `routes` may add some for one test."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, routes: dict[str, Route] | None = None) -> None:
        self.hits: Counter[str] = Counter()
        self.heads: list[dict[str, str]] = []
        self.connections = 0
        self._routes = {**ROUTES, **(routes or {})}
        self._host, self._port = host, port
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                visitor = Visitor(await reader.readuntil(b"\r\n\r\n"), writer)
                path = visitor.path.partition("?")[0]
                self.hits[path] += 1
                self.heads.append(visitor.headers)
                await self._routes.get(path, nothing_here)(visitor)
        writer.close()


class Hangup(ConnectionError):
    """The route wants the connection closed now."""


class Canary:
    """Counts connections and answers nothing useful; a hit means that something got where it must not."""

    def __init__(self, port: int = 0) -> None:
        self.hits = 0
        self._port = port
        self._six: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Listen on every address of this machine, so that no form of "here" is missed."""
        self._four = await asyncio.start_server(self._hit, "0.0.0.0", self._port)
        self.port = int(self._four.sockets[0].getsockname()[1])
        try:
            self._six = await asyncio.start_server(self._hit, "::", self.port)
        except OSError:  # a machine without IPv6: nothing can arrive there, and the lab's report says so
            self._six = None
        return self

    async def __aexit__(self, *_: object) -> None:
        self._four.close()
        if self._six is not None:
            self._six.close()

    @property
    def has_six(self) -> bool:
        return self._six is not None

    async def _hit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hits += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        writer.close()


async def nothing_here(visitor: Visitor) -> None:
    await visitor.answer(b"nothing here", "404 Not Found")


# -- plain pages ---------------------------------------------------------------------------------------------------
@route("/fine")
async def fine(visitor: Visitor) -> None:
    await visitor.answer(b"<title>fine</title>", Content_Type="text/html; charset=utf-8")


@route("/tagged")
async def tagged(visitor: Visitor) -> None:
    if visitor.headers.get("If-None-Match") == '"v1"':
        await visitor.raw(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n')
    else:
        await visitor.answer(b"page", ETag='"v1"', Last_Modified="Sun, 15 Nov 2026 12:00:00 GMT")


# -- bombs ---------------------------------------------------------------------------------------------------------
def bomb(wbits: int, gibibytes: int = 1) -> bytes:
    """Build gzip of endless zeros: one flushed block, repeated."""
    packer = zlib.compressobj(9, wbits=wbits)
    start = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    bare = zlib.compressobj(9, wbits=-15)
    block = bare.compress(bytes(1 << 20)) + bare.flush(zlib.Z_FULL_FLUSH)
    return start + block * (1024 * gibibytes)


@route("/bomb/gzip")
async def gzip_bomb(visitor: Visitor) -> None:
    await visitor.answer(bomb(31), Content_Encoding="gzip")


@route("/bomb/deflate")
async def deflate_bomb(visitor: Visitor) -> None:
    await visitor.answer(bomb(15), Content_Encoding="deflate")


@route("/bomb/raw-deflate")
async def raw_deflate_bomb(visitor: Visitor) -> None:
    await visitor.answer(bomb(-15), Content_Encoding="deflate")


@route("/bomb/members")
async def member_bomb(visitor: Visitor) -> None:
    await visitor.answer(gzip.compress(b"") * 20_000, Content_Encoding="gzip")


@route("/bomb/brotli")
async def brotli_bomb(visitor: Visitor) -> None:
    await visitor.answer(b"\x5b\xff\xff\x3f" * 100, Content_Encoding="br")


@route("/bomb/zstd")
async def zstd_bomb(visitor: Visitor) -> None:
    await visitor.answer(b"\x28\xb5\x2f\xfd" * 100, Content_Encoding="zstd")


@route("/bomb/twice")
async def twice_bomb(visitor: Visitor) -> None:
    await visitor.answer(gzip.compress(gzip.compress(bytes(1 << 20))), Content_Encoding="gzip, gzip")


@route("/bomb/endless-gzip")
async def endless_gzip(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Content-Encoding": "gzip"}))
    await visitor.raw(bomb(31)[:4096])
    bare = zlib.compressobj(0, wbits=-15)
    await visitor.forever(bare.compress(bytes(60_000)) + bare.flush(zlib.Z_FULL_FLUSH))


@route("/bomb/empty-blocks")
async def empty_blocks(visitor: Visitor) -> None:
    packer = zlib.compressobj(wbits=31)
    await visitor.raw(_head("200 OK", {"Content-Encoding": "gzip"}))
    await visitor.raw(packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH))
    await visitor.forever(b"\x00\x00\x00\xff\xff" * 10_000)


@route("/gzip/damaged")
async def damaged_gzip(visitor: Visitor) -> None:
    packed = bytearray(gzip.compress(b"hello " * 1000))
    packed[20:30] = b"\xff" * 10
    await visitor.answer(bytes(packed), Content_Encoding="gzip")


@route("/gzip/lie")
async def gzip_lie(visitor: Visitor) -> None:
    await visitor.answer(b"<html>not packed at all", Content_Encoding="gzip")


@route("/gzip/cut")
async def cut_gzip(visitor: Visitor) -> None:
    await visitor.answer(gzip.compress(b"hello " * 10_000)[:-20], Content_Encoding="gzip")


@route("/gzip/members")
async def gzip_members(visitor: Visitor) -> None:
    await visitor.answer(gzip.compress(b"one ") + gzip.compress(b"two") + b"padding", Content_Encoding="gzip")


# -- endless, slow, silent -----------------------------------------------------------------------------------------
@route("/endless/body")
async def endless_body(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {}))
    await visitor.forever(b"<a href='" + b"x" * 65_536)


@route("/endless/chunks")
async def endless_chunks(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Transfer-Encoding": "chunked"}))
    await visitor.forever(b"10000\r\n" + b"y" * 65_536 + CRLF)


@route("/endless/chunk-extensions")
async def chunk_extensions(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Transfer-Encoding": "chunked"}))
    await visitor.forever(b"1;" + b"e" * 60_000 + CRLF + b"z" + CRLF)


@route("/endless/continue")
async def endless_continue(visitor: Visitor) -> None:
    await visitor.forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 200)


@route("/endless/announced")
async def announced(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Content-Length": "999999999999"}))
    await visitor.forever(b"x" * 1000, 0.05)


@route("/drip/body")
async def drip_body(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Content-Length": "5000"}))
    await visitor.forever(b"x", 0.05)


@route("/drip/headers")
async def drip_headers(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await visitor.forever(b"x", 0.05)


@route("/hang/before")
async def hang_before(visitor: Visitor) -> None:
    await asyncio.Event().wait()


@route("/hang/headers")
async def hang_headers(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nContent-")
    await asyncio.Event().wait()


@route("/hang/body")
async def hang_body(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Content-Length": "100"}) + b"half")
    await asyncio.Event().wait()


# -- broken HTTP ---------------------------------------------------------------------------------------------------
@route("/broken/long-header")
async def long_header(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 300_000 + b"\r\nContent-Length: 0\r\n\r\n")


@route("/broken/many-headers")
async def many_headers(visitor: Visitor) -> None:
    fields = b"".join(b"X-%d: y\r\n" % number for number in range(20_000))
    await visitor.raw(b"HTTP/1.1 200 OK\r\n" + fields + b"Content-Length: 0\r\n\r\n")


@route("/broken/long-status")
async def long_status(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 " + b"O" * 300_000 + CRLF * 2)


@route("/broken/not-http")
async def not_http(visitor: Visitor) -> None:
    await visitor.raw(b"220 mail.example ESMTP ready\r\n")


@route("/broken/two-lengths")
async def two_lengths(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nhello")


@route("/broken/negative-length")
async def negative_length(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello")


@route("/broken/chunk-size")
async def broken_chunk_size(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Transfer-Encoding": "chunked"}) + b"zz\r\nhello\r\n")


@route("/broken/cut")
async def cut_body(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Content-Length": "100"}) + b"half")
    raise Hangup


@route("/broken/cut-chunk")
async def cut_chunk(visitor: Visitor) -> None:
    await visitor.raw(_head("200 OK", {"Transfer-Encoding": "chunked"}) + b"64\r\nhalf")
    raise Hangup


@route("/broken/goodbye")
async def goodbye(visitor: Visitor) -> None:
    raise Hangup


@route("/broken/status-999")
async def status_999(visitor: Visitor) -> None:
    await visitor.answer(b"", "999 Denied")


@route("/odd-header")
async def odd_header(visitor: Visitor) -> None:
    await visitor.raw(b"HTTP/1.1 200 OK\r\nX-Odd: caf\xe9 \xff\xfe\r\nContent-Length: 2\r\n\r\nok")


# -- redirects -----------------------------------------------------------------------------------------------------
@route("/to/self")
async def to_self(visitor: Visitor) -> None:
    await visitor.redirect("/to/self")


@route("/to/ping")
async def to_ping(visitor: Visitor) -> None:
    await visitor.redirect("/to/pong")


@route("/to/pong")
async def to_pong(visitor: Visitor) -> None:
    await visitor.redirect("/to/ping")


@route("/to/endless")
async def to_endless(visitor: Visitor) -> None:
    number = int(visitor.path.partition("?")[2] or 0)
    await visitor.redirect(f"/to/endless?{number + 1}")


@route("/to/slow")
async def to_slow(visitor: Visitor) -> None:
    await asyncio.sleep(0.25)
    await visitor.redirect(f"/to/slow?{len(visitor.path)}")


@route("/to/nowhere")
async def to_nowhere(visitor: Visitor) -> None:
    await visitor.answer(b"", "302 Found")


@route("/to/fine")
async def to_fine(visitor: Visitor) -> None:
    await visitor.redirect("/fine", "301 Moved Permanently")


@route("/to/fine-with-endless-body")
async def to_fine_with_body(visitor: Visitor) -> None:
    await visitor.raw(_head("302 Found", {"Location": "/fine"}))
    await visitor.forever(b"x" * 65_536)


@route("/to/anywhere")
async def to_anywhere(visitor: Visitor) -> None:
    """Redirect to the bytes in the query (hexadecimal, so that nothing changes them)."""
    await visitor.redirect(bytes.fromhex(visitor.path.partition("?")[2]).decode("utf-8", "surrogateescape"))


# -- words of the host ---------------------------------------------------------------------------------------------
@route("/busy")
async def busy(visitor: Visitor) -> None:
    await visitor.answer(b"", "429 Too Many Requests", Retry_After="120")


@route("/down")
async def down(visitor: Visitor) -> None:
    await visitor.answer(b"", "503 Service Unavailable", Retry_After="99999999")


@route("/garbled")
async def garbled(visitor: Visitor) -> None:
    await visitor.answer(b"", "503 Service Unavailable", Retry_After="whenever")


@route("/forbidden")
async def forbidden(visitor: Visitor) -> None:
    await visitor.answer(b"", "403 Forbidden")


@route("/removed")
async def removed(visitor: Visitor) -> None:
    await visitor.answer(b"", "410 Gone")


@route("/cookie")
async def cookie(visitor: Visitor) -> None:
    await visitor.answer(visitor.headers.get("Cookie", "none").encode(), Set_Cookie="a=b; Path=/")


@route("/echo-headers")
async def echo_headers(visitor: Visitor) -> None:
    await visitor.answer("\n".join(f"{name}: {value}" for name, value in visitor.headers.items()).encode())
