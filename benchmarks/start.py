"""What a start costs: memory and CPU of a worker and of `serve` until they rest, the first contact of the demo."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.engine_server import running_server
from benchmarks.parts import Parts
from benchmarks.record import Figure, record
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load

MAX_MB = {"worker": 130, "serve": 150}
FIRST_CONTACT_SECONDS = 1.5
REST_SECONDS = 2.0  # without work, by which a process has started
MAX_START_SECONDS = 60.0


@dataclass(frozen=True)
class Started:
    """A process that has started and rests."""

    resident_mb: float
    proportional_mb: float  # what it shares with other processes, divided among them
    cpu_seconds: float
    children: int  # parser processes are started with the first page
    blocks: int  # lines about a blocked event loop


async def measure(url: str, command: str) -> Started:
    """Start a command and read its memory when it rests."""
    async with running(url, command) as (process, log):
        await rest(process)
        blocks = sum(b"event_loop_blocked" in line for line in log.read_bytes().splitlines())
        shared = process.memory_full_info()
        spent = process.cpu_times()
        children = len(process.children(recursive=True))
        return Started(shared.rss / 1e6, shared.pss / 1e6, spent.user + spent.system, children, blocks)


@asynccontextmanager
async def running(url: str, command: str) -> AsyncIterator[tuple[psutil.Process, Path]]:
    """Run a command while the context is open; yield its process and the file with what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        variables = {"DATABASE_URL": url, "SCRAPERSKY_PORT": "0", "SCRAPERSKY_WORKER_PORT": "0"}
        with log.open("wb") as file:
            started = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "scrapersky", command),
                env={**os.environ, **variables, "SCRAPERSKY_LOG_LEVEL": "info"},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
            try:
                yield psutil.Process(started.pid), log
                if started.returncode is not None:
                    raise RuntimeError(f"{command} ended:\n{log.read_text()[-2000:]}")
            finally:
                if started.returncode is None:
                    started.terminate()
                await started.wait()


async def rest(process: psutil.Process) -> None:
    """Return when the process has done next to nothing for some seconds. Raises TimeoutError."""
    async with asyncio.timeout(MAX_START_SECONDS):
        while True:
            before = sum(process.cpu_times()[:2])
            await asyncio.sleep(REST_SECONDS)
            spent = sum(process.cpu_times()[:2])
            if before and spent - before < 0.1 * REST_SECONDS:
                return


async def demo() -> float:
    """Run the demo; return the seconds from the request of its search to the first contact."""
    command = [sys.executable, "-m", "scrapersky", "demo", "--json"]
    ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    return float(json.loads(ended.stdout)["first_contact_seconds"])


def figures(command: str, started: Started) -> list[Figure]:
    """Return the figures of a start, its memory with the target."""
    resident, limit = round(started.resident_mb), MAX_MB[command]
    return [
        Figure(f"memory of {command}, resident", resident, "MB", f"≤ {limit} MB", resident <= limit),
        Figure(f"memory of {command}, its share of shared pages", round(started.proportional_mb), "MB"),
        Figure(f"CPU of the start of {command}", round(started.cpu_seconds, 2), "s"),
        Figure(f"child processes of {command}", started.children),
        Figure(f"{command}: times its event loop was blocked", started.blocks, "", "0", started.blocks == 0),
    ]


def show(found: list[Figure]) -> list[Figure]:
    """Print figures."""
    for each in found:
        missed = "  MISSED" if each.met is False else ""
        print(f"{each.what:<52}{each.value:>8g} {each.unit:<3}{each.target}{missed}", flush=True)
    return found


async def main() -> None:
    """Measure a worker, `serve` and the demo."""
    parts, found, began = Parts(), list[Figure](), time.monotonic()
    with running_server() as server:
        async with server.database("start") as url:
            database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
            await migrate(database)
            await database.close()
            for command in MAX_MB:
                with parts.part(command):
                    found += show(figures(command, await measure(url, command)))
    with parts.part("demo"):
        seconds = await demo()
        met = seconds <= FIRST_CONTACT_SECONDS
        first = Figure("first contact of the demo", seconds, "s", f"≤ {FIRST_CONTACT_SECONDS} s", met)
        found += show([first])
    record("start", found)
    print(f"{time.monotonic() - began:.0f} s in all")
    parts.end()


if __name__ == "__main__":
    asyncio.run(main())
