"""Restore a backup into an empty database: everything in one transaction, or nothing."""

import shutil
import subprocess  # nosec B404
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from scrapersky.actions.backup_file import TABLE, BackupContent, NotABackup, Progress
from scrapersky.core.database import Database
from scrapersky.core.errors import Conflict, Permanent
from scrapersky.core.postgres_tools import PostgresTools, find_tools
from scrapersky.core.schema.migrations import admit

TRANSACTION_TIMEOUT_SINCE = 17  # the version from which on PostgreSQL knows the setting transaction_timeout
HEADER_LINES = 40  # the settings are above everything else


class RestoreFailed(Permanent):
    """The backup could not be restored, and nothing was changed."""


class DatabaseInUse(Conflict):
    """The database is not empty, or processes use it."""


async def prepare_restore(database: Database, force: bool) -> tuple[PostgresTools, int]:
    """Return the programs and the version of the server. Raises DatabaseInUse unless the database may be replaced."""
    connection = await asyncpg.connect(dsn=database.owner_dsn)
    try:
        tables, processes = await connection.fetchrow(_STATE)
        version = connection.get_server_version().major
    finally:
        await connection.close()
    if processes:
        raise DatabaseInUse(f"{processes} connections of scrapersky are open. Stop its processes first.")
    if tables and not force:
        raise DatabaseInUse(
            f"It has {tables} tables. Restore into an empty database, or use --force to drop them and all their data."
        )
    return find_tools(database.owner_url, version), version


def restore_backup(tools: PostgresTools, version: int, path: Path, content: BackupContent, report: Progress) -> None:
    """Replace everything in the database by the backup, in one transaction. Raises RestoreFailed."""
    functions = "{" + ",".join(f'"{name}"' for name in content.engine_functions) + "}"
    words = ("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1")
    psql = tools.command("psql", *words, f"--set=engine_functions={functions}", f"--dbname={tools.url}")
    with tempfile.TemporaryFile("w+") as errors, _script(tools, path, content) as script:
        with subprocess.Popen(  # noqa: S603 # nosec B603
            psql, env=tools.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors
        ) as process:
            copying = threading.Thread(target=_copy, args=(script, process, version), daemon=True)
            copying.start()
            for line in script.stderr or ():
                if table := TABLE.search(line.decode(errors="replace")):
                    report(table[1].removeprefix("public."))
            copying.join()
        errors.seek(0)
        said = [line.strip() for line in errors if "ERROR" in line or "FATAL" in line or "error:" in line]
    if script.wait() and not said:
        raise NotABackup(f"{path} is damaged: pg_restore ended with {script.returncode}. Nothing was changed.")
    if process.returncode or said:
        raise RestoreFailed(f"psql ended with {process.returncode}: {said[0] if said else 'no message'}.")


async def finish_restore(database: Database) -> None:
    """Let the login role of the application use the restored database."""
    await admit(database)


@contextmanager
def _script(tools: PostgresTools, path: Path, content: BackupContent) -> Iterator[subprocess.Popen[bytes]]:
    """Start the program that turns the backup into SQL."""
    with tempfile.NamedTemporaryFile("w", suffix=".list") as chosen:
        chosen.write("\n".join(content.restorable) + "\n")
        chosen.flush()
        words = ("--no-owner", "--verbose", f"--use-list={chosen.name}", "--file=-", str(path))
        with subprocess.Popen(  # noqa: S603 # nosec B603
            tools.command("pg_restore", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                yield process
            except BaseException:
                process.terminate()
                raise


def _copy(script: subprocess.Popen[bytes], psql: subprocess.Popen[bytes], version: int) -> None:
    """Write the statements before the backup, the backup, and those after it only if the backup was whole."""
    source, target = script.stdout, psql.stdin
    if source is None or target is None:
        raise ValueError("both programs need pipes")
    try:
        target.write(_BEFORE.encode())
        for _ in range(HEADER_LINES):
            line = source.readline()
            if version >= TRANSACTION_TIMEOUT_SINCE or not line.startswith(b"SET transaction_timeout"):
                target.write(line)
        shutil.copyfileobj(source, target, 1 << 20)
        if script.wait() == 0:
            target.write(_AFTER.encode())
        target.close()
    except BrokenPipeError:  # psql has ended with an error
        while source.read(1 << 20):  # so that the writer can end
            pass


_STATE = """
SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')),
    (SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'scrapersky %')"""

# The two roles belong to the server and are not in the backup. With --force the schema is not empty: what is in it is
# dropped. Without the COMMIT at the end nothing is changed, also if this process is killed.
_BEFORE = """
BEGIN;
SET LOCAL lock_timeout = '10s';
DO $$
DECLARE
    role text;
    statement text;
BEGIN
    FOREACH role IN ARRAY ARRAY['scrapersky_app', 'scrapersky_engine'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', role);
        END IF;
        IF NOT pg_has_role(role, 'USAGE') THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', role);
        END IF;
    END LOOP;
    FOR statement IN
        SELECT format('DROP %s IF EXISTS %s CASCADE', CASE relkind WHEN 'v' THEN 'VIEW'
            WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass)
        FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
        ORDER BY relkind = 'S'
    LOOP
        EXECUTE statement;
    END LOOP;
    FOR statement IN
        SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;
"""

# Everything was restored as property of the login role. Functions that act as the engine must belong to it.
_AFTER = """
SET LOCAL search_path = public;
SELECT run_as_engine(name::regprocedure) FROM unnest(:'engine_functions'::text[]) AS name;
ANALYZE;
COMMIT;
"""
