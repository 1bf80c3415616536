"""`scrapersky audit`, and that every word which changes something is in it."""

import getpass
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from scrapersky.cli import COMMANDS
from tests.cli.conftest import Command, Process
from tests.conftest import Server, numbers
from tests.factories.line_rows import add_line

# Words that look, and words that serve: what is changed through those is written down by the API or is a row's own.
UNCHANGING = {
    *("bench", "demo", "serve", "worker", "status", "audit", "settings", "fetch", "extract", "sitemap", "search"),
    "psql",  # statements of the owner are PostgreSQL's to log
}


@dataclass(frozen=True)
class Case:
    """A word with its arguments, made of the ids of a line, and what the audit must say."""

    words: Callable[[dict[str, str], Path], list[str]]
    action: str
    subject: str
    prepare: str = ""  # SQL before
    code: int = 0


def file(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


DEAD = (
    "UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'x'; "
    "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
    "SELECT tenant_id, 'place.deep_scan', id, 3, 'x', 'x' FROM place"
)
CRM = (
    "INSERT INTO destination (tenant_id, name, kind) SELECT id, 'crm', 'hubspot' FROM tenant; "
    "UPDATE contact SET verdict = 'deliverable'"
)
CASES = {
    "run": Case(lambda ids, home: ["run", "deep_scan"], "run", "deep_scan"),
    "queue": Case(lambda ids, home: ["queue", "deep_scan", ids["places"]], "queue", "deep_scan"),
    "retry": Case(lambda ids, home: ["retry", "deep_scan", "--all"], "retry", "deep_scan", DEAD),
    "dead-letters": Case(lambda ids, home: ["dead-letters", "drop", "--all"], "drop", "deep_scan", DEAD),
    "backup": Case(lambda ids, home: ["backup", str(home / "line.dump")], "backup", "database"),
    "pause": Case(lambda ids, home: ["pause", "deep_scan"], "pause", "deep_scan"),
    "resume": Case(
        lambda ids, home: ["resume", "deep_scan"],
        "resume",
        "deep_scan",
        "INSERT INTO workflow_control (workflow, paused_at, paused_by) VALUES ('deep_scan', now(), 'x')",
    ),
    "user": Case(lambda ids, home: ["user", "create", "ada", "--no-password"], "create", "user "),
    "tenant": Case(lambda ids, home: ["tenant", "create", "acme", "--pages-per-day", "5"], "create", "tenant "),
    "retention": Case(lambda ids, home: ["retention", "contacts", "90"], "change", "retention contacts"),
    "scan": Case(lambda ids, home: ["scan", "https://molar.fi"], "scan", "domain "),
    "import": Case(
        lambda ids, home: ["import", "domains", file(home / "d.csv", "domain\nacme.fi\n")], "import", "domains"
    ),
    "export": Case(lambda ids, home: ["export", "contacts", "--out", str(home / "c.csv")], "export", "contacts"),
    "destination": Case(lambda ids, home: ["destination", "remove", "crm"], "remove", "destination ", CRM),
    "deliver": Case(lambda ids, home: ["deliver", "crm"], "deliver", "destination ", CRM),
    "website": Case(
        lambda ids, home: ["website", ids["businesses"], "https://www.kallio-dental.fi/"], "set website", "business "
    ),
    "business": Case(
        lambda ids, home: ["business", "split", ids["businesses"]],
        "split",
        "business ",
        "INSERT INTO local_business (tenant_id, name, same_as_id) SELECT tenant_id, name, id FROM local_business",
    ),
    "schedule": Case(
        lambda ids, home: ["schedule", "add", ids["searches"], "--every", "1d"],
        "create",
        "schedule ",
        "UPDATE search SET provider = 'openstreetmap'",
    ),
    "erase": Case(lambda ids, home: ["erase", "--email", "anna@molar.fi", "--yes"], "erase", "erasure"),
}


def test_every_changing_command_has_a_case_of_its_audit() -> None:
    assert {*CASES, *UNCHANGING, "find", "migrate", "restore", "campaign"} == set(COMMANDS)


@pytest.mark.parametrize("word", CASES)
async def test_every_changing_command_is_recorded_in_the_audit_log(
    line: Command, admin: asyncpg.Connection, tenant: UUID, tmp_path: Path, word: str
) -> None:
    case, ids = CASES[word], await add_line(admin, tenant)
    for statement in filter(None, case.prepare.split("; ")):
        await admin.execute(statement)
    said = await line(*case.words(ids, tmp_path))
    assert said.code == case.code, said
    [row] = await admin.fetch("SELECT * FROM audit WHERE action = $1", case.action)
    assert (row["actor"], row["tenant_id"], row["channel"]) == (getpass.getuser(), tenant, "cli")
    assert row["subject"].startswith(case.subject)
    assert row["before"] or row["after"]


async def test_a_search_is_recorded_in_the_audit_log(
    process: Callable[..., Process], admin: asyncpg.Connection, database_url: str, tmp_path: Path
) -> None:
    firms = file(tmp_path / "firms.csv", "name,city\nNobody Dentists,Turku\n")  # without a web site: soon done
    words = ("find", "dentists in Turku", "--provider", "file")
    said = await process(*words, DATABASE_URL=database_url, PROVIDER_FILE_PATH=firms).leave(240)
    assert said.code == 1, said
    row = await admin.fetchrow("SELECT * FROM audit")
    assert (row["actor"], row["channel"], row["action"]) == (getpass.getuser(), "cli", "create")
    assert json.loads(row["after"])["text"] == "dentists"


async def test_migrations_are_recorded_in_the_audit_log(command: Command, server: Server) -> None:
    name = f"migrated_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    try:
        assert (await command("migrate", DATABASE_URL=server.url(name))).code == 0
        said = await command("audit", "--json", DATABASE_URL=server.url(name))
        [row] = json.loads(said.out)
        assert (row["action"], row["subject"], row["before"]) == ("migrate", "schema", {"revision": None})
    finally:
        await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def changes(admin: asyncpg.Connection, tenant: UUID) -> None:
    for days, actor, action, subject in [(3, "ada", "export", "places"), (1, "bob", "change", "contact 1")]:
        await admin.execute(
            "INSERT INTO audit (tenant_id, at, actor, origin, action, subject, after) "
            "VALUES ($1, now() - $2::int * interval '1 day', $3, 'api 192.0.2.7', $4, $5, '{\"title\": \"Dentist\"}')",
            tenant,
            days,
            actor,
            action,
            subject,
        )


async def shown(line: Command, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((await line("audit", "--json", *words)).out)
    return found


async def test_the_latest_change_comes_first(line: Command, changes: None) -> None:
    assert [row["actor"] for row in await shown(line)] == ["bob", "ada"]
    said = await line("audit")
    assert said.code == 0
    assert "bob" in said.out
    assert "title: Dentist" in said.out


@pytest.mark.parametrize(
    "words",
    [
        ("--subject", "places"),
        ("--actor", "ada"),
        ("--action", "export"),
        ("--until", "2026-11-14"),
    ],
    ids=lambda words: words[0],
)
async def test_options_filter_the_entries(
    line: Command, changes: None, admin: asyncpg.Connection, words: tuple[str, str]
) -> None:
    await admin.execute("UPDATE audit SET at = '2026-11-10' WHERE actor = 'ada'")
    assert [row["actor"] for row in await shown(line, *words)] == ["ada"]


async def test_since_and_limit_bound_the_entries(line: Command, changes: None, admin: asyncpg.Connection) -> None:
    await admin.execute("UPDATE audit SET at = '2020-01-01' WHERE actor = 'ada'")
    assert [row["actor"] for row in await shown(line, "--since", "2020-01-02T00:00:00")] == ["bob"]
    assert len(await shown(line, "--limit", "1")) == 1
    assert len(await shown(line, "--origin", "api")) == 2


async def test_an_empty_log_says_so_and_each_tenant_has_its_own_log(
    line: Command, changes: None, other_tenant: UUID
) -> None:
    said = await line("audit", "--tenant", "other")
    assert (said.code, said.out) == (1, "No entry matches, or it is deleted already (`scrapersky retention`).\n")
    assert (await line("audit", "--tenant", "nobody")).code == 2
    assert (await line("audit", "--since", "yesterday")).code == 2


async def test_a_search_over_the_quota_gets_the_sentence_of_the_api(
    line: Command, admin: asyncpg.Connection, tenant: UUID
) -> None:
    await admin.execute("UPDATE tenant SET searches_per_day = 0")
    said = await line("find", "dentists in Helsinki")
    assert said.code == 2
    assert said.sentence == (
        "A quota of your tenant is used up. Of 0 searches a day 0 are used. "
        "Ask an admin of the operator tenant to raise the quota."
    )
    assert await admin.fetchval("SELECT count(*) FROM search") == 0
