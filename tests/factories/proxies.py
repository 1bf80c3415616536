"""Small real proxies on loopback: HTTP with forwarding and CONNECT, and SOCKS5. They record what they are asked for."""

import asyncio
import base64
import socket
from collections.abc import Mapping
from typing import Self

import yarl


class LoopbackProxy:
    """A proxy that connects to a `place` (host and port) whatever it is asked for; subclasses speak a protocol."""

    scheme = ""

    def __init__(self, place: tuple[str, int], login: str = "") -> None:
        self.place = place
        self.login = login
        self.asked: list[str] = []
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, login: str = "") -> str:
        return f"{self.scheme}://{login}{'@' if login else ''}127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self.speak(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to_client: bytes = b"", to_site: bytes = b""
    ) -> None:
        """Connect to the site, and copy bytes in both directions."""
        site_reader, site_writer = await asyncio.open_connection(*self.place)
        writer.write(to_client)
        site_writer.write(to_site)
        try:
            await asyncio.gather(_copy(reader, site_writer), _copy(site_reader, writer))
        finally:
            site_writer.close()


class HttpProxy(LoopbackProxy):
    """An HTTP proxy; `connect_status` is its answer to CONNECT."""

    scheme = "http"
    connect_status = 200

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            method, target, _ = first.split(" ")
            self.asked.append(f"{method} {target}")
            wanted = f"Proxy-Authorization: Basic {base64.b64encode(self.login.encode()).decode()}"
            if self.login and wanted not in lines:
                writer.write(b"HTTP/1.1 407 Log in\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
                continue
            if method == "CONNECT" and self.connect_status != 200:
                writer.write(f"HTTP/1.1 {self.connect_status} No\r\nContent-Length: 0\r\n\r\n".encode())
                return
            if method == "CONNECT":
                await self.relay(reader, writer, to_client=b"HTTP/1.1 200 OK\r\n\r\n")
                return
            kept = [line for line in lines if not line.lower().startswith("proxy-")]
            request = "\r\n".join([f"{method} {yarl.URL(target).raw_path_qs} HTTP/1.1", *kept])
            await self.relay(reader, writer, to_site=request.encode())
            return


class SocksProxy(LoopbackProxy):
    """A SOCKS5 proxy; `code` is its answer to CONNECT."""

    scheme = "socks5"
    code = 0

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        method = 2 if self.login else 0
        writer.write(bytes([5, method if method in methods else 0xFF]))
        if method not in methods:
            return
        if method and not await self._logs_in(reader, writer):
            return
        _, command, _, kind = await reader.readexactly(4)
        address = await reader.readexactly({1: 4, 4: 16}[kind])
        port = int.from_bytes(await reader.readexactly(2))
        family = socket.AF_INET if kind == 1 else socket.AF_INET6
        self.asked.append(f"{command} {socket.inet_ntop(family, address)}:{port}")
        answer = bytes([5, self.code, 0, 3, 9]) + b"localhost" + bytes(2)
        if self.code:
            writer.write(answer)
        else:
            await self.relay(reader, writer, to_client=answer)

    async def _logs_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, size = await reader.readexactly(2)
        user = await reader.readexactly(size)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        is_right = b":".join((user, password)).decode() == self.login
        writer.write(bytes([1, 0 if is_right else 1]))
        return is_right


KINDS: Mapping[str, type[LoopbackProxy]] = {"http": HttpProxy, "socks5": SocksProxy}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
