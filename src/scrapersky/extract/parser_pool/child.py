"""The child process of a parser pool: runs one reader after another within limits that no page can lift.

It is started by its path and imports only the standard library until the parent has sent the import path.
"""

import gc
import importlib
import io
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import traceback
from enum import Enum
from typing import Any, BinaryIO, NamedTuple

FRAME = struct.Struct("!cI")  # the kind of message, and the number of bytes that follow
RESULT, FAULT, TOO_LARGE, BUFFER = b"+", b"-", b"#", b"="
OUT_OF_MEMORY = 71  # exit code


class ParserLimits(NamedTuple):
    """The limits for one page, and the modules that the child imports at its start."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    max_result_bytes: int
    path: list[str]
    preload: tuple[str, ...]


def main() -> None:
    """Serve requests from standard input, which is a socket, until the parent closes it."""
    # Only the parent stops this process, even if the whole process group gets a signal: the input ends with the parent.
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    connection = socket.socket(fileno=0)
    with open(0, "rb", 1 << 18, closefd=False) as requests:
        start, _ = _receive(requests)
        limits = ParserLimits(*pickle.loads(start))  # noqa: S301  # nosec B301 # from our own parent
        _prepare(limits)
        connection.sendall(FRAME.pack(RESULT, 0))
        while True:
            request, buffers = _receive(requests)
            if not request:
                return
            kind, body = _run_reader(request, buffers, limits)
            del request, buffers  # the page; the next one may be as large
            connection.sendall(FRAME.pack(kind, len(body)) + body)


def _receive(requests: BinaryIO) -> tuple[bytes, list[bytes]]:
    """Return the next request and its buffers, which are sent before it; b"" at the end of the input."""
    buffers: list[bytes] = []
    while len(header := requests.read(FRAME.size)) == FRAME.size:
        kind, size = FRAME.unpack(header)
        body = requests.read(size)
        if kind != BUFFER:
            return body, buffers
        buffers.append(body)
    return b"", []


def _prepare(limits: ParserLimits) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS refuses to set this limit
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    sys.path[:] = limits.path
    for module in limits.preload:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)  # a page creates many small objects that are all released together


class _Pickler(pickle.Pickler):
    """Writes a member of an enum as its class and value.

    Python 3.11.0 to 3.11.3 write a call of getattr, which the parent refuses.
    """

    def reducer_override(self, value: Any) -> Any:
        """Return how an enum is built; other values are written as always."""
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


def pack_result(result: object) -> bytes:
    """Return the result of a reader as the parent accepts it."""
    packed = io.BytesIO()
    _Pickler(packed, pickle.HIGHEST_PROTOCOL).dump(result)
    return packed.getvalue()


def _run_reader(request: bytes, buffers: list[bytes], limits: ParserLimits) -> tuple[bytes, bytes]:
    """Run one reader; the kernel ends this process when a timer expires, also inside C code."""
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
    try:
        function, args, options = pickle.loads(request, buffers=buffers)  # noqa: S301  # nosec B301 # from our own parent
        result = pack_result(function(*args, **options))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # any further code may need memory
    except Exception as error:  # noqa: BLE001  # every error of a reader is reported; the child goes on
        where = "".join(traceback.format_tb(error.__traceback__, -4))[-2000:]
        return FAULT, pickle.dumps((type(error).__name__, str(error)[:500], where))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return (RESULT, result) if len(result) <= limits.max_result_bytes else (TOO_LARGE, b"")


if __name__ == "__main__":
    main()
