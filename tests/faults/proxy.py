"""A small TCP proxy in front of PostgreSQL that can refuse, reset, hang, and lose the answer to a COMMIT."""

import asyncio
import contextlib
import socket
import struct

from tests.faults.line import LOSE_THE_NEXT_COMMIT


class Proxy:
    """Listens on loopback, forwards to the server's unix socket. Changing its mode changes every open connection."""

    def __init__(self, unix_socket: str) -> None:
        self._unix_socket = unix_socket
        self._listening: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._links: set[_Link] = set()
        self.port = 0
        self.accepted = 0
        self.lost_commits = 0

    async def start(self) -> None:
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._listening.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._flowing.set()
        await self.refuse()

    async def refuse(self) -> None:
        """Nobody listens any more, and open connections are reset."""
        if self._listening is not None:
            self._listening.close()
        self.reset()
        await asyncio.gather(*(link.done.wait() for link in list(self._links)))

    def reset(self) -> None:
        """Open connections end without a good-bye, on both sides."""
        for link in list(self._links):
            link.abort()

    def hang(self) -> None:
        """Nothing flows any more in either direction, and nobody is told."""
        self._flowing.clear()

    def flow(self) -> None:
        """What was on its way arrives now."""
        self._flowing.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        link = _Link(self, writer)
        self._links.add(link)
        try:
            await self._flowing.wait()
            far_reader, far_writer = await asyncio.open_unix_connection(self._unix_socket)
            link.writers.append(far_writer)
            await asyncio.gather(link.upstream(reader, far_writer), link.downstream(far_reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the server is away: our side ends as its side did
        finally:
            link.abort()
            self._links.discard(link)
            link.done.set()

    async def flowing(self) -> None:
        await self._flowing.wait()


class _Link:
    def __init__(self, proxy: Proxy, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self.writers = [writer]
        self.done = asyncio.Event()
        self._armed = self._losing = False

    def abort(self) -> None:
        for writer in self.writers:
            handle = writer.get_extra_info("socket")
            if handle is not None and handle.family == socket.AF_INET:
                with contextlib.suppress(OSError):  # it is closed already
                    handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def upstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self._proxy.flowing()
            self._losing = self._losing or (self._armed and b"COMMIT" in data)
            self._armed = self._armed or LOSE_THE_NEXT_COMMIT.encode() in data
            writer.write(data)
            await writer.drain()
        await self._proxy.flowing()
        writer.close()

    async def downstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self._proxy.flowing()
            if self._losing:
                self._proxy.lost_commits += b"COMMIT" in data  # the server has done it and says so to nobody
                self.abort()
                return
            writer.write(data)
            await writer.drain()
        await self._proxy.flowing()
        writer.close()
