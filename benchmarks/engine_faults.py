"""Workers killed or frozen in the middle of a row: is anything lost or done twice, and how soon is it taken over?"""

import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import asyncpg
import uvloop
from sqlalchemy.ext.asyncio import AsyncSession

from benchmarks.engine_chores import ID_OF_N, Chore, DoingInBatches
from benchmarks.engine_meter import TENANT, hand_in
from benchmarks.engine_ours import open_bench
from benchmarks.engine_server import TEMPLATE, Server
from benchmarks.peers import ROOT
from scrapersky.engine.events import LeaseLost

LEASE_SECONDS = 2.0
BACK_SECONDS = LEASE_SECONDS + 2
WAVE = 10  # victims at a time
ROWS_EACH = 2
WORK_SECONDS = {"kill": 30.0, "freeze": 1.0}  # a frozen worker's work is over when it thaws: it writes too late
RESCUE_SECONDS = 1.0  # the rescuer's own work lasts: a late write meets a row that is being worked on again


class Telling(DoingInBatches):
    """Takes its time, and says when it starts."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def work(self, number: int) -> int:
        """Say so, and wait."""
        hand_in({"started": number})
        await asyncio.sleep(self._seconds)
        return number

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[Chore, int]]) -> Iterable[UUID]:
        """Insert the receipts, and report the attempt whether or not it is accepted."""
        hand_in({"writing": [number for _, number in found]})
        return await super().write_batch(session, found)


async def be_a_victim(url: str, seconds: float) -> None:
    """Run a whole worker process that reports when it is ready and what it starts, writes and loses."""
    application = await open_bench(
        Telling(seconds),
        url,
        DOING_SCHEDULER_LEASE_SECONDS=LEASE_SECONDS,
        DOING_SCHEDULER_BATCH_SIZE=ROWS_EACH,
        DOING_SCHEDULER_MAX_BATCH_SIZE=ROWS_EACH,
        DOING_SCHEDULER_CONCURRENCY=ROWS_EACH,
    )

    async def tell(event: Any) -> None:
        if isinstance(event, LeaseLost):
            hand_in({"lost": event.row_ids, "where": event.where})

    application.events.subscribe(tell)
    application.runtime.start()
    await asyncio.sleep(0.5)
    hand_in({"ready": True})
    await asyncio.Event().wait()


@dataclass
class Victim:
    """A worker process that is going to be killed or frozen."""

    process: asyncio.subprocess.Process
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    rows: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    hit_at: float = 0.0
    back_after: dict[int, float] = field(default_factory=dict)

    async def listen(self) -> None:
        """Read the reports of the process until it ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            said = json.loads(line)
            if "ready" in said:
                self.ready.set()
            if "started" in said:
                self.rows.add(said["started"])
            if "lost" in said:
                self.refused[said["where"]] += len(said["lost"])


async def run_trials(server: Server, how: str, trials: int) -> dict[str, Any]:
    """Run this many victims in waves and return the outcome of their rows."""
    told: list[dict[str, Any]] = []
    while len(told) < trials:
        told += await _wave(server, how, min(WAVE, trials - len(told)))
    backs = [trial["back_seconds"] for trial in told]
    return {
        "trials": len(told),
        "rows": sum(trial["rows"] for trial in told),
        "lost": sum(trial["lost"] for trial in told),
        "doubled": sum(trial["doubled"] for trial in told),
        "late_written": sum(trial["late_written"] for trial in told),
        "late_refused": sum(trial["late_refused"] for trial in told),
        "refused_at": dict(sum((Counter(trial["refused_at"]) for trial in told), Counter())),
        "back_seconds_median": sorted(backs)[len(backs) // 2],
        "back_seconds_longest": max(backs),
        "lease_seconds": LEASE_SECONDS,
    }


async def _wave(server: Server, how: str, size: int) -> list[dict[str, Any]]:
    """Run `size` victims with two rows each and one rescuer on one database; only SQL counts afterwards."""
    async with server.database("faults", TEMPLATE) as url:
        admin = await asyncpg.connect(url)
        victims = [Victim(await _start(url, WORK_SECONDS[how])) for _ in range(size)]
        listening = [asyncio.create_task(victim.listen()) for victim in victims]
        try:
            async with asyncio.timeout(60):
                await asyncio.gather(*(victim.ready.wait() for victim in victims))
            await admin.execute(
                "INSERT INTO chore (id, tenant_id, number, doing_status) "
                f"SELECT {ID_OF_N}, $1, n, 'Queued' FROM generate_series(1, $2) n",
                TENANT,
                size * ROWS_EACH,
            )
            await _all_busy(victims)
            await _hit_and_rescue(url, admin, how, victims)
            told = [await _trial(admin, victim) for victim in victims]
            return [trial for trial in told if trial["caught"] or trial["lost"]]
        finally:
            for victim in victims:
                with suppress(ProcessLookupError):
                    victim.process.kill()
            await asyncio.gather(*(victim.process.wait() for victim in victims), *listening)
            await admin.close()


async def _start(url: str, seconds: float) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.engine_faults",
        json.dumps([url, seconds]),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )


async def _all_busy(victims: Sequence[Victim]) -> None:
    """Check that every row is in flight."""
    async with asyncio.timeout(30):
        while sum(len(victim.rows) for victim in victims) < len(victims) * ROWS_EACH:
            await asyncio.sleep(0.01)


async def _hit_and_rescue(url: str, admin: asyncpg.Connection, how: str, victims: Sequence[Victim]) -> None:
    """Start the rescuer, hit every victim at a moment of its own, thaw the frozen ones when their rows run again."""
    whose = {number: victim for victim in victims for number in victim.rows}

    class Rescuing(DoingInBatches):
        async def work(self, number: int) -> int:
            victim = whose[number]
            victim.back_after.setdefault(number, time.monotonic() - victim.hit_at)
            if how == "freeze" and set(victim.back_after) == victim.rows:
                victim.process.send_signal(signal.SIGCONT)
            await asyncio.sleep(RESCUE_SECONDS)
            return number

    async def hit(victim: Victim) -> None:
        await asyncio.sleep(random.uniform(0.0, 0.6))
        victim.hit_at = time.monotonic()
        victim.process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGSTOP)

    application = await open_bench(
        Rescuing(), url, DOING_SCHEDULER_LEASE_SECONDS=LEASE_SECONDS, DOING_SCHEDULER_CONCURRENCY=2 * WAVE * ROWS_EACH
    )
    hitting = [asyncio.create_task(hit(victim)) for victim in victims]
    application.runtime.start()
    try:
        await asyncio.gather(*hitting)
        with suppress(TimeoutError):
            async with asyncio.timeout(LEASE_SECONDS * 3 + 20):
                while await admin.fetchval("SELECT count(*) FROM chore WHERE doing_status <> 'Completed'"):
                    await asyncio.sleep(0.1)
        for victim in victims:
            with suppress(ProcessLookupError):
                victim.process.send_signal(signal.SIGCONT)
        await asyncio.sleep(1)  # what thawed late has time to try
    finally:
        await application.runtime.stop()
        await application.database.close()


async def _trial(admin: asyncpg.Connection, victim: Victim) -> dict[str, Any]:
    """Read from the database what happened to one victim's rows."""
    rows = list(victim.rows)
    done = await admin.fetchval(
        "SELECT count(*) FROM chore WHERE number = ANY ($1::int8[]) AND doing_status = 'Completed'", rows
    )
    receipts: dict[int, int] = dict(
        await admin.fetch("SELECT number, count(*) FROM receipt WHERE number = ANY ($1::int8[]) GROUP BY 1", rows)
    )
    late = await admin.fetchval(
        "SELECT count(*) FROM receipt WHERE pid = $1 AND number = ANY ($2::int8[])",
        victim.process.pid,
        list(victim.back_after),
    )
    return {
        "rows": len(rows),
        "caught": len(victim.back_after),
        "lost": len(rows) - done + sum(receipts.get(number, 0) == 0 for number in rows),
        "doubled": sum(count > 1 for count in receipts.values()),
        "late_written": late,
        "late_refused": sum(victim.refused.values()),
        "refused_at": dict(victim.refused),
        "back_seconds": max(victim.back_after.values(), default=0.0),
    }


if __name__ == "__main__":
    uvloop.run(be_a_victim(*json.loads(sys.argv[1])))
