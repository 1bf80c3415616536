"""The child of a parser pool: runs one reader after another inside limits that no page can lift.

Started by its path, it imports nothing but the standard library until the parent has told it where to look.
"""

import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import traceback
from typing import BinaryIO, NamedTuple

FRAME = struct.Struct("!cI")  # what it is, and how many bytes follow
ANSWER, FAULT, TOO_LARGE = b"+", b"-", b"#"
OUT_OF_MEMORY = 71  # exit code


class ParserLimits(NamedTuple):
    """What one page may cost, and what the child knows beforehand."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    largest_answer: int
    path: list[str]
    preload: tuple[str, ...]


def main() -> None:
    """Read requests from standard input, which is a socket, until the parent is gone."""
    # The parent decides when to stop, also when a whole group of processes is told to: its end is our end of file.
    for told in (signal.SIGINT, signal.SIGTERM):
        signal.signal(told, signal.SIG_IGN)
    wire = socket.socket(fileno=0)
    with open(0, "rb", 1 << 18, closefd=False) as requests:
        limits = ParserLimits(*pickle.loads(_receive(requests)))  # noqa: S301  # nosec B301 # from our own parent
        _prepare(limits)
        wire.sendall(FRAME.pack(ANSWER, 0))
        while request := _receive(requests):
            kind, answer = _serve(request, limits)
            wire.sendall(FRAME.pack(kind, len(answer)) + answer)


def _receive(requests: BinaryIO) -> bytes:
    """The next request; nothing at the end of the input."""
    header = requests.read(FRAME.size)
    return requests.read(FRAME.unpack(header)[1]) if len(header) == FRAME.size else b""


def _prepare(limits: ParserLimits) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS knows the limit and refuses to set it
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    sys.path[:] = limits.path
    for module in limits.preload:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)  # a page makes many small things that all die with it


def _serve(request: bytes, limits: ParserLimits) -> tuple[bytes, bytes]:
    """Run one reader. The kernel ends this process when a timer runs out, in whatever code it is."""
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
    try:
        function, args, options = pickle.loads(request)  # noqa: S301  # nosec B301 # from our own parent
        answer = pickle.dumps(function(*args, **options), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # nothing that needs memory can be trusted now
    except Exception as error:  # noqa: BLE001  # whatever a reader raises is an answer, not the end of the child
        where = "".join(traceback.format_tb(error.__traceback__, -4))[-2000:]
        return FAULT, pickle.dumps((type(error).__name__, str(error)[:500], where))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return (ANSWER, answer) if len(answer) <= limits.largest_answer else (TOO_LARGE, b"")


if __name__ == "__main__":
    main()
