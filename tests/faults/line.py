"""The parcel line with a packer that misbehaves as the label of each parcel says, and tells what it does."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import text

from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.settle import driver_connection
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.sandbox.example_workflows import ExampleParcel, Shipping, Weighing

# The proxy knows this statement: it lets the next COMMIT of the connection through and loses the answer to it.
LOSE_THE_NEXT_COMMIT = "SELECT 'the next answer is lost'"


@dataclass(frozen=True)
class Diary:
    """One JSON line per event, for the test to read while the process lives."""

    path: Path

    def tell(self, what: str, **facts: Any) -> None:
        line = json.dumps({"what": what, "pid": os.getpid(), "at": time.monotonic(), **facts}) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, line.encode())
        os.close(handle)


@dataclass(frozen=True)
class Faults:
    """Which misbehaviour is switched on in this process, and where its gate is."""

    on: frozenset[str]
    gate: Path
    work_seconds: float = 0.0

    @classmethod
    def from_environment(cls, environment: dict[str, str]) -> "Faults":
        return cls(
            frozenset(environment.get("FAULTS", "").split()),
            Path(environment["FAULT_GATE"]),
            float(environment.get("FAULT_WORK_SECONDS", "0")),
        )


@dataclass(frozen=True)
class Job:
    label: str
    attempts: int

    @property
    def manner(self) -> str:
        return self.label.split()[0]


class FaultyPacking(Workflow[ExampleParcel, Job, str]):
    """A parcel is packed; its label says what goes wrong."""

    number = 91
    name = "packing"
    model = ExampleParcel
    reads = ("label",)
    feeds = "weighing"
    tuning = Tuning(batch_size=20, max_attempts=10, breaker_error_rate=1.0, breaker_min_rows=10_000)

    def __init__(self, faults: Faults, diary: Diary) -> None:
        self._faults, self._diary = faults, diary

    def read(self, row: Claimed) -> Job:
        job = Job(row.label, row.attempts)
        if self._is(job, "kill-claimed"):
            self._die("claimed", job)
        return job

    async def work(self, job: Job) -> str:
        self._diary.tell("working", label=job.label, attempts=job.attempts)
        await asyncio.sleep(self._faults.work_seconds)
        match job.manner if job.manner in self._faults.on else "plain":
            case "kill-working":
                self._die("working", job)
            case "abort":
                os.abort()
            case "gate":
                while not self._faults.gate.exists():
                    await asyncio.sleep(0.02)
            case "hang":
                await asyncio.Event().wait()
            case "deaf":
                await self._ignore_everything(job)
            case "block":
                while not self._faults.gate.exists():
                    time.sleep(0.02)
        self._diary.tell("worked", label=job.label, attempts=job.attempts)
        return "a note with a \0 in it" if job.manner == "nul" else "packed"

    async def write_batch(self, session: Any, found: Sequence[tuple[ExampleParcel, str]]) -> Iterable[UUID]:
        for parcel, note in found:
            await session.execute(
                text(
                    "INSERT INTO effect (parcel_id, tenant_id, pid, note) "
                    "VALUES (:parcel, current_setting('app.tenant_id')::uuid, :pid, :note)"
                ),
                {"parcel": parcel.id, "pid": os.getpid(), "note": note},
            )
        for parcel, _ in found:
            if parcel.label == "no-file":
                raise FileNotFoundError("the drawer for the notes is gone")
            job = Job(parcel.label, parcel.packing_attempts)
            if self._is(job, "kill-written"):
                self._die("written", job)
            if self._is(job, "freeze-written"):
                self._diary.tell("freezing", label=job.label)
                os.kill(os.getpid(), signal.SIGSTOP)
            if self._is(job, "lose-commit"):
                self._diary.tell("losing", label=job.label)
                await (await driver_connection(session)).execute(LOSE_THE_NEXT_COMMIT)
        return [parcel.id for parcel, _ in found]

    def _is(self, job: Job, manner: str) -> bool:
        return job.manner == manner and manner in self._faults.on

    def _die(self, where: str, job: Job) -> None:
        self._diary.tell("dying", where=where, label=job.label)
        os.kill(os.getpid(), signal.SIGKILL)

    async def _ignore_everything(self, job: Job) -> None:
        while not self._faults.gate.exists():
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                self._diary.tell("ignored", label=job.label)


def fault_line(faults: Faults, diary: Diary) -> Pipeline:
    """Parcel ─▶ faulty packing ─▶ weighing ─▶ Shipment ─▶ shipping."""
    return Pipeline([FaultyPacking(faults, diary), Weighing(), Shipping()])
