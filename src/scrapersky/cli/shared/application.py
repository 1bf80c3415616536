"""The application, a session and the actor for one command."""

import gc
import getpass
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from scrapersky.cli.shared.options import DEFAULT_TENANT

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from scrapersky.bootstrap import Application
    from scrapersky.core.database import Database
    from scrapersky.core.settings import Environment
    from scrapersky.store.audit.record import Actor

T = TypeVar("T")


class Opened(NamedTuple):
    """What most commands need: the application, a session, and the actor for the audit log."""

    application: "Application"
    session: "AsyncSession"
    actor: "Actor"


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the event loop of the command."""
    import uvloop

    return uvloop.run(work)


def configure_command_logs(environment: "Environment") -> None:
    """Log errors only, unless SCRAPERSKY_LOG_LEVEL is set: a command prints its result itself."""
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import load

    settings = load(environment)
    if environment.source("SCRAPERSKY_LOG_LEVEL") == "default":
        settings = settings.model_copy(update={"log_level": "error"})
    configure_logs(settings)


def keep_start_objects() -> None:
    """Keep the objects of the start out of garbage collection: they live on, and each collection would visit them."""
    gc.freeze()
    gc.enable()


@asynccontextmanager
async def opened() -> AsyncIterator["Application"]:
    """Open the application and close it afterwards. Raises Unavailable if the connection to the database is lost."""
    from scrapersky.bootstrap import open_application
    from scrapersky.core.database import is_connection_error
    from scrapersky.core.errors import Unavailable
    from scrapersky.core.settings import Environment

    environment = Environment()
    configure_command_logs(environment)
    application = await open_application(environment)
    keep_start_objects()
    try:
        yield application
    except Exception as error:
        if not is_connection_error(error):
            raise
        raise Unavailable(
            f"The connection to the database was lost ({type(error).__name__}: {error}). Try again later."
        ) from error
    finally:
        await application.close()


@asynccontextmanager
async def opened_as_owner() -> AsyncIterator["Database"]:
    """Open the database for a command of its owner, whatever its schema is, and close it afterwards."""
    from scrapersky.bootstrap import read_settings
    from scrapersky.core.database import Database, check_server
    from scrapersky.core.settings import Environment
    from scrapersky.pipeline import build_pipeline

    environment = Environment()
    configure_command_logs(environment)
    settings, _ = read_settings(environment, build_pipeline({}))
    database = Database.from_settings(settings)
    try:
        await check_server(database, as_owner=True)
        yield database
    finally:
        await database.close()


async def record_for_database(database: "Database", action: str, file: Path) -> None:
    """Record in the audit what was done to the whole database, and with which file."""
    from scrapersky.store.accounts import tenants
    from scrapersky.store.audit import record as audit

    async with database.engine_session() as session:
        actor = audit.Actor(user_name(), await tenants.id_of(session), "admin", "cli")
        await audit.record(session, actor, action, "database", None, {"file": file.name})


@asynccontextmanager
async def tenant_session(tenant: str = DEFAULT_TENANT) -> AsyncIterator[Opened]:
    """Open the application and a session of the tenant. Raises UnknownTenant."""
    async with opened() as application:
        actor = await cli_actor(application, tenant)
        async with application.database.session(actor.tenant_id) as session:
            yield Opened(application, session, actor)


@asynccontextmanager
async def engine_session() -> AsyncIterator[Opened]:
    """Open the application and a session of the engine, which sees all tenants."""
    async with opened() as application:
        actor = await cli_actor(application)
        async with application.database.engine_session() as session:
            yield Opened(application, session, actor)


async def cli_actor(application: "Application", tenant: str = DEFAULT_TENANT) -> "Actor":
    """Return the user of this machine as the actor for the audit log. Raises UnknownTenant."""
    from scrapersky.store.accounts import tenants
    from scrapersky.store.audit.record import Actor

    async with application.database.engine_session() as session:
        tenant_id = await tenants.id_of(session, tenant)
    return Actor(user_name(), tenant_id, role="admin", origin="cli")


def user_name() -> str:
    """Return the name of the user of this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number without a name
        return f"uid {os.getuid()}"
