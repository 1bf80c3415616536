"""The workflows over HTTP: how they stand, and pause, resume, run."""

import asyncio

import pytest

from scrapersky.sandbox.example_workflows import example_pipeline
from tests.factories.api_application import LINE, add_dead, add_parcels, app_over, is_problem, served


async def wait_for(question, seconds=90.0):
    """The first true answer."""
    async with asyncio.timeout(seconds):
        while not (answer := await question()):
            await asyncio.sleep(0.02)
        return answer


async def test_workflows_are_listed_in_the_order_of_the_pipeline(client, admin, tenant):
    await add_parcels(admin, tenant, 3, "Queued")
    await add_dead(admin, tenant, 2)
    page = (await client.get(LINE)).json()
    packing, weighing, shipping = page["items"]
    assert [packing["name"], weighing["name"], shipping["name"]] == ["packing", "weighing", "shipping"]
    assert packing["number"] == 91
    assert packing["title"] == "Packing"
    assert packing["feeds"] == "weighing"
    assert packing["queue"] == "parcel.packing"
    assert packing["depth"] == {"ready": 3, "waiting": 0, "processing": 0, "dead": 2}
    assert packing["oldest_seconds"] >= 0
    assert packing["breaker"] == "closed"
    assert packing["paused"] is False
    assert packing["batch_size"] == 50
    assert packing["next_run"] is None
    assert weighing["error_rate"] is None
    assert page["next_cursor"] is None


async def test_the_throttle_of_a_workflow_is_shown(client, admin):
    assert (await client.get(f"{LINE}/packing")).json()["max_per_minute"] == 0
    await admin.execute("INSERT INTO workflow_control (workflow, max_per_minute) VALUES ('packing', 20)")
    assert (await client.get(f"{LINE}/packing")).json()["max_per_minute"] == 20


async def test_rates_and_quantiles_come_from_the_runs_of_all_hosts(client, admin):
    histogram = [0] * 27
    histogram[4], histogram[10] = 90, 10
    for host in ("a", "b"):
        await admin.execute(
            "INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, "
            "retried, failed, returned, lost, histogram) VALUES ('packing', $1, 1, now(), 1, 100, 60, 15, 0, 20, 5, 0, "
            "0, $2)",
            host,
            histogram,
        )
    packing = (await client.get(f"{LINE}/packing")).json()
    assert packing["rate_per_minute"] == pytest.approx(160 / 15, abs=0.001)
    assert packing["error_rate"] == 0.25
    assert packing["p50_seconds"] == 0.0016
    assert packing["p95_seconds"] == 0.1024


async def test_pause_and_resume_are_stored_and_audited(client, admin):
    paused = (await client.post(f"{LINE}/packing/pause", json={"reason": "no tape"})).json()
    assert (paused["paused"], paused["paused_by"], paused["pause_reason"]) == (True, "ada", "no tape")
    assert (await client.get(f"{LINE}/packing")).json()["paused"] is True
    resumed = (await client.post(f"{LINE}/packing/resume")).json()
    assert (resumed["paused"], resumed["paused_by"], resumed["pause_reason"]) == (False, None, None)
    audit = await admin.fetch("SELECT actor, origin, action, subject, before, after FROM audit ORDER BY id")
    assert [(row["action"], row["subject"], row["actor"]) for row in audit] == [
        ("pause", "packing", "ada"),
        ("resume", "packing", "ada"),
    ]
    assert audit[0]["origin"].startswith("api 127.0.0.1 key ")
    assert "no tape" in audit[0]["after"]
    assert "no tape" in audit[1]["before"]


async def test_pausing_twice_and_resuming_a_running_workflow_are_conflicts(client, admin):
    problem = is_problem(await client.post(f"{LINE}/packing/resume"), 409)
    assert problem["detail"] == "packing is neither paused nor stopped by its breaker."
    await client.post(f"{LINE}/packing/pause", json={"reason": "no tape"})
    problem = is_problem(await client.post(f"{LINE}/packing/pause"), 409)
    assert problem["detail"].startswith("packing was paused by ada: no tape.")
    assert await admin.fetchval("SELECT count(*) FROM audit") == 1


async def test_of_two_simultaneous_pauses_one_is_a_conflict(client):
    answers = await asyncio.gather(*(client.post(f"{LINE}/packing/pause") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]


async def test_resume_closes_an_open_breaker(client, admin):
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_until, breaker_reason, breaker_trips) "
        "VALUES ('packing', 'open', now() + interval '1 hour', '9 of 10 rows failed', 3)"
    )
    problem = is_problem(await client.post(f"{LINE}/packing/run"), 409)
    assert "9 of 10 rows failed" in problem["detail"]
    assert (await client.post(f"{LINE}/packing/resume")).json()["breaker"] == "closed"
    assert (await client.post(f"{LINE}/packing/run")).status_code == 202


async def test_a_paused_workflow_is_not_run(client):
    await client.post(f"{LINE}/packing/pause", json={"reason": "no tape"})
    problem = is_problem(await client.post(f"{LINE}/packing/run"), 409)
    assert problem["detail"] == "packing was paused by ada: no tape. Resume it first."


async def test_an_unknown_workflow_is_not_touched(client, admin):
    for action in ["run", "pause", "resume"]:
        is_problem(await client.post(f"{LINE}/nonsense/{action}"), 404)
    assert await admin.fetchval("SELECT count(*) FROM workflow_control") == 0


async def test_the_engine_in_the_web_process_processes_rows(database_url, admin, tenant):
    ids = await add_parcels(admin, tenant, 20)
    app = app_over(database_url, run_engine=True)
    async with served(app) as client:
        assert (await client.post(f"{LINE}/packing/queue", json={"ids": ids})).json()["queued"] == 20

        async def packed():
            return await admin.fetchval("SELECT count(*) = 20 FROM parcel WHERE packing_status = 'Completed'")

        await wait_for(packed)

        async def reported():
            workflow = (await client.get(f"{LINE}/packing")).json()
            return workflow if workflow["rate_per_minute"] else None

        packing = await wait_for(reported)
        assert packing["next_run"] is not None
        assert packing["error_rate"] == 0
        assert packing["p95_seconds"] is not None
        assert (await client.post(f"{LINE}/packing/run")).json() == {"workflow": "packing", "workers": 1}
    assert await admin.fetchval("SELECT count(*) FROM worker") == 0  # it signed off


async def test_a_run_request_wakes_a_workflow_with_an_hourly_interval(database_url, admin):
    app = app_over(database_url, run_engine=True, SCHEDULER_INTERVAL_SECONDS="3600")
    async with served(app) as client:

        async def pulsed():
            return app.state.application.runtime.polled_at

        await wait_for(pulsed)
        await client.post(f"{LINE}/shipping/run")

        async def ran():
            return await admin.fetchval("SELECT count(*) FROM run WHERE workflow = 'shipping'")

        assert await wait_for(ran)


async def test_an_app_can_be_opened_and_closed_again(database_url):
    for _ in range(2):
        async with served(app_over(database_url, run_engine=True, pipeline=example_pipeline())) as client:
            assert (await client.get("/health/live")).status_code == 200
