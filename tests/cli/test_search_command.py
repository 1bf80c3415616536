"""`scrapersky search runs`, `diff`, `cancel` and `rename`, and `scrapersky schedule`."""

import json
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.cli.conftest import Command
from tests.maintenance.test_complete_runs import Searched

UNKNOWN = "0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa"


@pytest.fixture
async def searched(database: Any, admin: asyncpg.Connection, tenant: UUID) -> Searched:
    """Return a search that was made twice: Canine is gone, Wisdom is new."""
    searched = Searched(database, admin, tenant)
    await searched.run("Molar", "Canine")
    await searched.run("Molar", "Wisdom")
    return searched


async def test_the_runs_of_a_search_are_listed_with_what_changed(line: Command, searched: Searched) -> None:
    runs = json.loads((await line("search", "runs", str(searched.id), "--json")).out)
    assert [(run["number"], run["is_whole"]) for run in runs] == [(2, True), (1, True)]
    businesses = runs[0]["counts"]["businesses"]
    assert [businesses[kind] for kind in ("new", "gone", "changed")] == [1, 1, 0]
    assert runs[1]["counts"] is None
    printed = (await line("search", "runs", str(searched.id))).out
    assert "1, 1, 0" in printed
    await searched.begin()
    assert "under way" in (await line("search", "runs", str(searched.id))).out


async def test_two_runs_are_compared_in_words_and_numbers(line: Command, searched: Searched) -> None:
    found = json.loads((await line("search", "diff", str(searched.id), "--json")).out)
    assert (found["former"], found["latter"], found["businesses"]["new"], found["businesses"]["gone"]) == (1, 2, 1, 1)
    printed = (await line("search", "diff", str(searched.id))).out
    assert "Run 2, compared with run 1." in printed
    assert "new: Wisdom" in printed
    assert "gone: Canine" in printed
    absent = await line("search", "diff", str(searched.id), "--from", "1", "--to", "7")
    assert (absent.code, "7" in absent.sentence) == (2, True)


async def test_a_comparison_names_no_business_whose_site_is_suppressed(
    line: Command, searched: Searched, admin: asyncpg.Connection
) -> None:
    await admin.execute("UPDATE local_business SET website = 'https://' || lower(name) || '.example/'")
    await admin.execute(
        "INSERT INTO suppression (tenant_id, kind, value, value_hash, origin) "
        "SELECT tenant_id, 'domain', 'wisdom.example', sha256_hex('wisdom.example'), 'person' FROM search"
    )
    printed = (await line("search", "diff", str(searched.id))).out
    assert "Wisdom" not in printed
    assert "gone: Canine" in printed


async def test_reasons_are_wrapped_at_80_columns_where_no_terminal_is(
    line: Command, searched: Searched, admin: asyncpg.Connection
) -> None:
    await admin.execute(
        "UPDATE place SET deep_scan_status = 'Skipped', deep_scan_error = repeat('a sentence that is long, ', 8)"
    )
    printed = (await line("search", "show", str(searched.id))).out
    lines = [each for each in printed.splitlines() if "sentence" in each]
    assert len(lines) > 2
    assert max(map(len, lines)) <= 80


async def test_a_search_is_cancelled_and_renamed(line: Command, searched: Searched, admin: asyncpg.Connection) -> None:
    await searched.begin()
    cancelled = await line("search", "cancel", str(searched.id), "--json")
    assert (cancelled.code, json.loads(cancelled.out)["withdrawn"]["place_search"]) == (0, 1)
    assert (await line("search", "cancel", str(searched.id))).out == "0 waiting rows were withdrawn.\n"
    assert (await line("search", "rename", str(searched.id), " Capital ")).code == 0
    assert await admin.fetchval("SELECT name FROM search") == "Capital"
    assert "Capital: dentists in Helsinki" in (await line("search", "list")).out
    assert (await line("search", "rename", str(searched.id), "")).code == 0
    assert await admin.fetchval("SELECT name FROM search") is None


@pytest.mark.parametrize("words", [("runs",), ("diff",), ("cancel",), ("rename", "x"), ("show",)])
async def test_an_unknown_search_is_named(line: Command, words: tuple[str, ...]) -> None:
    said = await line("search", words[0], UNKNOWN, *words[1:])
    assert (said.code, UNKNOWN in said.sentence) == (2, True)


async def test_a_schedule_is_added_paused_resumed_and_removed(
    line: Command, searched: Searched, admin: asyncpg.Connection
) -> None:
    none = await line("schedule", "list")
    assert (none.code, "There is no schedule." in none.out) == (1, True)
    await admin.execute("UPDATE search SET provider = 'openstreetmap'")
    words = ("--cron", "0 6 * * 1", "--time-zone", "Europe/Helsinki", "--json")
    made = json.loads((await line("schedule", "add", str(searched.id), *words)).out)
    [listed] = json.loads((await line("schedule", "list", "--json")).out)
    assert (listed["id"], listed["search_id"], listed["run_count"]) == (made["id"], str(searched.id), 0)
    assert "dentists in Helsinki" in (await line("schedule", "list")).out
    paused = await line("schedule", "pause", made["id"])
    assert f"scrapersky schedule resume {made['id']}" in paused.out
    assert "paused by" in (await line("schedule", "show", made["id"])).out
    assert (await line("schedule", "resume", made["id"])).out.startswith("The next run is 20")
    replaced = json.loads((await line("schedule", "add", str(searched.id), "--every", "2d", "--json")).out)
    shown = json.loads((await line("schedule", "show", replaced["id"], "--json")).out)
    assert (shown["times"], shown["paused_at"]) == (replaced["times"], None)
    assert await admin.fetchval("SELECT count(*) FROM schedule") == 1
    assert (await line("schedule", "remove", replaced["id"])).out == "The schedule was removed.\n"
    assert await admin.fetchval("SELECT count(*) FROM schedule") == 0
    assert await admin.fetchval("SELECT count(*) FROM search") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--every", "1s"), "hour"),
        (("--cron", "* * * * *"), "hour"),
        (("--cron", "at dawn"), "cron"),
        (("--cron", "0 6 * * *", "--time-zone", "Mars/Olympus"), "Mars/Olympus"),
        (("--every", "1d", "--cron", "0 6 * * *"), ""),
        ((), ""),
    ],
)
async def test_times_that_cannot_be_meant_are_refused(
    line: Command, searched: Searched, admin: asyncpg.Connection, words: tuple[str, ...], told: str
) -> None:
    said = await line("schedule", "add", str(searched.id), *words)
    assert (said.code, told in said.sentence, "Traceback" in said.err) == (2, True, False)
    assert await admin.fetchval("SELECT count(*) FROM schedule") == 0


@pytest.mark.parametrize("action", ["show", "pause", "resume", "remove"])
async def test_an_unknown_schedule_is_named(line: Command, action: str) -> None:
    said = await line("schedule", action, UNKNOWN)
    assert (said.code, UNKNOWN in said.sentence) == (2, True)
