"""What operators do to a line, as the CLI lets them: look, run, queue, retry, pause, resume."""

import json
import re
from uuid import UUID

import asyncpg
import pytest

from scrapersky.cli import status
from scrapersky.cli.shared.output import print_table
from scrapersky.cli.status import WorkflowReport
from scrapersky.core.uuid7 import new_id
from scrapersky.engine.queue import QueueMetrics
from scrapersky.pipeline import build_pipeline
from scrapersky.store.operations.runs import RecentRuns
from scrapersky.store.operations.workflow_status import WorkflowStatus
from tests.cli.conftest import Command


@pytest.fixture
async def add_business(admin: asyncpg.Connection, tenant: UUID):
    """Put a business into the line."""

    async def add(status: str = "New", website: str | None = "https://www.acme.fi", owner: UUID = tenant) -> UUID:
        found: UUID = await admin.fetchval(
            "INSERT INTO local_business (tenant_id, name, website, domain_extraction_status) "
            "VALUES ($1, 'Acme', $2, $3) RETURNING id",
            owner,
            website,
            status,
        )
        return found

    return add


@pytest.fixture
async def add_dead_place(admin: asyncpg.Connection, tenant: UUID):
    """A place whose deep scan was given up."""

    async def add() -> UUID:
        place: UUID = await admin.fetchval(
            "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
            "VALUES ($1, 'nobody', $2, 'Acme', 'Error') RETURNING id",
            tenant,
            str(new_id()),
        )
        await admin.execute(
            "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
            "VALUES ($1, 'place.deep_scan', $2, 5, 'GiveUp', 'no provider')",
            tenant,
            place,
        )
        return place

    return add


async def status_of(admin: asyncpg.Connection, business: UUID) -> str:
    found: str = await admin.fetchval("SELECT domain_extraction_status FROM local_business WHERE id = $1", business)
    return found


async def test_a_row_is_queued_and_a_run_drains_it(line: Command, admin, add_business) -> None:
    business = await add_business()
    queued = await line("queue", "domain_extraction", str(business))
    assert (queued.code, queued.out) == (0, "domain_extraction: 1 queued, 0 queued already, 0 unknown.\n")
    ran = await line("run", "domain_extraction", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert (told["workflow"], told["claimed"], told["completed"]) == ("domain_extraction", 1, 1)
    assert await status_of(admin, business) == "Completed"
    again = await line("run", "domain_extraction")
    assert (again.code, again.out) == (0, "domain_extraction: no row was ready.\n")


async def test_a_run_that_makes_a_dead_letter_ends_with_code_1(line: Command, add_dead_place) -> None:
    place = await add_dead_place()
    await line("retry", "deep_scan", str(place))
    ran = await line("run", "deep_scan")
    assert ran.code == 1
    assert "1 claimed" in ran.out
    assert "1 failed" in ran.out


async def test_every_new_row_of_one_tenant_is_queued(
    line: Command, admin, add_business, other_tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapersky.cli.queue.CHUNK", 2)
    mine = [await add_business() for _ in range(5)]
    other = await add_business(owner=other_tenant)
    done = await line("queue", "domain_extraction", "--where-status", "new", "--priority", "3", "--json")
    assert (done.code, json.loads(done.out)["queued"]) == (0, 5)
    rows = await admin.fetch("SELECT id FROM local_business WHERE domain_extraction_status = 'Queued' AND priority = 3")
    assert {row["id"] for row in rows} == set(mine)
    assert await status_of(admin, other) == "New"
    theirs = await line("queue", "domain_extraction", "--where-status", "New", "--tenant", "other")
    assert theirs.code == 0
    assert await status_of(admin, other) == "Queued"


async def test_nothing_to_queue_and_unknown_ids_end_with_code_1(line: Command, add_business) -> None:
    nothing = await line("queue", "domain_extraction", "--where-status", "New")
    assert nothing.code == 1
    unknown = await line("queue", "domain_extraction", str(await add_business()), str(new_id()), "--json")
    assert (unknown.code, json.loads(unknown.out)["unknown"]) == (1, 1)


async def test_retry_queues_dead_rows_again(line: Command, admin, add_dead_place) -> None:
    places = [await add_dead_place() for _ in range(3)]
    one = await line("retry", "deep_scan", str(places[0]), "--json")
    assert (one.code, json.loads(one.out)) == (0, {"workflow": "deep_scan", "retried": 1})
    rest = await line("retry", "deep_scan", "--all")
    assert (rest.code, rest.out) == (0, "deep_scan: 2 will be retried.\n")
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'") == 3
    none = await line("retry", "deep_scan", "--all")
    assert (none.code, none.out) == (1, "deep_scan: there is no dead letter.\n")


async def test_retry_changes_nothing_if_one_of_the_rows_is_not_dead(
    line: Command, admin, add_dead_place, add_business
) -> None:
    dead, queued = await add_dead_place(), new_id()
    said = await line("retry", "deep_scan", str(dead), str(queued))
    assert said.code == 2
    assert said.sentence == (f"Only rows in Error or Skipped can be retried. {queued} is unknown. Nothing was changed.")
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 1
    fresh = await add_business()
    refused = await line("retry", "domain_extraction", str(fresh))
    assert refused.code == 2
    assert f"{fresh} is New" in refused.sentence


async def test_a_paused_workflow_takes_no_rows_until_it_is_resumed(line: Command, admin, add_business) -> None:
    business = await add_business("Queued")
    paused = await line("pause", "domain_extraction", "--reason", "the owner called", "--json")
    assert json.loads(paused.out) == {"workflow": "domain_extraction", "paused": True, "reason": "the owner called"}
    refused = await line("run", "domain_extraction")
    assert (refused.code, refused.sentence) == (
        2,
        "The workflow claims no rows at present. domain_extraction is paused. "
        "`scrapersky resume domain_extraction` resumes it.",
    )
    twice = await line("pause", "domain_extraction")
    assert twice.code == 2
    assert "paused already" in twice.sentence
    assert "the owner called" in twice.sentence
    resumed = await line("resume", "domain_extraction")
    assert (resumed.code, resumed.out) == (0, "domain_extraction is running.\n")
    again = await line("resume", "domain_extraction")
    assert again.code == 2
    assert "nothing to resume" in again.sentence
    await line("run", "domain_extraction")
    assert await status_of(admin, business) == "Completed"


async def test_an_open_breaker_stops_a_run_and_degrades_the_status(line: Command, admin) -> None:
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_until, breaker_reason) "
        "VALUES ('deep_scan', 'open', now() + interval '1 hour', '9 of 10 rows failed')"
    )
    refused = await line("run", "deep_scan")
    assert refused.code == 2
    assert "9 of 10 rows failed" in refused.sentence
    shown = await line("status")
    assert shown.code == 1
    assert "deep_scan waits for its breaker, which is open (9 of 10 rows failed) until" in shown.out
    assert "`scrapersky resume deep_scan` ends it now." in shown.out
    assert "Degraded: deep_scan: its breaker is open." in shown.out
    await line("resume", "deep_scan")
    assert (await line("status")).code == 0


async def test_a_provider_in_its_cooldown_is_named_with_its_reason_and_end(line: Command, admin) -> None:
    await admin.execute(
        "INSERT INTO provider_cooldown (name, until, reason, failures) "
        "VALUES ('google_places 0123', now() + interval '1 hour', 'Google answers 400.', 5)"
    )
    said = await line("status")
    assert re.search(
        r"The provider google_places is not called until \d\d:\d\d:\d\d, its rows wait: Google answers 400\.",
        " ".join(said.out.split()),
    )
    [cooldown] = json.loads((await line("status", "--json")).out)["cooldowns"]
    assert (cooldown["name"], cooldown["reason"]) == ("google_places 0123", "Google answers 400.")


async def test_every_change_is_audited_with_who_did_it(line: Command, admin, add_business) -> None:
    await line("queue", "domain_extraction", str(await add_business()))
    await line("pause", "domain_extraction")
    await line("resume", "domain_extraction")
    rows = await admin.fetch("SELECT action, subject, origin, actor FROM audit ORDER BY id")
    assert [row["action"] for row in rows] == ["queue", "pause", "resume"]
    assert {row["origin"] for row in rows} == {"cli"}
    assert all(row["actor"] for row in rows)


async def test_status_shows_queues_rates_runs_and_workers(line: Command, admin, add_business) -> None:
    await add_business("Queued")
    await add_business("Queued", website=None)
    await line("run", "domain_extraction")
    await add_business("Queued")
    alone = await line("status", "--json")
    told = json.loads(alone.out)
    step = next(each for each in told["workflows"] if each["name"] == "domain_extraction")
    assert (step["ready"], step["processing"], step["dead"]) == (1, 0, 0)
    assert step["rate_per_minute"] > 0
    assert (step["last_run"]["completed"], step["last_run"]["skipped"]) == (1, 1)
    assert (step["breaker"], step["paused"]) == ("closed", False)
    assert (alone.code, told["workers"]) == (1, [])
    assert "domain_extraction" in told["degraded"]
    assert "no worker is running" in step["problems"][0]
    await admin.execute(
        "INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'north', 4711, '0.1.0')"
    )
    attended = await line("status")
    assert attended.code == 0
    assert "north 4711 has been running" in attended.out
    table = [row.split() for row in attended.out.splitlines() if row.strip().startswith("domain_extraction")]
    assert table[0][:5] == ["domain_extraction", "1", "0", "0", "0"]


async def test_a_row_older_than_its_limit_is_degraded(line: Command, admin, add_business) -> None:
    await add_business("Queued")
    await admin.execute("UPDATE local_business SET domain_extraction_order = domain_extraction_order - 7200000000")
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'north', 1, '0.1.0')")
    shown = await line("status")
    assert shown.code == 1
    assert "a row has been ready for 2 h, the limit is 60 min" in shown.out


async def test_without_a_worker_no_workflow_is_called_running(line: Command, admin) -> None:
    await line("pause", "deep_scan", "--reason", "the provider is down")
    alone = await line("status")
    assert "running" not in alone.out.replace("No worker is running", "")
    assert "`scrapersky worker` starts one." in alone.out
    assert "deep_scan was paused by" in alone.out
    assert ": the provider is down." in alone.out
    states = {one["name"]: one["state"] for one in json.loads((await line("status", "--json")).out)["workflows"]}
    assert (states.pop("deep_scan"), set(states.values())) == ("paused", {"no worker"})
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'north', 1, '0.1.0')")
    states = {one["name"]: one["state"] for one in json.loads((await line("status", "--json")).out)["workflows"]}
    assert (states.pop("deep_scan"), set(states.values())) == ("paused", {"running"})


@pytest.mark.parametrize("is_terminal", ["0", "1"])
def test_a_line_of_status_with_the_longest_values_has_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: str
) -> None:
    for name, value in {"TTY_COMPATIBLE": is_terminal, "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    longest = QueueMetrics(ready=99_999, waiting=123_456, processing=99_999, dead=12_345_678, oldest_seconds=7_199.0)
    states = ("no worker", "held back", "breaker", "paused", "running")
    reports = [
        WorkflowReport(
            WorkflowStatus(workflow, longest, RecentRuns(failed=14_998), None),
            None,
            state,
            None,
            [],
        )
        for workflow in build_pipeline({})
        for state in states
    ]
    print_table(status.HEADINGS, [status._cells(report) for report in reports])
    lines = capsys.readouterr().out.splitlines()
    assert sum("99999" in line for line in lines) == len(reports), "no line is wrapped"
    assert max(map(len, lines)) <= 80
