"""Parsing of untrusted pages in child processes that can be killed.

    async with ParserPool(size=2, cpu_seconds=5, memory_mb=512) as pool:
        result = await pool.run(read_page, html)     # read_page(html, parser="turbohtml") -> result

If a page ends, stalls or bloats its child, a new child tries again, with parser="lxml" where the reader takes a parser;
then the page fails with a reason. The children share no sockets, connections or secrets with the parent.
"""

import asyncio
import inspect
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import ParamSpec, Self, TypeVar, cast

import structlog

from scrapersky.core.errors import ScraperSkyError, Unavailable
from scrapersky.extract.parser_pool.child import FAULT, OUT_OF_MEMORY, TOO_LARGE, ParserLimits
from scrapersky.extract.parser_pool.process import ParserExited, ParserProcess, UntrustedResult, unpickle

P = ParamSpec("P")
Result = TypeVar("Result")
FALLBACK = "lxml"
START_SECONDS = 30.0
LARGE_BYTES = 1_048_576  # larger pages, which may take long, leave one process to the others
GRACE_SECONDS = 2.0  # the child's own timers expire first, since they show the reason

log = structlog.get_logger(__name__)


class PoisonPage(ScraperSkyError):
    """No parser can read this page within its limits; do not try it again."""

    opens_breaker = False


class ReaderFault(ScraperSkyError):
    """The reader raised an error on this page; the reader has to be corrected."""


class ParserCannotStart(Unavailable):
    """A parser process cannot be started."""


class _Failed(Exception):
    """One attempt has failed."""

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(reason)
        self.where = where  # the traceback, if the reader raised an error


@dataclass
class PoolCounts:
    """Counters of a pool since its start."""

    pages: int = 0
    retried: int = 0
    given_up: int = 0
    started: int = 0
    killed: int = 0
    recycled: int = 0


class _Slot:
    """The place of one child process."""

    child: ParserProcess | None = None


class ParserPool:
    """A few long-lived parser processes, each of which reads one page at a time."""

    def __init__(
        self,
        size: int = 2,
        *,
        cpu_seconds: float = 5.0,
        wall_seconds: float = 15.0,
        memory_mb: int = 512,
        max_result_mb: float = 8.0,
        pages_per_child: int = 2_000,
        preload: tuple[str, ...] = ("scrapersky.extract.document.parse",),
    ) -> None:
        self.size = size
        self.counts = PoolCounts()
        self._pages_per_child = pages_per_child
        self._limits = ParserLimits(
            cpu_seconds, wall_seconds, memory_mb << 20, int(max_result_mb * (1 << 20)), list(sys.path), preload
        )
        self._free: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()  # the slot with a running child comes first
        self._large = asyncio.Semaphore(max(1, size - 1))
        self._slots = [_Slot() for _ in range(size)]
        self._open = False

    async def __aenter__(self) -> Self:
        """Start one child, so that limits too tight for its start raise at once; others start when all are busy."""
        self._open = True
        try:
            await self._fill(self._slots[-1])
        except BaseException:
            await self.close()
            raise
        for slot in self._slots:
            self._free.put_nowait(slot)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End every child, also those with a page in flight."""
        self._open = False
        children = [slot.child for slot in self._slots if slot.child is not None]
        for slot in self._slots:
            slot.child = None
        await asyncio.gather(*(child.end() for child in children))

    @property
    def process_ids(self) -> list[int]:
        """The processes that are running now."""
        return [slot.child.pid for slot in self._slots if slot.child is not None]

    async def run(self, function: Callable[P, Result], *args: P.args, **options: P.kwargs) -> Result:
        """Return the function's result. Raises PoisonPage or ReaderFault. Function and result must be picklable."""
        self.counts.pages += 1
        again = {**options, "parser": FALLBACK} if _takes_parser(function) else options
        try:
            return cast(Result, await self._attempt((function, args, options)))
        except _Failed as failed:
            if failed.where and again is options:
                raise self._give_up(failed) from None  # a second attempt would raise the same error
            first = failed
        self.counts.retried += 1
        try:
            return cast(Result, await self._attempt((function, args, again)))
        except _Failed as second:
            raise self._give_up(first, second) from None

    def _give_up(self, first: _Failed, second: _Failed | None = None) -> ScraperSkyError:
        self.counts.given_up += 1
        last = second or first
        reason = f"{first}" if str(last) == str(first) else f"{first}; tried once more, it {last}"
        log.warning("page_parsing_failed", reason=reason, where=last.where)
        return ReaderFault(f"The reader {reason}.") if last.where else PoisonPage(f"The page {reason}.")

    async def _attempt(self, request: tuple[object, ...]) -> object:
        buffers: list[pickle.PickleBuffer] = []
        packed = pickle.dumps(request, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
        is_large = len(packed) + sum(buffer.raw().nbytes for buffer in buffers) > LARGE_BYTES
        async with self._large if is_large else nullcontext():
            return await self._send(packed, buffers)

    async def _send(self, packed: bytes, buffers: Sequence[pickle.PickleBuffer]) -> object:
        slot = await self._free.get()
        try:
            child = await self._fill(slot)
            kind, body = await self._request(child, packed, buffers)
            result = self._unpack(kind, body)
        except BaseException:
            # Cancelled, or the child has failed: its state is unknown in both cases.
            self._drop(slot)
            raise
        finally:
            self._free.put_nowait(slot)
        self._recycle(slot, child)
        if kind == FAULT:
            name, message, where = cast(tuple[str, str, str], result)
            raise _Failed(f"raised {name}: {message}", where)
        return result

    async def _request(
        self, child: ParserProcess, packed: bytes, buffers: Sequence[pickle.PickleBuffer]
    ) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(self._limits.wall_seconds + GRACE_SECONDS):
                return await child.request(packed, buffers)
        except TimeoutError:
            raise _Failed(f"took longer than {self._limits.wall_seconds:g} s") from None
        except ParserExited:
            raise _Failed(self._reason(await child.end())) from None

    def _unpack(self, kind: bytes, body: bytes) -> object:
        if kind == TOO_LARGE:
            raise _Failed(f"gave a result larger than {self._limits.max_result_bytes >> 20} MB")
        try:
            return unpickle(body)
        except UntrustedResult as error:
            raise _Failed(f"made the parser return an untrusted result: {error}") from None

    def _reason(self, code: int) -> str:
        """Return why a child ended, by its exit code."""
        if code == OUT_OF_MEMORY:
            return f"needed more than {self._limits.memory_bytes >> 20} MB of memory"
        if code == -signal.SIGPROF:
            return f"used more than {self._limits.cpu_seconds:g} s of processor time"
        if code == -signal.SIGALRM:
            return f"took longer than {self._limits.wall_seconds:g} s"
        if code < 0:
            return f"crashed the parser ({signal.Signals(-code).name})"
        return f"ended the parser (exit code {code})"

    async def _fill(self, slot: _Slot) -> ParserProcess:
        if slot.child is not None and slot.child.alive:
            return slot.child
        self._drop(slot)
        if not self._open:
            raise ParserCannotStart("The pool of parsers is closed.")
        child = await ParserProcess.start(self._limits.max_result_bytes)
        slot.child = child
        self.counts.started += 1
        try:
            async with asyncio.timeout(START_SECONDS):
                await child.request(pickle.dumps(tuple(self._limits)))
        except (ParserExited, TimeoutError) as error:
            code = await child.end()
            slot.child = None
            raise ParserCannotStart(
                f"A parser process ended at its start (exit code {code}). Is {self._limits.memory_bytes >> 20} MB of "
                "memory enough for it?"
            ) from error
        return child

    def _drop(self, slot: _Slot) -> None:
        if slot.child is not None:
            self.counts.killed += 1
            slot.child.kill()
            slot.child = None

    def _recycle(self, slot: _Slot, child: ParserProcess) -> None:
        if child.responses > self._pages_per_child:
            self.counts.recycled += 1
            child.kill()
            slot.child = None


@lru_cache(maxsize=256)
def _takes_parser(function: Callable[..., object]) -> bool:
    try:
        return "parser" in inspect.signature(function).parameters
    except ValueError:  # a builtin without a signature
        return False
