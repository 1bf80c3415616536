"""What both sides of an engine benchmark share: their orders as JSON, a clock with CPU meters, the same write."""

import asyncio
import contextlib
import json
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

TENANT = "00000000-0000-4000-8000-000000000001"
CREATE_RECEIPT = """
CREATE TABLE receipt (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id uuid NOT NULL,
    number bigint NOT NULL, pid int NOT NULL)"""
COUNT_RECEIPTS = "SELECT count(*), count(DISTINCT number) FROM receipt"


@dataclass(frozen=True)
class Order:
    """What a side is asked to do."""

    url: str
    postmaster: int
    what: str  # drain, write or latency
    jobs: int = 0
    seconds: float = 0.0
    rate: float = 25.0
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls) -> "Order":
        """Read the order this process was started with."""
        return cls(**json.loads(sys.argv[1]))


class Meter:
    """Wall time, CPU of this process and CPU of the whole database server between `start` and `stop`."""

    def __init__(self, postmaster: int) -> None:
        self._postmaster = psutil.Process(postmaster)
        self._ended: float | None = None

    def start(self) -> None:
        """Begin to measure."""
        self._server = self._server_seconds()
        self._worker = _own_seconds()
        self._began = time.perf_counter()

    def lap(self) -> None:
        """Record the end of the last job; what follows costs CPU but no time."""
        self._ended = time.perf_counter()

    def stop(self, jobs: int) -> dict[str, float]:
        """Return jobs per second and CPU per job."""
        ended = self._ended or time.perf_counter()
        worker, server = _own_seconds() - self._worker, self._server_seconds() - self._server
        return {
            "jobs_per_second": jobs / (ended - self._began),
            "worker_us": worker / jobs * 1e6,
            "server_us": server / jobs * 1e6,
            "cpu_us": (worker + server) / jobs * 1e6,
        }

    def _server_seconds(self) -> float:
        # A backend that has ended is counted by its parent as a child's time.
        ended = self._postmaster.cpu_times()
        total = float(ended.children_user + ended.children_system)
        for process in (self._postmaster, *self._postmaster.children()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                total += int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
        return total


class Countdown:
    """Says when the last of so many jobs was done."""

    def __init__(self, jobs: int) -> None:
        self._left = jobs
        self.over = asyncio.Event()

    def one(self) -> None:
        """Count a finished job."""
        self._left -= 1
        if self._left <= 0:
            self.over.set()


class Latencies:
    """Times from just before a job is queued to the first line of its handler."""

    def __init__(self) -> None:
        self._sent: dict[int, float] = {}
        self._started: dict[int, float] = {}

    def started(self, number: int) -> None:
        """Record that the handler of this job has begun."""
        self._started.setdefault(number, time.perf_counter())

    async def produce(self, queue_one: Callable[[int], Awaitable[Any]], order: Order) -> None:
        """Queue single jobs at random moments, then wait for the last to start."""
        chance = random.Random(1)
        end = time.perf_counter() + order.seconds
        while time.perf_counter() < end:
            await asyncio.sleep(chance.expovariate(order.rate))
            number = len(self._sent) + 1
            self._sent[number] = time.perf_counter()
            await queue_one(number)
        async with asyncio.timeout(10):
            while len(self._started) < len(self._sent):
                await asyncio.sleep(0.05)

    def milliseconds(self) -> list[float]:
        """Return one figure per job."""
        return [(self._started[number] - sent) * 1000 for number, sent in self._sent.items()]


def hand_in(result: dict[str, Any]) -> None:
    """Give the result to whoever ordered it."""
    print(json.dumps(result), flush=True)


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
