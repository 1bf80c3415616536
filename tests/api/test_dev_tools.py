"""The scheduler's status over HTTP."""

from tests.api.conftest import app_over, is_problem, served
from tests.api.test_workflows import wait_for

STATUS = "/api/v3/dev-tools/scheduler_status"


async def test_every_job_is_listed_with_its_next_run(database_url):
    app = app_over(database_url, run_engine=True)
    async with served(app) as client:

        async def signed():
            return (await client.get(STATUS)).json()["workers"]

        await wait_for(signed)
        status = (await client.get(STATUS)).json()
    jobs = {job["id"]: job for job in status["jobs"]}
    assert status["status"] == "running"
    assert status["total_jobs"] == len(jobs)
    assert {job_id for job_id in jobs if not job_id.startswith("maintain_")} == {
        "process_packing_queue",
        "process_weighing_queue",
        "process_shipping_queue",
    }
    assert jobs["process_packing_queue"]["name"] == "WF91 - Packing Queue Processor"
    assert jobs["process_packing_queue"]["trigger"].startswith("interval[")
    assert jobs["process_packing_queue"]["max_instances"] == 1
    assert jobs["process_packing_queue"]["pending"] is False
    assert all(job["next_run_time"] for job in jobs.values())
    assert status["failed_registrations"] == {}
    assert len(status["workers"]) == 1
    assert status["pools"]["engine"]["size"] == 10
    assert status["timestamp"]


async def test_a_process_without_its_engine_says_stopped(client):
    status = (await client.get(STATUS)).json()
    assert (status["status"], status["jobs"], status["workers"]) == ("stopped", [], [])


async def test_in_production_it_is_not_there(database_url):
    async with served(app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")) as client:
        problem = is_problem(await client.get(STATUS), 404)
        assert problem["title"] == "This is for development only."
