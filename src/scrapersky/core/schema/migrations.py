"""Migrations: applied by one process at a time, and checked before anything starts."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import structlog
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from scrapersky.core.database import DRIVER_URL, Database
from scrapersky.core.errors import BadSetting, ScraperSkyError, Unavailable, UnknownName
from scrapersky.core.schema.catalog import SchemaCatalog, name_some, read_lines
from scrapersky.core.schema.login_role import admit_login, become_engine, warn_of_privileges

if TYPE_CHECKING:
    from alembic.config import Config

log = structlog.get_logger(__name__)

LOCK = 4_243_205_779  # the key of the advisory lock; any fixed number
LOCK_TIMEOUT = "5s"
FILE_TEMPLATE = "%(year)d-%(month).2d-%(day).2d-%(hour).2d%(minute).2d_%(slug)s"  # 2026-12-01-0900_tidy_name.py

# A revision and the one before it, as a file of the folder declares them.
_DECLARED = re.compile(r'^revision = "(\w{1,60})"\ndown_revision = (?:"(\w{1,60})"|None)$', re.MULTILINE)

# The first applied revision that the code of revision :head cannot run on, or null. A revision that this query does not
# find in the table was applied by a version that did not know the table: the code must know the revision itself.
BLOCKING_REVISION = text("""
WITH mine AS (SELECT position FROM applied_revision WHERE revision = :head)
SELECT CASE
    WHEN version_num = :head THEN NULL
    WHEN NOT EXISTS (SELECT FROM mine) OR NOT EXISTS (SELECT FROM applied_revision WHERE revision = version_num)
        THEN version_num
    ELSE (
        SELECT newer.revision
        FROM mine, applied_revision newer LEFT JOIN applied_revision oldest ON oldest.revision = newer.oldest_code
        WHERE newer.position > mine.position AND newer.oldest_code IS NOT NULL
            AND coalesce(oldest.position > mine.position, true)
        ORDER BY newer.position LIMIT 1
    )
END FROM alembic_version""")


class SchemaTooNew(ScraperSkyError):
    """The database was migrated by a newer scrapersky."""


class SchemaTooOld(ScraperSkyError):
    """The database has not been migrated for this scrapersky."""


class SchemaDiffers(ScraperSkyError):
    """The schema of the database is not the one that its revision makes."""


def migrations_folder() -> Path:
    """Return the folder of the migrations: inside an installed package, beside src in a checkout."""
    packaged = Path(__file__).parents[2] / "migrations"
    return packaged if packaged.is_dir() else Path(__file__).parents[4] / "migrations"


def alembic_config(connection: Connection | None = None) -> "Config":
    """Configure Alembic without an ini file: the folder of the migrations, the names of new files, the connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.set_main_option("file_template", FILE_TEMPLATE.replace("%", "%%"))
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def head_revision() -> str:
    """Return the newest revision of this code."""
    return known_revisions()[-1]


@cache
def known_revisions() -> tuple[str, ...]:
    """Return the revisions of this code, the oldest first; the files are read once in a process.

    Alembic would import every file; it is only imported to migrate, so that each process starts sooner and smaller.
    """
    files = sorted((migrations_folder() / "versions").glob("*.py"))
    after = {before: revision for file in files for revision, before in _DECLARED.findall(file.read_text())}
    if len(after) < len(files):
        raise RuntimeError(f"{migrations_folder()} has a file without a revision, or two after the same one")
    chain = [after[""]]
    while chain[-1] in after:
        chain.append(after[chain[-1]])
    return tuple(chain)


async def current_revision(database: Database) -> str | None:
    """Return the revision of the database, or None if it is empty."""
    revision: str | None = await _with_connection(database.owner_arguments, _read_revision)
    return revision


async def read_schema(database: Database) -> frozenset[str]:
    """Return the lines of the catalog of the database."""
    lines: frozenset[str] = await _with_connection(database.owner_arguments, read_lines)
    return lines


async def check_schema(database: Database, check_catalog: bool = True) -> None:
    """Raise unless this code runs on the schema of the database; migrate the embedded database instead of raising."""
    arguments = database.owner_arguments if database.is_embedded else database.connect_arguments
    try:
        await _with_connection(arguments, lambda connection: _check(connection, database, check_catalog))
    except DBAPIError as error:
        if not isinstance(error.orig and error.orig.__cause__, asyncpg.InsufficientPrivilegeError):
            raise
        raise BadSetting(
            f"The user {database.url.username} of DATABASE_URL may not act as scrapersky_engine. Run `scrapersky "
            "migrate` with MIGRATION_DATABASE_URL, or grant the user scrapersky_app and scrapersky_engine."
        ) from error
    except SchemaTooOld:
        if not database.is_embedded:
            raise
        await migrate(database)


async def migrate(database: Database, target: str | None = None, check_catalog: bool = True) -> list[str]:
    """Migrate the database to the newest revision, or to `target`, and return the revisions applied or reverted.

    Raises SchemaDiffers, and changes nothing, if the schema is not the one that the revisions should have made.
    """
    try:
        changed: list[str] = await _with_connection(
            database.owner_arguments, lambda connection: _migrate(connection, database, target, check_catalog)
        )
    except (DBAPIError, asyncpg.PostgresError) as error:
        # A revision that runs a .sql file uses the driver directly: its error is not wrapped by SQLAlchemy.
        explained = _explain(error.orig.__cause__ if isinstance(error, DBAPIError) and error.orig else error)
        if explained is None:
            raise
        raise explained from error
    for revision in changed:
        log.info("migration_applied", revision=revision)
    return changed


async def admit(database: Database) -> None:
    """Let the user of DATABASE_URL become the two roles, as the owner of the tables."""
    await _with_connection(database.owner_arguments, lambda connection: admit_login(connection, database))


def revisions_between(current: str | None, target: str) -> tuple[list[str], list[str]]:
    """Return the revisions to apply and those to take back, in order. Raises UnknownName or SchemaTooNew."""
    known = list(known_revisions())
    if target not in known:
        raise UnknownName(f"There is no revision {target}. This version knows: {', '.join(known)}.")
    if current is not None and current not in known:
        raise SchemaTooNew(
            f"This version does not know its revision {current}. Run `scrapersky migrate` of the newer version."
        )
    at = known.index(current) + 1 if current else 0
    to = known.index(target) + 1
    return known[at:to], known[to:at][::-1]


def _migrate(connection: Connection, database: Database, target: str | None, check_catalog: bool) -> list[str]:
    """Migrate under an advisory lock, so that two hosts may start at once."""
    # No timeout for the lock: another host that migrates will finish.
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    current = _read_revision(connection)
    if target is None and current is not None and current not in known_revisions():
        _check_newer(connection, current)  # a rollback: the older version runs on the newer schema
        return []
    applied, reverted = revisions_between(current, target or head_revision())
    from alembic import command

    if applied:
        command.upgrade(alembic_config(connection), applied[-1])
    if reverted:
        command.downgrade(alembic_config(connection), target or head_revision())
    _record_revisions(connection)
    admit_login(connection, database)
    if check_catalog and target in (None, head_revision()):
        _check_catalog(connection)
    return applied or reverted


def _record_revisions(connection: Connection) -> None:
    """Write one row for each applied revision, for versions that do not know all of them."""
    if connection.scalar(text("SELECT to_regclass('applied_revision') IS NULL")):
        return
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config())
    chain = list(scripts.iterate_revisions(_read_revision(connection), "base"))[::-1]
    rows = [
        {
            "position": position,
            "revision": script.revision,
            "oldest_code": getattr(script.module, "oldest_code", None),
        }
        for position, script in enumerate(chain, start=1)
    ]
    connection.execute(text("DELETE FROM applied_revision"))
    connection.execute(text("INSERT INTO applied_revision VALUES (:position, :revision, :oldest_code)"), rows)


def _check(connection: Connection, database: Database, check_catalog: bool) -> None:
    """Raise unless this code runs on the schema. The login role needs no privileges of its own."""
    current, head = _read_revision(connection), head_revision()
    if current is None or (current != head and current in known_revisions()):
        raise SchemaTooOld(f"Its revision is {current or 'none'}, not {head}. Run `scrapersky migrate` first.")
    if current != head:
        _check_newer(connection, current)
        return
    if check_catalog:
        _check_catalog(connection)
    if database.is_embedded:
        admit_login(connection, database)
    elif database.is_production:
        warn_of_privileges(connection)


def _check_newer(connection: Connection, current: str) -> None:
    """Raise SchemaTooNew unless the newer revisions keep what this version needs."""
    head = head_revision()
    is_recorded = connection.scalar(text("SELECT to_regclass('applied_revision') IS NOT NULL"))
    blocking = connection.scalar(BLOCKING_REVISION, {"head": head}) if is_recorded else current
    if blocking is not None:
        raise SchemaTooNew(
            f"This version, of revision {head}, cannot run on revision {blocking}. Upgrade scrapersky, "
            f"or revert the schema with the newer version: `scrapersky migrate --to {head}`."
        )
    if missing := SchemaCatalog.read(migrations_folder()).missing_columns(connection):
        raise SchemaTooNew(
            f"Its revision {current} lacks what this version uses: {name_some(missing)}. Upgrade scrapersky."
        )
    log.warning("schema_newer", revision=current, own=head)


def _read_revision(connection: Connection) -> str | None:
    """Return the revision of the database, or None if it is empty."""
    if connection.scalar(text("SELECT to_regclass('alembic_version') IS NULL")):
        return None
    become_engine(connection)
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


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
            f"The user of MIGRATION_DATABASE_URL, or of DATABASE_URL without it, may not create the schema "
            f"({str(cause).splitlines()[0]}). The user must own the database, and either may create roles or was "
            "granted scrapersky_app and scrapersky_engine. Nothing was changed."
        )
    if isinstance(cause, asyncpg.LockNotAvailableError):
        return Unavailable(
            "The migration could not lock the tables within five seconds, because they are in use. "
            "Nothing was changed; run `scrapersky migrate` again when there is less load."
        )
    return None


async def _with_connection(arguments: dict[str, Any], act: Any) -> Any:
    """Run `act` in a transaction of a connection with these arguments."""
    engine = create_async_engine(DRIVER_URL, connect_args=arguments, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(act)
    finally:
        await engine.dispose()
