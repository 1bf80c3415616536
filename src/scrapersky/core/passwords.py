"""Passwords: hashed with argon2 in two threads of their own, so that many logins at once slow down nobody else."""

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

SHORTEST, LONGEST = 12, 1024  # characters
THREADS = 2  # each takes 64 MiB while it works
MAX_WAITING = 20
NICENESS = 10

Answer = TypeVar("Answer")


class TooBusy(Unavailable):
    """Too many people log in at this moment."""


class Passwords:
    """Hashes and checks, never on the loop; refuses when too many wait."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="passwords", initializer=_step_back)
        self._waiting = 0
        # Whoever does not exist has this password: nobody knows it, and finding that out takes as long as with others.
        self._nobodys = f"$argon2id$v=19$m={64 * 1024},t=3,p=1${_random(16)}${_random(32)}"

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        return await self._aside(lambda: self._hasher.hash(password))

    async def check(self, password: str, kept: str | None) -> bool:
        """Whether this is the password; of somebody without one it never is, and takes as long."""

        def verify() -> bool:
            try:
                return self._hasher.verify(kept or self._nobodys, password) and kept is not None
            except (VerificationError, InvalidHashError):
                return False

        return await self._aside(verify)

    def is_outdated(self, kept: str) -> bool:
        """Whether it was hashed with other parameters than those of today."""
        return self._hasher.check_needs_rehash(kept)

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _aside(self, work: Callable[[], Answer]) -> Answer:
        if self._waiting >= THREADS + MAX_WAITING:
            raise TooBusy("Try again in a few seconds.")
        self._waiting += 1
        loop = asyncio.get_running_loop()
        future = self._threads.submit(work)
        # Counted until the thread is done with it, also when whoever asked has gone.
        future.add_done_callback(lambda done: self._count_down(loop, done))
        return await asyncio.wrap_future(future)

    def _count_down(self, loop: asyncio.AbstractEventLoop, _done: Future[Answer]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self._waiting -= 1


def _step_back() -> None:
    """This thread alone gives way to whoever else wants the processor: hashing may take long, answers may not."""
    with suppress(OSError):  # where threads have no priority of their own, or may not lower it
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _random(count: int) -> str:
    return base64.b64encode(os.urandom(count)).decode().rstrip("=")
