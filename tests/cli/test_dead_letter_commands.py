"""Dead letters and searches at the command line: list, show, retry, drop."""

import json
from uuid import UUID

import asyncpg
import pytest

from scrapersky.core.uuid7 import new_id
from tests.cli.conftest import Command


@pytest.fixture
async def add_letter(admin: asyncpg.Connection, tenant: UUID):
    """Add a place whose deep scan failed for good; return the id of its dead letter."""

    async def add(message: str = "no provider", error_type: str = "GiveUp", owner: UUID = tenant) -> UUID:
        place: UUID = await admin.fetchval(
            "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status, deep_scan_error) "
            "VALUES ($1, 'nobody', $2, 'Acme', 'Error', $3) RETURNING id",
            owner,
            str(new_id()),
            message,
        )
        letter: UUID = await admin.fetchval(
            "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
            "VALUES ($1, 'place.deep_scan', $2, 5, $3, $4) RETURNING id",
            owner,
            place,
            error_type,
            message,
        )
        return letter

    return add


async def test_dead_letters_are_listed_by_workflow_type_and_text(line: Command, add_letter, other_tenant) -> None:
    ours = [await add_letter("first"), await add_letter("x" * 100, "TimedOut")]
    await add_letter("foreign", owner=other_tenant)
    listed = json.loads((await line("dead-letters", "list", "--json")).out)
    assert (listed["total"], [UUID(one["id"]) for one in listed["dead_letters"]]) == (2, ours[::-1])
    assert listed["dead_letters"][0]["failed_at"][10] == "T", "ISO 8601"
    text = await line("dead-letters", "list")
    assert (text.code, str(ours[0]) in text.out, "GiveUp: first" in text.out, "2 of 2." in text.out) == (0, *[True] * 3)
    assert "x" * 61 not in text.out, "the list cuts long messages"
    for options in (("--error-type", "TimedOut"), ("--text", "xx"), ("--workflow", "deep_scan", "--limit", "1")):
        [found] = json.loads((await line("dead-letters", "list", "--json", *options)).out)["dead_letters"]
        assert UUID(found["id"]) == ours[1]
    none = await line("dead-letters", "list", "--workflow", "delivery")
    assert (none.code, none.out) == (1, "There is no dead letter.\n")
    unknown = await line("dead-letters", "list", "--workflow", "nothing")
    assert (unknown.code, "There is no workflow of this name." in unknown.sentence) == (2, True)


async def test_one_dead_letter_is_shown_with_its_whole_message(line: Command, add_letter, other_tenant) -> None:
    letter = await add_letter("x" * 300)
    shown = await line("dead-letters", "show", str(letter))
    assert (shown.code, "x" * 300 in shown.out, "deep_scan" in shown.out) == (0, True, True)
    assert json.loads((await line("dead-letters", "show", str(letter), "--json")).out)["attempts"] == 5
    foreign = await add_letter(owner=other_tenant)
    refused = await line("dead-letters", "show", str(foreign))
    assert (refused.code, "There is no dead letter of this id." in refused.sentence) == (2, True)


async def test_dead_letters_are_retried_by_id_or_all_that_match(line: Command, admin, add_letter) -> None:
    one, timed_out, other = await add_letter(), await add_letter("slow", "TimedOut"), await add_letter()
    said = await line("dead-letters", "retry", str(one))
    assert (said.code, said.out) == (0, "1 will be retried.\n")
    counted = await line("dead-letters", "retry", "--all", "--error-type", "TimedOut", "--preview")
    assert (counted.code, counted.out) == (0, "1 dead letters match. Nothing was changed.\n")
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 2
    matching = await line("dead-letters", "retry", "--all", "--error-type", "TimedOut", "--json")
    assert json.loads(matching.out) == {"matched": 1, "done": 1, "refused": {}}
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == 2
    again = await line("dead-letters", "retry", str(timed_out), str(other))
    assert (again.code, again.out, again.err) == (1, "1 will be retried.\n", f"{timed_out} is unknown.\n")
    none = await line("dead-letters", "retry", "--all")
    assert (none.code, none.out) == (1, "There is no such dead letter.\n")


async def test_dropped_rows_are_skipped_with_who_and_why(line: Command, admin, add_letter) -> None:
    letter = await add_letter("no provider")
    await add_letter("another")
    said = await line("dead-letters", "drop", str(letter))
    assert (said.code, said.out) == (0, "1 dropped.\n")
    [row] = await admin.fetch("SELECT deep_scan_error FROM place WHERE deep_scan_status = 'Skipped'")
    assert row["deep_scan_error"].startswith("dropped by ")
    assert row["deep_scan_error"].endswith(": no provider")
    rest = await line("dead-letters", "drop", "--all", "--workflow", "deep_scan")
    assert (rest.code, await admin.fetchval("SELECT count(*) FROM dead_letter")) == (0, 0)
    assert [row["action"] for row in await admin.fetch("SELECT action FROM audit ORDER BY id")] == ["drop", "drop"]


@pytest.mark.parametrize("words", [(), ("--all", str(new_id())), (str(new_id()), "--preview"), ("no-id",)])
async def test_ids_and_all_exclude_each_other(line: Command, words: tuple[str, ...]) -> None:
    assert (await line("dead-letters", "drop", *words)).code == 2


@pytest.fixture
async def add_search(admin: asyncpg.Connection, tenant: UUID):
    """Add a search with one open domain."""

    async def add(text: str = "dentists", provider: str = "openstreetmap", owner: UUID = tenant) -> UUID:
        search: UUID = await admin.fetchval(
            "INSERT INTO search (tenant_id, text, area, provider, place_search_status) "
            "VALUES ($1, $2, 'Helsinki', $3, 'Completed') RETURNING id",
            owner,
            text,
            provider,
        )
        await admin.execute(
            "INSERT INTO domain (tenant_id, search_id, name, unicode_name, domain_metadata_status) "
            "VALUES ($1, $2, $3, $3, 'Queued')",
            owner,
            search,
            f"{search.hex}.example",
        )
        return search

    return add


async def test_searches_are_listed_and_filtered(line: Command, add_search, other_tenant) -> None:
    none = await line("search", "list")
    assert (none.code, "`scrapersky find` makes one." in none.out) == (1, True)
    first, second = await add_search(), await add_search("plumbers", "google_places")
    await add_search("foreign", owner=other_tenant)
    listed = await line("search", "list")
    assert (listed.code, "dentists in Helsinki" in listed.out, "foreign" in listed.out) == (0, True, False)
    rows = json.loads((await line("search", "list", "--json")).out)
    assert {UUID(row["id"]) for row in rows} == {first, second}
    [row] = json.loads(
        (await line("search", "list", "--provider", "google_places", "--status", "completed", "--json")).out
    )
    assert (UUID(row["id"]), row["text"]) == (second, "plumbers")


async def test_a_search_shows_its_steps_and_what_they_wait_for(line: Command, add_search, other_tenant) -> None:
    search = await add_search()
    await line("pause", "domain_metadata", "--reason", "maintenance")
    await line("pause", "deep_scan")
    shown = await line("search", "show", str(search))
    assert (shown.code, "dentists in Helsinki" in shown.out) == (0, True)
    assert "domain_metadata was paused by" in shown.out
    assert "deep_scan was paused" not in shown.out, "no row of the search waits for it"
    found = json.loads((await line("search", "show", str(search), "--json")).out)
    assert (found["is_done"], found["steps"]["domain_metadata"]["waiting"]) == (False, 1)
    foreign = await line("search", "show", str(await add_search(owner=other_tenant)))
    assert foreign.code == 2
