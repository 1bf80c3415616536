"""`scrapersky backup` and `restore`: under row level security, while workers run, to an empty machine."""

import asyncio
import signal
import stat
import tempfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import make_url

from scrapersky.actions.backup_file import BackupContent
from scrapersky.core.database import Database
from scrapersky.core.embedded.server import EmbeddedServer
from scrapersky.core.errors import BadSetting
from scrapersky.core.postgres_tools import find_tools
from scrapersky.core.schema.migrations import check_schema, migrate
from tests.conftest import Server, make_settings, numbers
from tests.factories.pooler import pooler

ADD_BUSINESSES = """
INSERT INTO local_business (tenant_id, name, website, domain_extraction_status)
SELECT tenant.id, 'Firm ' || n, 'https://firm' || n || '.fi/', 'Queued'
FROM tenant, generate_series(1, $1::integer) n"""
DONE = "SELECT count(*) FROM local_business WHERE domain_extraction_status = 'Completed'"


async def new_database(server: Server, privileges: str = "CREATEROLE") -> str:
    """Create an empty database with an owner that is not a superuser; return the URL of the owner."""
    name = f"backup_{next(numbers)}"
    await server.execute(f"CREATE ROLE {name} LOGIN {privileges}")
    await server.execute(
        "DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'scrapersky_app') THEN "
        f"GRANT scrapersky_app, scrapersky_engine TO {name} WITH ADMIN OPTION; END IF; END $$"
    )
    await server.execute(f"CREATE DATABASE {name} OWNER {name}")
    return make_url(server.url(name)).set(username=name).render_as_string(hide_password=False)


async def migrated(server: Server) -> str:
    url = await new_database(server)
    database = Database(url, make_settings(url))
    await migrate(database)
    await database.close()
    return url


def as_superuser(url: str) -> str:
    return make_url(url).set(username="postgres").render_as_string(hide_password=False)


async def ask(url: str, question: str, *values: object) -> Any:
    """Ask as the superuser, who sees all rows."""
    connection = await asyncpg.connect(as_superuser(url))
    try:
        return await connection.fetchval(question, *values)
    finally:
        await connection.close()


async def checksums(url: str) -> dict[str, str]:
    """A hash of all rows of each table and of the state of each sequence."""
    connection = await asyncpg.connect(as_superuser(url))
    names = await connection.fetch(
        "SELECT quote_ident(relname), relkind = 'r' FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'S') AND relname NOT IN ('audit', 'audit_id_seq')"  # they record the backup itself
    )
    of_table = "SELECT md5(string_agg(one::text, '|' ORDER BY one::text)) FROM {} AS one"
    of_sequence = "SELECT last_value || ' ' || is_called FROM {}"
    found = {
        name: await connection.fetchval((of_table if is_table else of_sequence).format(name))
        for name, is_table in names
    }
    await connection.close()
    return found


@pytest.fixture
def empty_machine():
    """A server of its own, on which nothing of this application exists."""
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)
        server = Server(Path(home) / "pg")
        yield server
        server.stop()


async def test_a_backup_made_while_a_worker_runs_is_restored_on_an_empty_machine(
    server, template, empty_machine, process, command, tmp_path
):
    url, file = await migrated(server), tmp_path / "line.dump"
    await ask(url, "INSERT INTO workflow_control (workflow, paused_at) VALUES ('domain_metadata', now())")
    await ask(url, ADD_BUSINESSES, 1_000)
    worker = process("worker", DATABASE_URL=url)
    while await ask(url, DONE) == 0:
        await asyncio.sleep(0.02)
    said = await command("backup", str(file), DATABASE_URL=url)
    assert said.code == 0, said.err
    worker.tell(signal.SIGTERM)
    assert (await worker.leave()).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("*line.dump*")] == ["line.dump"]

    elsewhere = await new_database(empty_machine)
    said = await command("restore", str(file), DATABASE_URL=elsewhere)
    assert said.code == 0, said.err
    database = Database(elsewhere, make_settings(elsewhere))
    await check_schema(database)  # owners, policies and privileges are as the migrations make them
    await database.close()
    assert await ask(elsewhere, "SELECT count(*) FROM local_business") == 1_000
    await ask(
        elsewhere,
        "UPDATE local_business SET domain_extraction_due_at = now() WHERE domain_extraction_status = 'Processing'",
    )
    worker = process("worker", DATABASE_URL=elsewhere)
    while await ask(elsewhere, DONE) < 1_000:
        await asyncio.sleep(0.05)
    worker.tell(signal.SIGTERM)
    assert (await worker.leave()).code == 0


async def test_every_row_of_every_table_is_the_same_after_a_round_trip(server, database_url, line, tmp_path, admin):
    """With a row in each table that a search fills, by a superuser and over the two URLs."""
    await admin.execute(ADD_BUSINESSES, 50)
    await admin.execute("INSERT INTO domain (tenant_id, name) SELECT tenant_id, 'a' || id || '.fi' FROM local_business")
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, identity, name, email, profiles) SELECT tenant_id, id, 'x', "
        "E'Ä\\t\\\\.\\n\"€\"', 'a@' || name, '{\"x\": null}' FROM domain"
    )
    assert (await line("backup", str(tmp_path / "all.dump"))).code == 0
    owner = await new_database(server)
    login = make_url(owner).set(username="backup_login").render_as_string(hide_password=False)
    said = await line("restore", str(tmp_path / "all.dump"), DATABASE_URL=login, MIGRATION_DATABASE_URL=owner)
    assert said.code == 0, said.err
    assert await checksums(owner) == await checksums(database_url)
    assert await ask(owner, "SELECT after ->> 'file' FROM audit WHERE action = 'restore'") == "all.dump"
    assert (await line("tenant", "list", MIGRATION_DATABASE_URL="")).code == 0
    assert (await line("backup", str(tmp_path / "again.dump"), MIGRATION_DATABASE_URL=owner)).code == 0
    assert (await line("tenant", "list", MIGRATION_DATABASE_URL="")).code == 0, "the policy makes no difference"


async def test_a_file_and_a_database_are_replaced_only_by_force(server, line, tmp_path, admin, database_url):
    file = str(tmp_path / "line.dump")
    assert (await line("backup", file)).code == 0
    said = await line("backup", file)
    assert (said.code, "exists. Name another file, or use --force" in said.sentence) == (2, True)
    said = await line("restore", file)
    assert (said.code, "tables. Restore into an empty database, or use --force" in said.sentence) == (2, True)
    await admin.execute("CREATE TABLE own (id int); INSERT INTO tenant (name) VALUES ('later')")
    await admin.execute("SET application_name = 'scrapersky 7 max 8'")
    said = await line("restore", file, "--force")
    assert (said.code, "1 connections of scrapersky are open. Stop its processes first." in said.sentence) == (2, True)
    await admin.execute("SET application_name = 'psql'")
    said = await line("restore", file, "--force")
    assert said.code == 0, said.err
    assert await admin.fetchval("SELECT to_regclass('own') IS NULL AND count(*) = 1 FROM tenant")
    assert (await line("tenant", "list")).code == 0


async def test_a_damaged_file_changes_nothing(server, line, tmp_path):
    file, empty = tmp_path / "line.dump", await new_database(server)
    assert (await line("backup", str(file))).code == 0
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - 2_000])
    said = await line("restore", str(file), DATABASE_URL=empty)
    assert said.code == 2, said.out
    assert "The file is not a backup" in said.sentence or "nothing was changed" in said.sentence
    assert await ask(empty, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") == 0
    for content in (b"", b"no dump", b"PGDMP"):
        file.write_bytes(content)
        said = await line("restore", str(file))
        assert (said.code, "The file is not a backup of scrapersky." in said.sentence) == (2, True)
    said = await line("restore", str(tmp_path / "nothing"))
    assert (said.code, "There is no file" in said.sentence) == (2, True)


async def test_a_backup_that_fails_leaves_no_file(server, line, tmp_path):
    said = await line("backup", str(tmp_path / "a.dump"), DATABASE_URL=await new_database(server))
    assert (said.code, "there is nothing to back up" in said.sentence) == (2, True)
    said = await line("backup", str(tmp_path / "no" / "folder" / "a.dump"), DATABASE_URL=await migrated(server))
    assert (said.code, "cannot be written (No such file or directory)" in said.sentence) == (2, True)
    assert list(tmp_path.glob("*dump*")) == []


@pytest.mark.parametrize("ignored", [(), ("options",)], ids=["refused", "ignored"])
async def test_a_backup_through_a_pooler_is_refused_because_it_could_lack_rows(
    server, line, command, tmp_path, ignored
):
    file = tmp_path / "line.dump"
    async with pooler(await migrated(server), ignored) as url:
        said = await command("backup", str(file), DATABASE_URL=url, SCHEDULER_POLL_ONLY="true")
    assert said.code == 2
    assert "connection pooler" in said.err
    assert "MIGRATION_DATABASE_URL" in said.err
    assert "Traceback" not in said.err
    assert not file.exists()


async def test_restoring_without_the_right_to_create_roles_names_the_cause(empty_machine, line, tmp_path):
    file = str(tmp_path / "line.dump")
    assert (await line("backup", file)).code == 0
    elsewhere = await new_database(empty_machine, privileges="")
    said = await line("restore", file, DATABASE_URL=elsewhere)
    assert said.code == 2
    assert "nothing was changed" in said.sentence
    assert "permission denied to create role" in said.sentence


async def test_the_embedded_database_is_backed_up_restored_and_reached_with_psql(process):
    with tempfile.TemporaryDirectory(prefix="ss-") as folder:
        Path(folder).chmod(0o755)
        home = f"{folder}/Application Support"  # the default of macOS has a blank
        variables = {"SCRAPERSKY_DATA_DIR": home, "DATABASE_URL": ""}
        server = EmbeddedServer(Path(home))
        server.start()  # the commands share it
        assert Path(home, "postgres", "PG_VERSION").is_file()
        add = ("psql", *(f"-cINSERT INTO tenant (name) VALUES ('{name}')" for name in ("acme", "beta")))
        again = ("restore", f"{home}/e.dump", "--force")
        for words in (
            ("migrate",),
            add,
            ("backup", f"{home}/e.dump"),
            ("psql", "-c", "DROP TABLE contact CASCADE"),
            again,
        ):
            said = await process(*words, **variables).leave()
            assert said.code == 0, said.err
        said = await process("tenant", "list", **variables).leave()
        server.release()
    assert (said.code, "acme" in said.out, "beta" in said.out) == (0, True, True)


def test_no_program_gets_the_password_on_its_command_line():
    url = make_url("postgresql+asyncpg://line:hush@db/line?password=hush&sslmode=require")
    tools = find_tools(url, 15)
    assert "hush" not in " ".join(tools.command("psql", tools.url))
    assert tools.url == "postgresql://line@db/line?sslmode=require"
    assert tools.environment["PGPASSWORD"] == "hush"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a%20b@/line?host=%2Fa%20b%2Fc",
        "postgresql://db:5433/x%2Fy%2Bz",
        "postgresql://u@[::1]/x?sslrootcert=%2Fmy%20ca.pem&sslmode=verify-full",
    ],
)
def test_the_programs_get_an_address_that_libpq_reads(url):
    assert find_tools(make_url(url), 15).url == url


def test_programs_that_are_too_old_for_the_server_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadSetting, match="Install the PostgreSQL client programs of version 99"):
        find_tools(make_url("postgresql://db/line"), 99)
    program = tmp_path / "pg_dump"
    program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 99.1'\n")
    program.chmod(0o755)
    assert find_tools(make_url("postgresql://db/line"), 99).folder == tmp_path


def test_the_functions_of_the_engine_are_read_from_the_list():
    content = BackupContent(
        [
            "1; 1255 17 FUNCTION public add_queue(text, text) line",
            "2; 1255 18 FUNCTION public f(for_tenant uuid, n integer) scrapersky_engine",
            "3; 3256 19 POLICY public contact backup_rows line",
        ]
    )
    assert content.engine_functions == ["public.f(for_tenant uuid, n integer)"]
    assert len(content.restorable) == 2
