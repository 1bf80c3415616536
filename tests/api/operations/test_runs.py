"""Run history over HTTP."""

from datetime import UTC, datetime, timedelta

from tests.api.operations.test_queue_items import read_all
from tests.factories.api_application import is_problem

RUNS = "/api/v3/runs"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def add_run(admin, workflow, started_at, error=None):
    histogram = [0] * 27
    histogram[3] = 10
    return await admin.fetchval(
        "INSERT INTO run (workflow, host, pid, started_at, seconds, claimed, completed, skipped, postponed, retried, "
        "failed, returned, lost, histogram, error) VALUES ($1, 'host', 1, $2, 0.5, 10, 8, 1, 0, 1, 0, 0, 0, $3, $4) "
        "RETURNING id",
        workflow,
        started_at,
        histogram,
        error,
    )


async def test_runs_are_listed_latest_first_also_with_equal_start_times(client, admin):
    ids = [await add_run(admin, "packing", NOON) for _ in range(4)]
    ids += [await add_run(admin, "weighing", NOON + timedelta(seconds=1)) for _ in range(3)]
    found, pages = await read_all(client, RUNS, 2)
    assert [run["id"] for run in found] == ids[::-1]
    assert pages == 4


async def test_runs_are_filtered_by_workflow_and_time(client, admin):
    early = await add_run(admin, "packing", NOON)
    late = await add_run(admin, "packing", NOON + timedelta(hours=1))
    other = await add_run(admin, "weighing", NOON + timedelta(hours=1))
    for params, wanted in [
        ({"workflow": "packing"}, [late, early]),
        ({"workflow": ["packing", "weighing"], "since": "2026-05-01T12:30:00Z"}, [other, late]),
        ({"since": "2026-05-01T12:30:00Z"}, [other, late]),
        ({"since": "2026-05-01T15:30:00+03:00", "workflow": "packing"}, [late]),
        ({"since": "2027-01-01T00:00:00Z"}, []),
        ({"since": "9999-12-31T23:59:59-14:00"}, []),
        ({"since": "0001-01-01T00:00:00+14:00"}, [other, late, early]),
    ]:
        assert [run["id"] for run in (await client.get(RUNS, params=params)).json()["items"]] == wanted


async def test_a_run_is_returned_with_its_quantiles(client, admin):
    run_id = await add_run(admin, "packing", NOON, "OSError: gone")
    run = (await client.get(f"{RUNS}/{run_id}")).json()
    assert (run["claimed"], run["completed"], run["skipped"], run["retried"]) == (10, 8, 1, 1)
    assert run["p50_seconds"] == run["p95_seconds"] == 0.0008
    assert run["error"] == "OSError: gone"
    assert run["started_at"] == "2026-05-01T12:00:00Z"


async def test_invalid_queries_are_refused_with_a_message(client):
    assert is_problem(await client.get(f"{RUNS}/7"), 404)["title"] == "There is no run of this id."
    for wrong in ["0", "-1", "x", str(2**63), "1.5"]:
        is_problem(await client.get(f"{RUNS}/{wrong}"), 422)
    for since in ["yesterday", "2026-05-01T12:00:00", "NaN"]:
        problem = is_problem(await client.get(RUNS, params={"since": since}), 422)
        assert problem["errors"][0]["field"] == "query.since"
    is_problem(await client.get(RUNS, params={"workflow": "nonsense"}), 404)
    is_problem(await client.get(RUNS, params={"cursor": "nonsense"}), 400)
