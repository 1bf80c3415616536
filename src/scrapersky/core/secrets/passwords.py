"""Password hashing with argon2 in two dedicated threads, so that many logins do not slow down other requests."""

import asyncio
import base64
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from scrapersky.core.errors import Unavailable

MIN_LENGTH, MAX_LENGTH = 12, 1024  # characters
THREADS = 2  # each takes MEMORY_KIB while it works
MAX_WAITING = 20
TIME_COST, MEMORY_KIB = 3, 64 * 1024  # about a tenth of a second
NICENESS = 10

Result = TypeVar("Result")


class TooBusy(Unavailable):
    """Too many logins at this moment."""


class Passwords:
    """Hashes and checks passwords off the event loop; refuses when too many are waiting."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=TIME_COST, memory_cost=MEMORY_KIB, parallelism=1)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="passwords", initializer=_lower_priority)
        self._waiting = 0
        # Checked for unknown users, so that the response takes as long as for known ones.
        self._dummy_hash = f"$argon2id$v=19$m={MEMORY_KIB},t={TIME_COST},p=1${_random(16)}${_random(32)}"

    async def hash(self, password: str) -> str:
        """Hash a password for storage."""
        return await self._run_in_thread(lambda: self._hasher.hash(password))

    async def check(self, password: str, kept: str | None) -> bool:
        """Check a password; without a stored hash the result is False after the same time."""

        def verify() -> bool:
            try:
                return self._hasher.verify(kept or self._dummy_hash, password) and kept is not None
            except (VerificationError, InvalidHashError):
                return False

        return await self._run_in_thread(verify)

    def is_outdated(self, kept: str) -> bool:
        """Check whether the hash was made with parameters other than the current ones."""
        return self._hasher.check_needs_rehash(kept)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run_in_thread(self, work: Callable[[], Result]) -> Result:
        if self._waiting >= THREADS + MAX_WAITING:
            raise TooBusy("Try again in a few seconds.")
        self._waiting += 1
        loop = asyncio.get_running_loop()
        future = self._threads.submit(work)
        # Counted until the thread is done, also when the request was cancelled.
        future.add_done_callback(lambda done: self._count_down(loop, done))
        return await asyncio.wrap_future(future)

    def _count_down(self, loop: asyncio.AbstractEventLoop, _done: Future[Result]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self._waiting -= 1


def _lower_priority() -> None:
    """Lower the priority of this thread, so that hashing does not delay responses."""
    with suppress(OSError):  # the platform has no thread priorities
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _random(count: int) -> str:
    return base64.b64encode(os.urandom(count)).decode().rstrip("=")
