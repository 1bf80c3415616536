"""An arena for faults: a database with its history, workers in processes of their own, a proxy before the server."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy.engine import make_url

from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.sandbox.example_workflows import create_parcel_tables
from tests import ROOT
from tests.conftest import Server, make_settings
from tests.faults.invariants import SCHEMA, check_all_done, check_invariants
from tests.faults.proxy import Proxy

PATIENCE = 150.0  # seconds; a slow machine is not a broken promise
QUEUES = ("PACKING", "WEIGHING", "SHIPPING")
LEASE_SECONDS = 1.5
# For a worker that must not lose its lease.
LONG_LEASE: dict[str, Any] = {f"{queue}_SCHEDULER_LEASE_SECONDS": "60" for queue in QUEUES}
MAX_ATTEMPTS = 10


class Worker:
    """A worker process: what it told, how it ended, and a way to do it harm."""

    def __init__(self, pid: int, diary: Path, exit_file: Path) -> None:
        self.pid, self._diary, self._exit_file = pid, diary, exit_file

    def events(self, what: str | None = None, **facts: Any) -> list[dict[str, Any]]:
        lines = self._diary.read_text().splitlines() if self._diary.exists() else []
        told = [json.loads(line) for line in lines]
        return [
            event
            for event in told
            if event["pid"] == self.pid
            and what in (None, event["what"])
            and all(event.get(name) == value for name, value in facts.items())
        ]

    async def told(self, what: str, count: int = 1, **facts: Any) -> list[dict[str, Any]]:
        """Wait until it has told this so many times."""
        async with patience(f"worker {self.pid} told {what} {facts}; it said {self.events()[-3:]}"):
            while len(found := self.events(what, **facts)) < count:
                if self.exit_code is not None:
                    found = self.events(what, **facts)
                    assert len(found) >= count, f"it ended with {self.exit_code} and never told {what} {facts}"
                    break
                await asyncio.sleep(0.02)
        return found

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    @property
    def exit_code(self) -> int | None:
        return int(self._exit_file.read_text()) if self._exit_file.exists() else None

    async def ended(self) -> int:
        async with patience(f"worker {self.pid} ended"):
            while self.exit_code is None:
                await asyncio.sleep(0.02)
        return self.exit_code

    def bury(self) -> None:
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


@contextlib.asynccontextmanager
async def patience(wish: str, seconds: float = PATIENCE) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        pytest.fail(f"not within {seconds:g} seconds: {wish}")


class Nursery:
    """The process that workers are forked from."""

    def __init__(self, home: Path) -> None:
        self._home, self._numbers = home, itertools.count(1)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            cwd=ROOT,
        )

    def start(self, environment: dict[str, str], clock_skew: int = 0) -> Worker:
        base = self._home / f"worker-{next(self._numbers)}"
        order = {
            "environment": {**environment, "FAULT_DIARY": f"{base}.diary"},
            "log": f"{base}.log",
            "exit": f"{base}.exit",
            "clock_skew": clock_skew,
        }
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        return Worker(pid, Path(f"{base}.diary"), Path(f"{base}.exit"))

    def close(self) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        nursery = Nursery(Path(home))
        yield nursery
        nursery.close()


class Arena:
    """One database, its workers, and the questions to ask afterwards."""

    def __init__(self, url: str, admin: asyncpg.Connection, nursery: Nursery, home: Path) -> None:
        self.url = self.direct_url = url
        self.admin, self._nursery, self.home = admin, nursery, home
        self.gate = home / "gate"
        self.tenants: list[UUID] = []
        self.workers: list[Worker] = []
        self.put_in = 0

    async def build(self) -> None:
        await self.admin.execute(SCHEMA)
        await self.admin.execute("INSERT INTO tenant (name) VALUES ('other')")
        self.tenants = [row["id"] for row in await self.admin.fetch("SELECT id FROM tenant ORDER BY name")]

    async def put(self, labels: Sequence[str]) -> None:
        """Queue parcels with these labels, for the two tenants in turn."""
        self.put_in += len(labels)
        await self.admin.execute(
            "INSERT INTO parcel (tenant_id, label, packing_status) "
            "SELECT ($1::uuid[])[1 + n % 2], label, 'Queued' FROM unnest($2::text[]) WITH ORDINALITY AS p(label, n)",
            self.tenants,
            list(labels),
        )

    def environment(self, **changes: str) -> dict[str, str]:
        return {
            "DATABASE_URL": self.url,
            "FAULT_GATE": str(self.gate),
            "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
            "SCHEDULER_INTERVAL_SECONDS": "1",
            "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0.1",
            "SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS": "3",
            "SCRAPERSKY_DATABASE_POOL_SIZE": "4",
            **{f"{queue}_SCHEDULER_LEASE_SECONDS": str(LEASE_SECONDS) for queue in QUEUES},
            **{f"{queue}_SCHEDULER_BACKOFF_SECONDS": "0.1" for queue in QUEUES},
            **{f"{queue}_SCHEDULER_MAX_ATTEMPTS": str(MAX_ATTEMPTS) for queue in QUEUES},
            **changes,
        }

    def start(self, faults: str = "", clock_skew: int = 0, **changes: str) -> Worker:
        """A worker with these faults switched on, its clock wrong by so many seconds, and these settings changed."""
        worker = self._nursery.start(self.environment(FAULTS=faults, **changes), clock_skew)
        self.workers.append(worker)
        return worker

    async def until(self, question: str, *values: Any, seconds: float = PATIENCE) -> None:
        """Wait until the database answers this with true."""
        async with patience(question, seconds):
            while not await self.ask(f"SELECT {question}", *values):
                await asyncio.sleep(0.03)

    async def ask(self, question: str, *values: Any) -> Any:
        return await self.admin.fetchval(question, *values)

    async def what_is_left(self) -> str:
        """For the message of a failure: rows that are not done, and who holds locks."""
        left = await self.admin.fetch(
            "SELECT label, packing_status, packing_due_at - now() AS packing_due, weighing_status, "
            "weighing_due_at - now() AS weighing_due, shipping_status FROM parcel p LEFT JOIN shipment s "
            "ON s.parcel_id = p.id WHERE packing_status IN ('Queued', 'Processing') "
            "OR weighing_status IN ('Queued', 'Processing') OR shipping_status <> 'Completed' LIMIT 5"
        )
        busy = await self.admin.fetch(
            "SELECT application_name, state, wait_event, now() - state_change AS since, query FROM pg_stat_activity "
            "WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
        )
        return "\n".join(str(dict(row)) for row in [*left, *busy])

    async def until_done(self, seconds: float = PATIENCE) -> None:
        """Wait until nothing is left to do on the whole line."""
        give_up_at = time.monotonic() + seconds
        while not await self.ask(
            "SELECT NOT EXISTS (SELECT 1 FROM parcel WHERE packing_status IN ('Queued', 'Processing') "
            "OR weighing_status IN ('Queued', 'Processing')) "
            "AND NOT EXISTS (SELECT 1 FROM shipment WHERE shipping_status <> 'Completed')"
        ):
            if time.monotonic() > give_up_at:
                pytest.fail(f"not done within {seconds:g} seconds:\n{await self.what_is_left()}")
            await asyncio.sleep(0.03)

    async def check(self, max_attempts: int = MAX_ATTEMPTS) -> None:
        """Nothing left to do, and every promise kept."""
        await check_all_done(self.admin, self.put_in, max_attempts)

    async def check_so_far(self) -> None:
        """Every promise kept, whatever is left to do."""
        await check_invariants(self.admin, self.put_in, MAX_ATTEMPTS)

    async def attempts(self, label: str) -> int:
        return await self.ask("SELECT packing_attempts FROM parcel WHERE label = $1", label)

    async def statuses(self) -> dict[str, int]:
        return dict(await self.admin.fetch("SELECT packing_status, count(*)::int FROM parcel GROUP BY 1"))

    async def finish(self) -> None:
        for worker in self.workers:
            worker.bury()
        for worker in self.workers:
            await worker.ended()


@contextlib.asynccontextmanager
async def open_arena(url: str, nursery: Nursery, home: Path) -> AsyncIterator[Arena]:
    admin = await asyncpg.connect(url)
    arena = Arena(url, admin, nursery, home)
    try:
        await arena.build()
        yield arena
    finally:
        await arena.finish()
        await admin.close()


@pytest.fixture
async def arena(database_url: str, nursery: Nursery, tmp_path: Path) -> AsyncIterator[Arena]:
    async with open_arena(database_url, nursery, tmp_path) as arena:
        yield arena


def unix_socket_of(url: str) -> str:
    folder = Path(str(make_url(url).query["host"]))
    return str(next(path for path in folder.glob(".s.PGSQL.*") if not path.name.endswith(".lock")))


@pytest.fixture
async def proxy(arena: Arena, database_url: str) -> AsyncIterator[Proxy]:
    """A proxy; workers started after this go through it, the test itself does not."""
    proxy = Proxy(unix_socket_of(database_url))
    await proxy.start()
    arena.url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{make_url(database_url).database}"
    yield proxy
    await proxy.close()


class OwnServer(Server):
    """A server that may be restarted, because nobody else uses it."""

    def restart(self, mode: str) -> None:
        self.pg_ctl("-l", str(self._server.log), "-m", mode, "restart")


@pytest.fixture(scope="session")
def own_server() -> Iterator[OwnServer]:
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        server = OwnServer(Path(home) / "pg")

        async def build() -> None:
            await server.execute("CREATE DATABASE template_line")
            url = server.url("template_line")
            database = Database(url, make_settings(url))
            await migrate(database)
            await create_parcel_tables(database)
            await database.close()

        asyncio.run(build())
        yield server
        server.stop()


@pytest.fixture
async def own_arena(
    own_server: OwnServer, nursery: Nursery, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Arena]:
    """An arena on the server that may be restarted."""
    name = f"own_{int(time.monotonic() * 1000)}"
    await own_server.execute(f"CREATE DATABASE {name} TEMPLATE template_line")
    async with open_arena(own_server.url(name), nursery, tmp_path) as arena:
        yield arena
