"""Load on an HTTP server by raw keep-alive sockets: so many connections, so many requests, and every answer counted."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Request = Callable[[int], bytes]


@dataclass
class Load:
    """What came of it."""

    seconds: float = 0
    statuses: Counter[int] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)

    def at(self, share: float) -> float:
        """Return the milliseconds within which this share was answered."""
        waits = sorted(self.waits)
        return waits[min(len(waits) - 1, int(share * len(waits)))] * 1000

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds


async def press(
    port: int, request: Request, connections: int, requests: int, most_seconds: float, source: str = "127.0.0.1"
) -> Load:
    """Ask until so many are answered or the time is over, from one address of this machine."""
    load, numbers, started = Load(), iter(range(requests)), time.perf_counter()
    deadline = started + most_seconds
    await asyncio.gather(*(_ask_on(port, source, request, numbers, deadline, load) for _ in range(connections)))
    load.seconds = time.perf_counter() - started
    return load


async def _ask_on(
    port: int, source: str, request: Request, numbers: Iterator[int], deadline: float, load: Load
) -> None:
    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", port, limit=1 << 22, local_addr=(source, 0))

    reader, writer = await connect()
    for number in numbers:
        started = time.perf_counter()
        if started > deadline:
            break
        writer.write(request(number))
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(headers.get("content-length", "0")))
        load.waits.append(time.perf_counter() - started)
        load.statuses[int(head.split(" ", 2)[1])] += 1
        if headers.get("connection") == "close":
            writer.close()
            reader, writer = await connect()
    writer.close()
