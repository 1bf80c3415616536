"""Database connections: one pool per process, for requests (one tenant at a time) and for the engine (all queues)."""

import asyncio
import os
import re
import ssl
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import quote
from uuid import UUID

import asyncpg
import structlog
from sqlalchemy import TextClause, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session, SessionTransaction

from scrapersky.core.connection_pool import ShrinkingPool
from scrapersky.core.embedded.server import EmbeddedServer
from scrapersky.core.errors import BadSetting, ConnectionLost, Unavailable
from scrapersky.core.settings import Settings

log = structlog.get_logger(__name__)

APP_ROLE = "scrapersky_app"
ENGINE_ROLE = "scrapersky_engine"
EMBEDDED_LOGIN = "scrapersky_login"  # the role that the application logs in to the embedded server as
DRIVER_URL = "postgresql+asyncpg://"
OLDEST, NEWEST = 14, 18
RESPONSE_SECONDS = 1.0  # how long the server may take to report its own statement timeout

# Generic plans for the engine's few statements: planning them again costs fifteen times as much (measured).
ENGINE_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "random_page_cost": "1.1",
    "jit": "off",
    # Our statements read what an index finds: starting further server processes would cost more than it saves.
    "max_parallel_workers_per_gather": "0",
    # A worker that freezes in a transaction keeps rows locked: end the transaction well before their lease ends.
    "idle_in_transaction_session_timeout": "10s",
    "lock_timeout": "5s",
}
# Set at the start of each transaction of a tenant, together with its role.
APP_SETTINGS = {"plan_cache_mode": "auto", "idle_in_transaction_session_timeout": "60s"}

# The connections of a process, the one of LISTEN included, unless the settings say otherwise.
WORKER_CONNECTIONS, WEB_CONNECTIONS = 8, 12

# The driver prepares a statement once per connection, however long it is: those that store contacts have 35 KB, and
# parsing one takes several milliseconds.
DIRECT_ARGUMENTS: dict[str, Any] = {"max_cacheable_statement_size": 0}
# Behind a transaction pooler the next statement may reach another connection: use no named prepared statements.
POOLER_ARGUMENTS: dict[str, Any] = {
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: "",
}

# The exceptions of a lost connection, from SQLAlchemy and from the driver.
CONNECTION_ERRORS = (
    ConnectionLost,
    OSError,
    TimeoutError,
    InterfaceError,
    PoolTimeout,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InternalClientError,  # the driver lost track of a connection that broke in the middle of an operation
    asyncpg.ReadOnlySQLTransactionError,  # the server has become a standby: reconnect to its successor
)

READ_ONLY = "25006"
UNAVAILABLE_STATES = {"57P01", "57P02", "57P03", READ_ONLY}  # the server stops, crashed, starts up, or is a standby
DRIVER_MODULES = ("asyncpg.", "sqlalchemy.pool.")  # an OSError or TimeoutError from here is a lost connection


def is_connection_error(error: BaseException) -> bool:
    """Tell a lost connection (wait and try again) from an error of the statement (a bug)."""
    if isinstance(error, CONNECTION_ERRORS):
        return True
    if isinstance(error, DBAPIError):
        cause, state = getattr(error.orig, "__cause__", None), getattr(error.orig, "sqlstate", None)
        return error.connection_invalidated or isinstance(cause, CONNECTION_ERRORS) or state in UNAVAILABLE_STATES
    return False


def is_lock_timeout(error: BaseException) -> bool:
    """Tell whether a statement waited too long for a lock of another transaction."""
    cause = getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else error
    return isinstance(cause, asyncpg.LockNotAvailableError)


def is_statement_timeout(error: BaseException) -> bool:
    """Tell whether a statement took longer than its timeout."""
    cause = getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else error
    return isinstance(cause, asyncpg.QueryCanceledError)


@contextmanager
def lost_connections() -> Iterator[None]:
    """Raise ConnectionLost, which costs a row nothing, for an error of the connection; other errors stay as they are.

    A block may also use files and sockets: their OSError is not one of the connection.
    """
    try:
        yield
    except ConnectionLost:
        raise
    except Exception as error:
        if not is_connection_error(error) or (isinstance(error, OSError) and not _is_of_driver(error)):
            raise
        raise ConnectionLost(f"The connection to the database was lost ({type(error).__name__}: {error}).") from error


def _is_of_driver(error: BaseException) -> bool:
    """Tell whether the driver or the pool raised the error, and not the code that uses the connection."""
    frames = (frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(name.startswith(DRIVER_MODULES) for name in frames)


class ServerAway(Unavailable):
    """The database server is unavailable, starting or full."""


class Database:
    """The database of a process. `session` is one tenant's view of it; `engine` sees every queue and no more.

    No task may hold two connections: a pool whose connections all wait for another one is stuck.
    """

    def __init__(
        self, url: str, settings: Settings, connections: int = WORKER_CONNECTIONS, owner_url: str | None = None
    ) -> None:
        """Take the number of connections that the process may open unless the settings give one.

        `owner_url` is that of the owner of the tables, if it is another than the URL to log in with.
        """
        self.url = _driver_url(url)
        self.system_user_id: UUID | None = None  # the user in audit entries of the engine; known after the start
        self.owner_url = _driver_url(owner_url, "MIGRATION_DATABASE_URL") if owner_url else self.url
        self.embedded: EmbeddedServer | None = None
        self._settings = settings
        self.max_connections = settings.database_pool_size or connections
        pool_size = self.max_connections - (0 if settings.poll_only else 1)  # LISTEN has a connection of its own
        # Requests leave a third to the engine: slow statements of people must not stop heartbeats.
        self.max_sessions = pool_size - max(1, pool_size // 3)
        self._sessions = asyncio.Semaphore(self.max_sessions)
        # The server's timeout comes first: a slow statement then fails its row and is not taken for a lost connection.
        patience = {"statement_timeout": f"{settings.database_statement_timeout_seconds:.3f}s"}
        people = {**APP_SETTINGS, "statement_timeout": f"{self.request_seconds:.3f}s"}
        self._as_engine = _local_settings(ENGINE_ROLE, {**ENGINE_SETTINGS, **patience})
        as_app = _local_settings(APP_ROLE, {**(ENGINE_SETTINGS if settings.poll_only else {}), **people})
        self._as_tenant = text(f"{as_app}, set_config('app.tenant_id', :tenant, true)")
        self.engine = self._pool(pool_size, {**ENGINE_SETTINGS, **patience})

    @classmethod
    def from_settings(cls, settings: Settings, connections: int = WORKER_CONNECTIONS) -> "Database":
        """Build the database of the settings: a server by URL, or the embedded one."""
        url = settings.database_url
        if url is None and settings.environment == "production":
            raise BadSetting(
                "DATABASE_URL is not set, and the embedded PostgreSQL is for development. "
                "It looks like postgresql://user:password@host:5432/name."
            )
        owner = settings.migration_database_url
        if url is None and owner is not None:
            raise BadSetting(
                "MIGRATION_DATABASE_URL is set and DATABASE_URL is not. Set both, or none for the embedded PostgreSQL."
            )
        if url is None:
            embedded = EmbeddedServer(settings.data_dir)
            owner_url = embedded.start()
            login_url = make_url(owner_url).set(username=EMBEDDED_LOGIN)
            database = cls(login_url.render_as_string(hide_password=False), settings, connections, owner_url)
            database.embedded = embedded
            return database
        return cls(url.get_secret_value(), settings, connections, owner.get_secret_value() if owner else None)

    @property
    def request_seconds(self) -> float:
        """The statement timeout of API requests."""
        return min(self._settings.request_statement_timeout_seconds, self._settings.database_statement_timeout_seconds)

    @property
    def is_embedded(self) -> bool:
        """Whether the server is the one that comes with the package."""
        return self.embedded is not None

    @property
    def is_pooled(self) -> bool:
        """Whether a pooler in transaction mode is between this process and the server."""
        return self._settings.poll_only

    @property
    def is_production(self) -> bool:
        """Whether the process runs in production."""
        return self._settings.environment == "production"

    @property
    def dsn(self) -> str:
        """The URL as the driver reads it, password included."""
        return _dsn(self.url)

    @property
    def owner_dsn(self) -> str:
        """The URL of the owner of the tables, password included."""
        return _dsn(self.owner_url)

    @property
    def connect_arguments(self) -> dict[str, Any]:
        """The arguments of a connection. The driver parses the URL itself, because it knows sslmode and the like."""
        return {"dsn": self.dsn, **(POOLER_ARGUMENTS if self._settings.poll_only else DIRECT_ARGUMENTS)}

    @property
    def application_name(self) -> str:
        """The name of this process in pg_stat_activity, with the number of connections that it may open."""
        return f"scrapersky {os.getpid()} max {self.max_connections}"

    @property
    def owner_arguments(self) -> dict[str, Any]:
        """The arguments of a connection as the owner of the tables."""
        return {**self.connect_arguments, "dsn": self.owner_dsn}

    def _pool(self, size: int, parameters: dict[str, str]) -> AsyncEngine:
        arguments: dict[str, Any] = {
            "command_timeout": self._settings.database_statement_timeout_seconds + RESPONSE_SECONDS,
            "timeout": 5,
            **self.connect_arguments,
        }
        if not self._settings.poll_only:
            arguments["server_settings"] = {
                **parameters,
                "role": ENGINE_ROLE,
                "application_name": self.application_name,
            }
        engine = create_async_engine(
            DRIVER_URL,
            connect_args=arguments,
            poolclass=ShrinkingPool,
            pool_size=size,
            max_overflow=0,
            pool_timeout=self._settings.database_statement_timeout_seconds,
            pool_pre_ping=False,
            hide_parameters=True,  # errors are stored in logs and rows: no personal data in them
            pool_use_lifo=True,
        )
        event.listen(engine.sync_engine, "checkout", _refuse_closed)
        event.listen(engine.sync_engine, "handle_error", _drop_standby)
        return engine

    @asynccontextmanager
    async def session(self, tenant_id: UUID | None) -> AsyncIterator[AsyncSession]:
        """Open one transaction as one tenant (without one it sees no rows); commit unless an exception is raised."""
        with lost_connections():
            async with self._turn(), self.tenant_session(tenant_id) as session, session.begin():
                yield session

    def tenant_session(self, tenant_id: UUID | None) -> "TenantSession":
        """Build a session of one tenant whose transactions the caller begins and ends."""
        return TenantSession(self.engine, tenant_id, self._as_tenant)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until fewer than `max_sessions` sessions of tenants are open."""
        seconds = self._settings.database_statement_timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                await self._sessions.acquire()
        except TimeoutError as error:
            raise PoolTimeout(f"No connection was free for {seconds:g} seconds.") from error
        try:
            yield
        finally:
            self._sessions.release()

    @asynccontextmanager
    async def engine_session(self) -> AsyncIterator[AsyncSession]:
        """Open one transaction of the engine, which sees the queues of every tenant."""
        with lost_connections():
            async with AsyncSession(self.engine, expire_on_commit=False) as session, session.begin():
                if self._settings.poll_only:
                    await session.execute(text(self._as_engine))
                yield session

    @asynccontextmanager
    async def engine_connection(self) -> AsyncIterator[asyncpg.Connection]:
        """Open a driver connection for the engine's statements, each of which is a transaction."""
        with lost_connections():
            async with self.engine.connect() as connection:
                raw = await connection.get_raw_connection()
                driver: asyncpg.Connection = raw.driver_connection
                try:
                    if not self._settings.poll_only:
                        yield driver
                    else:
                        async with driver.transaction():
                            await driver.execute(self._as_engine)
                            yield driver
                except (asyncio.CancelledError, *CONNECTION_ERRORS):
                    # The result is unknown or the connection is lost: drop it without a clean shutdown.
                    driver.terminate()
                    await connection.invalidate()
                    raise

    async def listen(self, channel: str, on_notify: Any) -> asyncpg.Connection:
        """Open a dedicated connection that calls `on_notify(payload)` for every notification on the channel."""
        connection = await asyncpg.connect(
            dsn=self.dsn,
            timeout=5,
            command_timeout=5,
            server_settings={"application_name": f"scrapersky {os.getpid()} listen"},
        )
        await connection.add_listener(channel, lambda _connection, _pid, _channel, payload: on_notify(payload))
        return connection

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


class TenantSession(AsyncSession):
    """A session that sets its tenant at the start of every transaction, so that a pooled connection never leaks it."""

    def __init__(self, bind: AsyncEngine, tenant_id: UUID | None, begin: TextClause) -> None:
        """Take the statement that sets role, limits and tenant of a transaction."""
        super().__init__(
            bind,
            expire_on_commit=False,
            sync_session_class=_SyncTenantSession,
            info={"begin": begin, "tenant": {"tenant": str(tenant_id or "")}},
        )


class _SyncTenantSession(Session):
    pass


@event.listens_for(_SyncTenantSession, "after_begin")
def _set_tenant(session: Session, _transaction: SessionTransaction, connection: Any) -> None:
    connection.execute(session.info["begin"], session.info["tenant"])


ACT_AS_TENANT = f"SELECT set_config('role', '{APP_ROLE}', true), set_config('app.tenant_id', $1, true)"
ACT_AS_ENGINE = f"SELECT set_config('role', '{ENGINE_ROLE}', true)"


def _refuse_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    """Replace all pooled connections after a server restart, instead of failing once for each."""
    if connection.driver_connection.is_closed():
        raise InvalidatePoolError("The server has closed this connection.")


def _drop_standby(context: Any) -> None:
    """Drop the connections to a server that has become a standby, instead of failing until it is primary again."""
    if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True


def _local_settings(role: str, parameters: dict[str, str]) -> str:
    """Build one statement that sets everything for one transaction."""
    values = {**parameters, "role": role}
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in values.items())


def _dsn(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _driver_url(url: str, setting: str = "DATABASE_URL") -> URL:
    plain = re.sub(r"^postgres(ql)?(\+\w{1,20})?://", "postgresql+asyncpg://", url.strip(), count=1)
    try:
        parsed = make_url(plain)
        if "@" in f"{parsed.host}{parsed.database}":  # the password has an @: it ends at the last one
            start, _, rest = plain.rpartition("@")
            user, _, password = start.removeprefix(DRIVER_URL).partition(":")
            parsed = make_url(f"{DRIVER_URL}{user}:{quote(password, safe='')}@{rest}")
    except (ArgumentError, ValueError) as error:  # an invalid port is only a ValueError
        raise BadSetting(f"{setting} is not a URL. It looks like postgresql://user:password@host:5432/name.") from error
    if parsed.drivername != "postgresql+asyncpg":
        raise BadSetting(f"{setting} starts with {parsed.drivername}://, but only postgresql:// is understood.")
    return parsed


async def check_server(database: Database, as_owner: bool = False) -> None:
    """Raise if the server does not respond or its version is too old."""
    # The owner of the embedded database creates the login role of the application.
    url = database.owner_url if as_owner or database.is_embedded else database.url
    settings = {} if as_owner or database.is_pooled else ENGINE_SETTINGS
    try:
        connection = await asyncpg.connect(dsn=_dsn(url), timeout=5, server_settings=settings)
    except asyncpg.ProtocolViolationError as error:
        raise BadSetting(
            f"What listens at DATABASE_URL is a connection pooler and refuses the settings of a connection ({error}). "
            "Set SCHEDULER_POLL_ONLY=true, and MIGRATION_DATABASE_URL to the server itself."
        ) from error
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ssl.SSLError) as error:
        without = url.difference_update_query(["password", "sslpassword"])  # the query may hold a secret, too
        shown = without.set(drivername="postgresql").render_as_string(hide_password=True)
        if isinstance(error, asyncpg.TooManyConnectionsError):
            raise ServerAway(
                f"PostgreSQL at {shown} has no free connection ({error}). Raise its max_connections, or lower "
                "SCRAPERSKY_DATABASE_POOL_SIZE or the number of processes."
            ) from error
        raise (ServerAway if is_connection_error(error) else Unavailable)(
            f"PostgreSQL at {shown} does not respond ({type(error).__name__}: {error}). "
            "Start it or correct DATABASE_URL; without DATABASE_URL the embedded one is used."
        ) from error
    try:
        version = connection.get_server_version()
    finally:
        await connection.close()
    if version.major < OLDEST:
        raise BadSetting(f"DATABASE_URL names a PostgreSQL {version.major}; {OLDEST} to {NEWEST} are supported.")
    if version.major > NEWEST:
        log.warning("postgres_version_untested", version=version.major, newest_tested=NEWEST)
