"""One parser process as its parent sees it: a wire, a pid, and an end."""

import asyncio
import io
import os
import pickle
import socket
import subprocess
import sys
from dataclasses import is_dataclass
from datetime import date, time, timedelta, tzinfo
from enum import Enum
from typing import Any, Self

from scrapersky.extract.parser_pool import child as parsing_child
from scrapersky.extract.parser_pool.child import ANSWER, FRAME, TOO_LARGE

# Nothing else of the environment reaches a process that reads hostile bytes: no keys, no database address.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
TRUSTED_MODULE = "scrapersky.extract."
TRUSTED_BUILTINS = frozenset(("set", "frozenset"))


class ParserGone(Exception):
    """The process on the other end of the wire has ended."""


class NotFacts(Exception):
    """An answer holds something else than facts."""


class ParserProcess(asyncio.Protocol):
    """A child process, asked one thing at a time."""

    def __init__(self, largest_answer: int) -> None:
        self.alive = True
        self.answered = 0
        self._largest = largest_answer + 10_000  # a fault's text may be longer than the facts are allowed to be
        self._received = bytearray()
        self._answer: asyncio.Future[tuple[bytes, bytes]] | None = None
        self._transport: asyncio.Transport
        self._process: subprocess.Popen[bytes]

    @classmethod
    async def start(cls, largest_answer: int) -> Self:
        """Start a process of a session of its own: a Ctrl-C in the terminal is the parent's business."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        child = cls(largest_answer)
        with theirs:
            # exec, not fork: neither sockets nor database connections are inherited.
            child._process = subprocess.Popen(  # noqa: ASYNC220, S603  # nosec B603 # own file; returns once exec has succeeded
                [sys.executable, "-I", str(parsing_child.__file__)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
                start_new_session=True,
            )
        ours.setblocking(False)
        try:
            transport, _ = await loop.create_unix_connection(lambda: child, sock=ours)
        except BaseException:
            ours.close()  # its end of file ends the child
            raise
        child._transport = transport
        return child

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Send a request and wait for the kind and the body of its answer."""
        if not self.alive:
            raise ParserGone
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(FRAME.pack(ANSWER, len(request)) + request)
        return await self._answer

    def kill(self) -> None:
        """End the process at once and bury it in the background."""
        self.alive = False
        self._transport.abort()
        self._process.kill()
        asyncio.get_running_loop().run_in_executor(None, self._process.wait)

    async def end(self) -> int:
        """End the process at once; its exit code tells why, if it had already ended by itself."""
        self.alive = False
        self._transport.abort()
        self._process.kill()  # changes nothing about a process that is already exiting
        return await asyncio.get_running_loop().run_in_executor(None, self._process.wait)

    # -- what the event loop calls ------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Collect a frame; hand it over when it is whole. A child that speaks out of turn is not listened to."""
        received = self._received
        received += data
        if len(received) < FRAME.size:
            return
        kind, length = FRAME.unpack_from(received)
        whole = FRAME.size + length
        if length > self._largest:
            self._transport.abort()
            self._hand_over(TOO_LARGE, b"")
        elif self._answer is None or len(received) > whole:
            self._transport.abort()
            self._hand_over(ANSWER, b"")
        elif len(received) == whole:
            body = bytes(memoryview(received)[FRAME.size :])
            received.clear()
            self._hand_over(kind, body)

    def _hand_over(self, kind: bytes, body: bytes) -> None:
        self.answered += 1
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result((kind, body))

    def connection_lost(self, error: Exception | None) -> None:
        """Tell whoever waits that nothing more will come."""
        self.alive = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ParserGone())


class _Unpickler(pickle.Unpickler):
    """Builds only values of the extraction: a child that was taken over by a page cannot make its parent run code."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "builtins" and name in TRUSTED_BUILTINS:
            return super().find_class(module, name)
        if module == "datetime" or module.startswith(TRUSTED_MODULE):
            found = super().find_class(module, name)
            if _is_fact(found) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a fact")


def _is_fact(found: object) -> bool:
    """Whether something is a class of plain values: to make one of it does nothing else."""
    if not isinstance(found, type):
        return False
    return is_dataclass(found) or issubclass(found, tuple | Enum | date | time | timedelta | tzinfo)


def unpickle(answer: bytes) -> object:
    """The facts of an answer, or NotFacts."""
    try:
        return _Unpickler(io.BytesIO(answer)).load()
    except Exception as error:  # noqa: BLE001  # bytes that are no pickle can make it raise almost anything
        raise NotFacts(f"{type(error).__name__}: {error}"[:500]) from None
