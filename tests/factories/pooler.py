"""A connection pooler in front of PostgreSQL, as far as the start of a connection goes: PgBouncer refuses parameters
that it does not know, and drops those that it was told to ignore."""

import asyncio
import struct
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from sqlalchemy.engine import make_url

KNOWN = ("user", "database", "client_encoding", "datestyle", "timezone", "standard_conforming_strings")
IGNORED = ("extra_float_digits", "application_name")
PROTOCOL = 196608  # 3.0; other codes ask for encryption


@asynccontextmanager
async def pooler(url: str, ignored: Collection[str] = ()) -> AsyncIterator[str]:
    """Run a pooler before the server of this URL, which listens on a socket; yield the URL of the pooler."""
    target = make_url(url)
    connections: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        code, fields = await _read_start(reader)
        while code != PROTOCOL:
            writer.write(b"N")
            code, fields = await _read_start(reader)
        unknown = [name for name in fields if name.lower() not in (*KNOWN, *IGNORED, *ignored)]
        if unknown:
            writer.write(_refusal(f"unsupported startup parameter: {unknown[0]}"))
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_unix_connection(f"{target.query['host']}/.s.PGSQL.5432")
        connections.append(far_writer)
        kept = {name: value for name, value in fields.items() if name not in ignored}
        body = b"".join(f"{name}\0{value}\0".encode() for name, value in kept.items()) + b"\0"
        far_writer.write(struct.pack("!ii", len(body) + 8, PROTOCOL) + body)
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"postgresql://{target.username}@127.0.0.1:{port}/{target.database}"
    finally:
        server.close()
        for writer in connections:
            writer.close()


async def _read_start(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    length, code = struct.unpack("!ii", await reader.readexactly(8))
    words = (await reader.readexactly(length - 8)).decode().rstrip("\0").split("\0")
    return code, dict(zip(words[::2], words[1::2], strict=False))


def _refusal(message: str) -> bytes:
    body = b"".join(f"{kind}{text}\0".encode() for kind, text in (("S", "FATAL"), ("C", "08P01"), ("M", message)))
    return b"E" + struct.pack("!i", len(body) + 5) + body + b"\0"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()
