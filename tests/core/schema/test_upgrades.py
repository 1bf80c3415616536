"""Expand, migrate, contract: the version before runs on the schema after, tried with checkouts side by side."""

import asyncio
import io
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest
from alembic import command as alembic
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.core.schema.catalog import columns_of, read_lines
from scrapersky.core.schema.migrations import SchemaTooNew, alembic_config, check_schema, head_revision, known_revisions
from scrapersky.sandbox.sandbox import Sandbox
from tests import ROOT
from tests.cli.conftest import Process, command, fresh_process, line
from tests.conftest import Server, numbers

__all__ = ["command", "fresh_process", "line"]  # fixtures

HEAD = head_revision()
REVISION = '''"""A revision of a later version."""

from alembic import op

revision = "{name}"
down_revision = "{before}"
branch_labels = None
depends_on = None
{declaration}

def upgrade() -> None:
    op.execute("{upgrade}")


def downgrade() -> None:
    op.execute("{downgrade}")
'''
ADDITION = {
    "name": "later_addition",
    "before": HEAD,
    "declaration": "",
    "upgrade": "ALTER TABLE contact ADD COLUMN later text, ADD COLUMN later_count integer NOT NULL DEFAULT 0",
    "downgrade": "ALTER TABLE contact DROP COLUMN later, DROP COLUMN later_count",
}
REMOVAL = {
    "name": "later_removal",
    "before": "later_addition",
    "declaration": 'oldest_code = "later_addition"\n',
    "upgrade": "ALTER TABLE contact DROP COLUMN later",
    "downgrade": "ALTER TABLE contact ADD COLUMN later text",
}
QUICK = {
    "CRAWL_HOST_DELAY_SECONDS": "0",
    "CRAWL_PARSER_PROCESSES": "1",
    **{
        f"{step}_SCHEDULER_MAX_ATTEMPTS": "1"
        for step in ("DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT", "PAGE_CURATION")
    },
    "CONTACT_VERIFICATION_SCHEDULER_BACKOFF_SECONDS": "0.5",
}
QUEUE = """
INSERT INTO local_business (tenant_id, name, website, domain_extraction_status)
SELECT id, 'Molar', 'https://' || $1 || '/', 'Queued' FROM tenant"""
PAUSE = """
INSERT INTO workflow_control (workflow, paused_at) VALUES ('domain_metadata', now())
ON CONFLICT (workflow) DO UPDATE SET paused_at = now()"""
DONE = "SELECT count(*) FROM local_business WHERE domain_extraction_status = 'Completed'"


@pytest.fixture
async def empty_url(server: Server):
    name = f"upgrade_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    yield server.url(name)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def checkout(folder: Path, *revisions: dict[str, str]) -> dict[str, str]:
    """Copy this checkout and add revisions; return the variables that make a command run in the copy."""
    for part in ("src", "migrations"):
        shutil.copytree(ROOT / part, folder / part)  # with the bytecode, which stays valid
    for number, revision in enumerate(revisions):
        path = folder / "migrations" / "versions" / f"2030-01-0{number + 1}-0000_{revision['name']}.py"
        path.write_text(REVISION.format(**revision))
    return {"PYTHONPATH": os.pathsep.join([str(folder / "src"), str(ROOT)])}


async def test_the_version_before_runs_on_the_schema_after(
    fresh_process: Callable[..., Process], tmp_path: Path, empty_url: str
):
    """docs/operating.md, Upgrading and rolling back: each step, with three checkouts and real processes."""
    url = {"DATABASE_URL": empty_url}
    older = checkout(tmp_path / "older") | url
    newer = checkout(tmp_path / "newer", ADDITION) | url
    newest = checkout(tmp_path / "newest", ADDITION, REMOVAL) | url
    assert (await fresh_process("migrate", **older).leave()).code == 0
    admin = await asyncpg.connect(empty_url)
    worker = fresh_process("worker", SCRAPERSKY_LOG_LEVEL="info", **older)
    await worker.until_said("scheduler_started")

    said = await fresh_process("migrate", **newer).leave()  # while the older worker runs
    assert (said.code, said.out) == (0, "applied later_addition\n")
    await admin.execute(PAUSE)
    await admin.execute(QUEUE, "molar.fi")
    while await admin.fetchval(DONE) == 0:
        await asyncio.sleep(0.05)
    worker.tell(signal.SIGTERM)
    assert (await worker.leave()).code == 0
    assert await admin.fetchval(DONE) == 1

    assert (await fresh_process("migrate", **older).leave()).code == 0  # a rollback deploys the older version as always
    await admin.execute("UPDATE workflow_control SET paused_at = NULL; DELETE FROM domain")
    await whole_line(fresh_process, older, tmp_path)

    said = await fresh_process("migrate", **newest).leave()
    assert (said.code, said.out) == (0, "applied later_removal\n")
    assert (await fresh_process("status", **newer).leave()).code == 0
    for word in ("worker", "migrate"):
        said = await fresh_process(word, **older).leave()
        assert said.code == 2
        assert f"`scrapersky migrate --to {HEAD}`" in said.sentence
    said = await fresh_process("migrate", "--to", HEAD, "--yes", "--force", **newest).leave()
    assert (said.code, said.out) == (0, "reverted later_removal\nreverted later_addition\n")
    assert (await fresh_process("status", **older).leave()).code == 0
    assert await admin.fetchval(DONE) > 0
    await admin.close()


async def whole_line(process: Callable[..., Process], variables: dict[str, str], folder: Path) -> None:
    """Run a search from the provider to the file, by the code of a checkout."""
    async with Sandbox(seed=31, businesses=120) as sandbox:
        words = ("find", "dentists in Helsinki", "--out", str(folder / "leads.csv"), "--json", "--limit", "4")
        said = await process(*words, **QUICK, **sandbox.environment(), **variables).leave(240)
    assert said.code == 0, said.err
    assert json.loads(said.out)["rows"] > 0


async def test_each_revision_only_adds_unless_it_declares_the_oldest_code(empty_url: str):
    scripts = ScriptDirectory.from_config(alembic_config())
    engine = create_async_engine(empty_url.replace("postgresql://", "postgresql+asyncpg://"))
    before: frozenset[str] = frozenset()
    for revision in known_revisions():
        async with engine.begin() as connection:
            await connection.run_sync(upgrade, revision)
            after = await connection.run_sync(read_lines)
        oldest_code = getattr(scripts.get_revision(revision).module, "oldest_code", None)
        if before and oldest_code is None:
            assert breaking_changes(before, after) == [], (
                f"{revision} takes something from the version before. Add first and remove one release later; then "
                'write oldest_code = "the newest revision of the oldest version that can do without" into the removal.'
            )
        assert oldest_code is None or oldest_code in known_revisions()
        before = after
    await engine.dispose()


def upgrade(connection: Connection, revision: str) -> None:
    alembic.upgrade(alembic_config(connection), revision)


def breaking_changes(before: frozenset[str], after: frozenset[str]) -> list[str]:
    """What the version before would miss, or could not write."""
    old_columns, new_columns = columns_of(before), columns_of(after)
    strict = {line for line in after if ": column " in line and " not null" in line}
    was_strict = {line for line in before if ": column " in line and " not null" in line}
    tables = {line.partition(": ")[0] for line in before}
    added = new_columns - old_columns
    names = {column.split()[3] for column in added}
    return [
        *(f"gone or of another type: {column}" for column in sorted(old_columns - new_columns)),
        *(
            f"required: {line}"
            for line in sorted(strict - was_strict)
            if line.partition(": ")[0] in tables
            and not any(word in line for word in (" default ", " generated", " identity"))
        ),
        *(f"gone: {name}" for name in sorted(functions(before) - functions(after))),
        *(
            f"not granted any more: {grant}"
            for grant in sorted(grants(before) - grants(after))
            if not grant.startswith("function ")  # a trigger function, or named above
        ),
        *(
            f"a rule for old columns: {line}"
            for line in sorted(after - before)
            if (rule := re.match(r"constraint (\w+)\.(\w+): ", line))
            and f"table {rule[1]}" in tables
            and not any(old.startswith(f"constraint {rule[1]}.{rule[2]}: ") for old in before)
            and not any(name in line for name in names)
        ),
    ]


def functions(lines: frozenset[str]) -> set[str]:
    """The functions that a version may call; triggers call theirs by themselves."""
    return {line.partition(": ")[0] for line in lines if line.startswith("function ")} - {
        line.partition(": ")[0] for line in lines if ": returns trigger" in line
    }


def grants(lines: frozenset[str]) -> set[str]:
    """Each privilege by itself."""
    found = (re.fullmatch(r"(.+): grant (.+?)( of column \w+)? to (\w+)", line) for line in lines)
    return {f"{each[1]}{each[3] or ''}: {name} to {each[4]}" for each in found if each for name in each[2].split(", ")}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("column a text", "column b text", "gone or of another type: table t: column a text"),
        ("column a text", "column a integer", "gone or of another type: table t: column a text"),
        ("column a text", "column a text not null", "required: table t: column a text not null"),
        ("grant SELECT, UPDATE to scrapersky_app", "grant SELECT to scrapersky_app", "not granted any more: table t"),
    ],
)
def test_what_the_version_before_would_miss_is_found(before: str, after: str, found: str):
    kept = "table t: row security f, forced f"
    (change,) = breaking_changes(frozenset({kept, f"table t: {before}"}), frozenset({kept, f"table t: {after}"}))
    assert change.startswith(found)


async def test_a_newer_schema_that_lacks_a_column_is_refused_although_it_declares_nothing(database, admin):
    await admin.execute("INSERT INTO applied_revision SELECT max(position) + 1, 'later' FROM applied_revision")
    await admin.execute("UPDATE alembic_version SET version_num = 'later'")
    await check_schema(database)
    await admin.execute("ALTER TABLE contact DROP COLUMN title CASCADE")
    with pytest.raises(SchemaTooNew, match="lacks what this version uses: table contact: column title text"):
        await check_schema(database)


async def test_revisions_are_reverted_only_after_a_question_and_without_workers(line, admin, monkeypatch):
    before = known_revisions()[-2]
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'here', 7, '1')")
    said = await line("migrate", "--to", before, "--yes")
    assert said.code == 2
    assert "Processes run on this schema: here (7). Stop them first, or use --force." in said.sentence
    await admin.execute("DELETE FROM worker")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = await line("migrate", "--to", before)
    assert said.code == 1
    assert f"To revert: {HEAD}. Their tables and columns are dropped, with all data in them." in said.out
    said = await line("migrate", "--list")
    assert said.out.splitlines()[-1] == f"* {HEAD}"
    said = await line("migrate", "--to", "nothing_like_it")
    assert (said.code, "This version knows: initial, " in said.sentence) == (2, True)
    said = await line("migrate", "--to", before, "--yes", "--json")
    assert json.loads(said.out)["reverted"] == [HEAD]
    assert "Run `scrapersky migrate` first" in (await line("status")).sentence
    assert (await line("migrate")).out == f"applied {HEAD}\n"
    assert (await line("status")).code == 0
