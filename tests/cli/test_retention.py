"""`scrapersky retention`: one setting of the database, whichever host runs the maintenance."""

import json

import asyncpg
import pytest

from scrapersky.bootstrap import read_settings
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment
from scrapersky.pipeline import build_pipeline
from scrapersky.store.operations.retention import RETAINED
from tests.cli.conftest import Command


async def test_the_days_are_set_once_for_all_hosts_and_shown_by_settings(line: Command) -> None:
    said = await line("retention", "contacts", "90")
    assert (said.code, said.err) == (0, "")
    shown = {row["name"]: row["days"] for row in json.loads((await line("retention", "--json")).out)}
    assert shown == {"contacts": 90, "audit": 365, "jobs": 30, "runs": 30}
    settings = {row["name"]: row for row in json.loads((await line("settings", "--json")).out)}
    assert (settings["retention contacts"]["value"], settings["retention contacts"]["source"]) == (90, "database")


async def test_a_wrong_retention_names_what_is_possible(line: Command, admin: asyncpg.Connection) -> None:
    for words, told in (
        (("pages", "3"), "Name one of contacts, audit, jobs, runs."),
        (("audit", "0"), "give a number from 1 to 36500"),
        (("audit",), "Write `scrapersky retention audit DAYS`"),
    ):
        said = await line("retention", *words)
        assert said.code == 2
        assert told in said.err
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE subject LIKE 'retention%'") == 0


async def test_a_new_database_has_the_defaults(admin: asyncpg.Connection) -> None:
    stored = {row["name"]: row["days"] for row in await admin.fetch("SELECT name, days FROM retention")}
    assert stored == {name: kind.default_days for name, kind in RETAINED.items()}


async def test_settings_say_when_the_database_does_not_respond(command: Command) -> None:
    said = await command("settings", "--json", DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    row = next(row for row in json.loads(said.out) if row["name"] == "retention audit")
    assert (said.code, row["value"], row["source"]) == (0, None, "the database does not respond")


def test_the_variables_of_former_versions_stop_the_start_with_the_command() -> None:
    with pytest.raises(BadSetting, match="`scrapersky retention contacts DAYS`"):
        read_settings(Environment({"SCRAPERSKY_CONTACT_RETENTION_DAYS": "90"}, None), build_pipeline({}))
