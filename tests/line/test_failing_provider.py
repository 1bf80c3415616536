"""A provider that fails delays its own rows only, and a row with an unknown id delays none."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.shared.provider_cooldowns import FREE_FAILURES
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of
from tests.providers.overture.test_overture_provider import NEW, written

ADD_SEARCHES = """
INSERT INTO search (tenant_id, text, area, provider, result_limit, place_search_status)
SELECT $1, 'dentists', 'Helsinki ' || n, $2, 5, 'Queued' FROM generate_series(1, $3) n"""
ADD_PLACES = """
INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status)
SELECT $1, $2, replace($3, 'N', n::text), 'Gone ' || n, 'Queued' FROM generate_series(1, 40) n"""
STATES = "SELECT place_search_status AS status, count(*) AS rows FROM search WHERE provider = $1 GROUP BY 1 ORDER BY 1"
COOLDOWN = "SELECT reason, failures, until - now() AS left FROM provider_cooldown"


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=60) as little_internet:
        yield little_internet


@pytest.fixture
async def application(sandbox, database_url, tmp_path):
    (tmp_path / "own.csv").write_text("id;name;city\n1;Hymy;Helsinki\n")
    variables = {
        **sandbox.environment(),
        "DATABASE_URL": database_url,
        "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
        "PROVIDER_FILE_PATH": str(tmp_path / "own.csv"),
        "PROVIDER_OVERTURE_PATH": written(tmp_path, NEW),
    }
    opened = await open_application(Environment(variables, None))
    yield opened
    await opened.close()


async def run(application, step: str, **changes: Any) -> None:
    processors = processors_of(application.pipeline, application.database, application.settings, **changes)
    await run_job_loop(processors[step])


async def ask_osm(application, tenant: UUID) -> UUID:
    wish = SearchRequest("dentists", Where.of("Helsinki"), "openstreetmap", 5, None, AdvanceRules())
    async with application.database.session(tenant) as session:
        return (await request_search(session, Actor("ada", tenant, "operator", "test"), wish))[0].id


@pytest.mark.parametrize(
    ("provider", "ids"),
    [
        ("openstreetmap", "node/9999999N"),
        ("openstreetmap", "no id N"),
        ("google_places", "gone-N"),
        ("google_places", "no id N"),
        ("file", "N9"),
        ("overture", "N9"),
    ],
)
async def test_ids_that_a_provider_does_not_know_delay_nobody(application, admin, tenant, provider, ids):
    await admin.execute(ADD_PLACES, tenant, provider, ids)
    await run(application, "deep_scan")
    rows = await admin.fetch("SELECT deep_scan_status, deep_scan_error FROM place")
    assert {row["deep_scan_status"] for row in rows} == {"Error"}, rows[0]
    now = await admin.fetchrow("SELECT breaker, window_failures FROM workflow_control WHERE workflow = 'deep_scan'")
    assert tuple(now) == ("closed", 0)
    assert await admin.fetchrow(COOLDOWN) is None


async def test_a_search_at_another_provider_is_made_while_one_fails_for_all(
    application, admin, tenant, other_tenant, sandbox
):
    sandbox.google.fail("key_invalid", 1_000)
    await admin.execute(ADD_SEARCHES, tenant, "google_places", 40)
    await run(application, "place_search", concurrency=1, batch_size=1)
    search = await ask_osm(application, other_tenant)
    await run(application, "place_search")

    found = await admin.fetchrow("SELECT place_search_status, result_count FROM search WHERE id = $1", search)
    assert (found["place_search_status"], found["result_count"]) == ("Completed", 5)
    assert await admin.fetchval("SELECT breaker FROM workflow_control WHERE workflow = 'place_search'") == "closed"
    states = {row["status"]: row["rows"] for row in await admin.fetch(STATES, "google_places")}
    assert states == {"Error": FREE_FAILURES, "Queued": 40 - FREE_FAILURES}
    waiting = await admin.fetchrow(
        "SELECT place_search_error AS why, place_search_due_at - now() AS left, place_search_attempts AS attempts, "
        "place_search_allowance AS free FROM search WHERE place_search_status = 'Queued' LIMIT 1"
    )
    assert (
        "Google Places failed several times in a row and gets no request for a while. Google answers 400"
        in (waiting["why"])
    )
    assert timedelta(0) < waiting["left"] <= timedelta(seconds=30)
    assert waiting["attempts"] == waiting["free"], "a row that waits uses up no attempt"


async def test_after_its_cooldown_a_provider_gets_one_call_and_all_rows_when_that_succeeds(
    application, admin, tenant, sandbox
):
    sandbox.google.fail("key_invalid", FREE_FAILURES + 1)
    await admin.execute(ADD_SEARCHES, tenant, "google_places", 20)
    await run(application, "place_search", concurrency=1, batch_size=1)
    first = await admin.fetchrow(COOLDOWN)
    assert first["failures"] == FREE_FAILURES

    for failures in (FREE_FAILURES + 1, None):  # the first probe fails, the second succeeds
        await admin.execute("UPDATE provider_cooldown SET until = now()")
        await admin.execute("UPDATE search SET place_search_due_at = NULL WHERE place_search_status = 'Queued'")
        await run(application, "place_search")  # ten rows at once, of which one is the probe
        now = await admin.fetchrow(COOLDOWN)
        assert (now and now["failures"]) == failures
        if now:
            assert timedelta(seconds=30) < now["left"] <= timedelta(seconds=60), "the cooldown doubles"
            dead = "SELECT count(*) FROM search WHERE place_search_status = 'Error'"
            assert await admin.fetchval(dead) == failures
    await admin.execute("UPDATE search SET place_search_due_at = NULL WHERE place_search_status = 'Queued'")
    await run(application, "place_search")
    states = {row["status"]: row["rows"] for row in await admin.fetch(STATES, "google_places")}
    assert states == {"Completed": 20 - FREE_FAILURES - 1, "Error": FREE_FAILURES + 1}


async def test_a_probe_that_never_reached_the_provider_leaves_the_next_row_to_be_one(
    application, admin, tenant, sandbox
):
    await admin.execute(
        "INSERT INTO provider_cooldown (name, until, reason, failures) "
        "VALUES ('openstreetmap', now(), 'It failed.', $1)",
        FREE_FAILURES,
    )
    await admin.execute(ADD_PLACES, tenant, "openstreetmap", "no id N")
    search = await ask_osm(application, tenant)
    await run(application, "deep_scan", concurrency=1, batch_size=1)
    assert await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Error'") == 40
    assert (await admin.fetchrow(COOLDOWN))["failures"] == FREE_FAILURES, "an id alone shows nothing"
    await run(application, "place_search")
    assert await admin.fetchval("SELECT place_search_status FROM search WHERE id = $1", search) == "Completed"
    assert await admin.fetchrow(COOLDOWN) is None
