"""Migrations: applied by one process at a time, and checked before anything starts."""

from pathlib import Path
from typing import Any

import asyncpg
import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from scrapersky.core.database import DRIVER_URL, Database
from scrapersky.core.errors import BadSetting, ScraperSkyError, Unavailable
from scrapersky.core.schema_catalog import SchemaCatalog, name_some, read_lines

log = structlog.get_logger(__name__)

LOCK = 4_243_205_779  # the key of the advisory lock; any fixed number
LOCK_TIMEOUT = "5s"
FILE_TEMPLATE = "%(year)d-%(month).2d-%(day).2d-%(hour).2d%(minute).2d_%(slug)s"  # 2026-12-01-0900_tidy_name.py


class SchemaTooNew(ScraperSkyError):
    """The database was migrated by a newer scrapersky."""


class SchemaTooOld(ScraperSkyError):
    """The database has not been migrated for this scrapersky."""


class SchemaDiffers(ScraperSkyError):
    """The schema of the database is not the one that its revision makes."""


def migrations_folder() -> Path:
    """Return the folder of the migrations: inside an installed package, beside src in a checkout."""
    packaged = Path(__file__).parent.parent / "migrations"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "migrations"


def alembic_config(connection: Connection | None = None) -> Config:
    """Configure Alembic without an ini file: the folder of the migrations, the names of new files, the connection."""
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.set_main_option("file_template", FILE_TEMPLATE.replace("%", "%%"))
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def head_revision() -> str:
    """Return the newest revision of this code."""
    return str(ScriptDirectory.from_config(alembic_config()).get_current_head())


async def current_revision(database: Database) -> str | None:
    """Return the revision of the database, or None if it is empty."""
    revision: str | None = await _with_connection(
        database, lambda connection: MigrationContext.configure(connection).get_current_revision()
    )
    return revision


async def read_schema(database: Database) -> frozenset[str]:
    """Return the lines of the catalog of the database."""
    lines: frozenset[str] = await _with_connection(database, read_lines)
    return lines


async def check_schema(database: Database) -> None:
    """Raise unless the database has the schema of this code; migrate the embedded database instead of raising."""
    scripts = ScriptDirectory.from_config(alembic_config())
    current, head = await current_revision(database), scripts.get_current_head()
    if current == head:
        await _with_connection(database, _check_catalog)
        return
    if current is not None and not _is_known(scripts, current):
        raise SchemaTooNew(
            f"This version does not know its revision {current}. Upgrade scrapersky, or restore an older backup."
        )
    if not database.is_embedded:
        raise SchemaTooOld(f"Its revision is {current or 'none'}, not {head}. Run `scrapersky migrate` first.")
    await migrate(database)


async def migrate(database: Database, check_catalog: bool = True) -> list[str]:
    """Migrate the database to the newest revision, and return the revisions that were applied.

    Raises SchemaDiffers, and changes nothing, if the schema is not the one that the revisions should have made.
    """
    try:
        applied: list[str] = await _with_connection(database, lambda own: _upgrade(own, check_catalog))
    except (DBAPIError, asyncpg.PostgresError) as error:
        # A revision that runs a .sql file uses the driver directly: its error is not wrapped by SQLAlchemy.
        explained = _explain(error.orig.__cause__ if isinstance(error, DBAPIError) and error.orig else error)
        if explained is None:
            raise
        raise explained from error
    for revision in applied:
        log.info("migration_applied", revision=revision)
    return applied


def _upgrade(connection: Connection, check_catalog: bool) -> list[str]:
    """Upgrade under an advisory lock, so that two hosts may start at once, and return the applied revisions."""
    scripts = ScriptDirectory.from_config(alembic_config())
    # No timeout for the lock: another host that migrates will finish.
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    before = MigrationContext.configure(connection).get_current_revision()
    if before is not None and not _is_known(scripts, before):
        raise SchemaTooNew(f"This version does not know its revision {before}. Upgrade scrapersky first.")
    command.upgrade(alembic_config(connection), "head")
    if check_catalog:
        _check_catalog(connection)
    return [script.revision for script in scripts.iterate_revisions("head", before or "base")][::-1]


def _check_catalog(connection: Connection) -> None:
    """Raise SchemaDiffers unless the newest revision has made exactly this schema."""
    catalog = SchemaCatalog.read(migrations_folder())
    if catalog.revision != head_revision():  # a revision that is being written; `make check` refuses to land it so
        return
    if differences := catalog.differences(connection):
        raise SchemaDiffers(
            f"It differs from revision {catalog.revision}: {name_some(differences)}. Undo these changes by SQL, "
            "restore a backup, or migrate an empty database. Nothing was changed."
        )


def _explain(cause: BaseException | None) -> ScraperSkyError | None:
    """Return the error that names the cure, or None if there is none for this cause."""
    if isinstance(cause, asyncpg.InsufficientPrivilegeError):
        return BadSetting(
            f"The user of DATABASE_URL may not create the schema ({str(cause).splitlines()[0]}). The user must own the "
            "database, and either may create roles or was granted scrapersky_app and scrapersky_engine. "
            "Nothing was changed."
        )
    if isinstance(cause, asyncpg.LockNotAvailableError):
        return Unavailable(
            "The migration could not lock the tables within five seconds, because they are in use. "
            "Nothing was changed; run `scrapersky migrate` again when there is less load."
        )
    return None


async def _with_connection(database: Database, act: Any) -> Any:
    """Run `act` in a transaction of the login role, which owns the tables."""
    engine = create_async_engine(DRIVER_URL, connect_args=database.connect_arguments, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(act)
    finally:
        await engine.dispose()


def _is_known(scripts: ScriptDirectory, revision: str) -> bool:
    return any(script.revision == revision for script in scripts.walk_revisions())
