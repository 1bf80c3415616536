"""A backup of the whole database: one file in pg_dump's custom format."""

import os
import re
import secrets
import subprocess  # nosec B404
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from scrapersky.core.database import Database
from scrapersky.core.errors import BadRequest, BadSetting, Conflict, Permanent, Unavailable
from scrapersky.core.postgres_tools import PostgresTools, find_tools

TABLE = re.compile(r'(?:contents of|data for) table "?([\w.]{1,130})')
ENGINE_FUNCTION = re.compile(r"\d{1,12}; \d{1,12} \d{1,12} FUNCTION (\S{1,63}) (.{1,999}) scrapersky_engine")
READS_ALL_ROWS = "-c scrapersky.backup=on"  # what the policy backup_rows asks for

Progress = Callable[[str], None]


class NotABackup(BadRequest):
    """The file is not a backup of scrapersky."""


class BackupFailed(Permanent):
    """The backup could not be made."""


@dataclass(frozen=True)
class BackupContent:
    """The list of contents of a backup, as pg_restore prints it."""

    lines: list[str]

    @property
    def engine_functions(self) -> list[str]:
        """The functions that act as the engine, with their arguments."""
        found = (ENGINE_FUNCTION.fullmatch(line) for line in self.lines)
        return [f"{each[1]}.{each[2]}" for each in found if each]

    @property
    def restorable(self) -> list[str]:
        """The lines of what is restored: the policy for backups belongs to the owner of the other database."""
        return [line for line in self.lines if " POLICY " not in line or " backup_rows " not in line]


async def prepare_backup(database: Database) -> PostgresTools:
    """Let the owner of the tables read every row, and return the programs. Raises Conflict if there is nothing."""
    connection = await _connect_as_pg_dump(database)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version') IS NULL"):
            raise Conflict("The database is empty: there is nothing to back up.")
        await connection.execute(_ADD_POLICIES)
    except asyncpg.LockNotAvailableError as error:
        raise Unavailable(
            "The tables could not be locked within five seconds. Try again when there is less load."
        ) from error
    finally:
        await connection.close()
    return find_tools(database.owner_url, connection.get_server_version().major)


async def _connect_as_pg_dump(database: Database) -> asyncpg.Connection:
    """Connect with the option that pg_dump sends. Raises BadSetting for a pooler that keeps it from the server.

    Without it, the owner of the tables reads no rows under row level security, and the backup would lack them.
    """
    why = "it ignores the options of connections"
    options = {"options": f"{READS_ALL_ROWS} -c lock_timeout=5s"}
    try:
        connection = await asyncpg.connect(dsn=database.owner_dsn, server_settings=options)
        if await connection.fetchval("SELECT current_setting('scrapersky.backup', true)") == "on":
            return connection
        await connection.close()
    except asyncpg.ProtocolViolationError as error:
        why = str(error)
    raise BadSetting(
        f"A connection pooler is between this command and the server ({why}): a backup through it could lack rows. "
        "Set MIGRATION_DATABASE_URL to the server itself."
    )


def write_backup(tools: PostgresTools, path: Path, report: Progress) -> int:
    """Write the backup and return its size. The file appears when it is whole and was read again."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        words = ("--format=custom", "--enable-row-security", "--verbose", "--no-password")
        command = tools.command("pg_dump", *words, f"--file={partial}", f"--dbname={tools.url}")
        _run(command, {**tools.environment, "PGOPTIONS": READS_ALL_ROWS}, report)
        read_content(tools, partial)
        _synchronize(partial)
        partial.replace(path)
        _synchronize(path.parent)
        return path.stat().st_size
    except OSError as error:
        raise BackupFailed(f"{path} cannot be written ({error.strerror}).") from error
    finally:
        partial.unlink(missing_ok=True)


def read_content(tools: PostgresTools, path: Path) -> BackupContent:
    """Read the list of contents, which also checks the file. Raises NotABackup."""
    done = subprocess.run(  # noqa: S603 # nosec B603
        tools.command("pg_restore", "--list", str(path)), capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith(";")]
    if done.returncode or not any(" TABLE DATA " in line and " alembic_version " in line for line in lines):
        raise NotABackup(f"{path}: {done.stderr.strip().splitlines()[0] if done.stderr else 'it has no revision'}.")
    return BackupContent(lines)


def _run(command: list[str], environment: dict[str, str], report: Progress) -> None:
    """Run a program and report the tables that it names. Raises BackupFailed with its last words."""
    said = ""
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 # nosec B603
        try:
            for line in process.stderr or ():
                if table := TABLE.search(line):
                    report(table[1].removeprefix("public."))
                elif "error:" in line:
                    said = said or line.strip()
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise BackupFailed(f"pg_dump ended with {process.returncode}: {said or 'no message'}.")


def _synchronize(path: Path) -> None:
    """Wait until the file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Row level security holds the owner of the tables, too. This policy shows the owner all rows, but only to a connection
# that asks for it. A superuser needs none. One table is locked at a time, because workers use them in another order.
_ADD_POLICIES = """
DO $$
DECLARE
    target regclass;
BEGIN
    IF (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) THEN
        RETURN;
    END IF;
    FOR target IN
        SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relforcerowsecurity
            AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname = 'backup_rows')
    LOOP
        EXECUTE format('CREATE POLICY backup_rows ON %s FOR SELECT TO CURRENT_USER
            USING (current_setting(''scrapersky.backup'', true) = ''on'')', target);
        COMMIT;
    END LOOP;
END
$$"""
