"""One parser process, as its parent uses it: requests, results, and its end."""

import asyncio
import io
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from datetime import date, time, timedelta, tzinfo
from enum import Enum
from typing import Any, Self

from scrapersky.extract.parser_pool import child
from scrapersky.extract.parser_pool.child import BUFFER, FRAME, RESULT, TOO_LARGE

# The only environment variables of a process that reads untrusted bytes: no keys, no database URL.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
TRUSTED_MODULES = ("scrapersky.extract.", "scrapersky.core.vocabularies")  # the latter has enums only
TRUSTED_BUILTINS = frozenset(("set", "frozenset"))


class ParserExited(Exception):
    """The parser process has ended."""


class UntrustedResult(Exception):
    """A result contains other than plain values of the extraction."""


class ParserProcess(asyncio.Protocol):
    """A child process that serves one request at a time."""

    def __init__(self, max_result_bytes: int) -> None:
        self.alive = True
        self.responses = 0
        self._max_bytes = max_result_bytes + 10_000  # the text of a fault may be longer than a result
        self._received = bytearray()
        self._response: asyncio.Future[tuple[bytes, bytes]] | None = None
        self._transport: asyncio.Transport
        self._process: subprocess.Popen[bytes]

    @classmethod
    async def start(cls, max_result_bytes: int) -> Self:
        """Start a process in its own session, so that a Ctrl-C in the terminal goes to the parent only."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        process = cls(max_result_bytes)
        with theirs:
            # exec, not fork: neither sockets nor database connections are inherited.
            process._process = subprocess.Popen(  # noqa: ASYNC220, S603  # nosec B603 # our own file; returns once exec has succeeded
                [sys.executable, "-I", str(child.__file__)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
                start_new_session=True,
            )
        ours.setblocking(False)
        try:
            transport, _ = await loop.create_unix_connection(lambda: process, sock=ours)
        except BaseException:
            ours.close()  # the end of its input ends the child
            raise
        process._transport = transport
        return process

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def request(self, body: bytes, buffers: Sequence[pickle.PickleBuffer] = ()) -> tuple[bytes, bytes]:
        """Send a request after its buffers; return the kind and the body of its response. Raises ParserExited."""
        if not self.alive:
            raise ParserExited
        self._response = asyncio.get_running_loop().create_future()
        for buffer in buffers:
            data = buffer.raw()
            self._transport.write(FRAME.pack(BUFFER, data.nbytes))
            self._transport.write(data)
        self._transport.write(FRAME.pack(RESULT, len(body)) + body)
        return await self._response

    def kill(self) -> None:
        """Kill the process; wait for its end in the background."""
        self.alive = False
        self._transport.abort()
        self._process.kill()
        asyncio.get_running_loop().run_in_executor(None, self._process.wait)

    async def end(self) -> int:
        """Kill the process; return its exit code, which shows the reason if it had already ended."""
        self.alive = False
        self._transport.abort()
        self._process.kill()  # no effect on a process that has ended
        return await asyncio.get_running_loop().run_in_executor(None, self._process.wait)

    # -- events of the connection -------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Collect a response and deliver it when it is complete; bytes without a request end the connection."""
        received = self._received
        received += data
        if len(received) < FRAME.size:
            return
        kind, length = FRAME.unpack_from(received)
        whole = FRAME.size + length
        if length > self._max_bytes:
            self._transport.abort()
            self._deliver(TOO_LARGE, b"")
        elif self._response is None or len(received) > whole:
            self._transport.abort()
            self._deliver(RESULT, b"")
        elif len(received) == whole:
            body = bytes(memoryview(received)[FRAME.size :])
            received.clear()
            self._deliver(kind, body)

    def _deliver(self, kind: bytes, body: bytes) -> None:
        self.responses += 1
        response, self._response = self._response, None
        if response is not None and not response.done():
            response.set_result((kind, body))

    def connection_lost(self, error: Exception | None) -> None:
        """Fail the request in flight."""
        self.alive = False
        if self._response is not None and not self._response.done():
            self._response.set_exception(ParserExited())


class _Unpickler(pickle.Unpickler):
    """Builds only plain values of the extraction, so that a compromised child cannot make the parent run code."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "builtins" and name in TRUSTED_BUILTINS:
            return super().find_class(module, name)
        if module == "datetime" or module.startswith(TRUSTED_MODULES):
            found = super().find_class(module, name)
            if _is_plain_value(found) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")


def _is_plain_value(found: object) -> bool:
    """Return whether an object is a class of plain values, whose construction has no other effect."""
    if not isinstance(found, type):
        return False
    return is_dataclass(found) or issubclass(found, tuple | Enum | date | time | timedelta | tzinfo)


def unpickle(body: bytes) -> object:
    """Return the values of a result. Raises UntrustedResult."""
    try:
        return _Unpickler(io.BytesIO(body)).load()
    except Exception as error:  # noqa: BLE001  # malformed bytes can raise almost any error
        raise UntrustedResult(f"{type(error).__name__}: {error}"[:500]) from None
