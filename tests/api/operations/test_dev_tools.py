"""The scheduler's status over HTTP."""

from tests.api.operations.test_workflows import wait_for
from tests.factories.api_application import app_over, client_with, served

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
    assert status["pools"]["database"]["size"] == 11
    assert status["timestamp"]


async def test_the_scheduler_of_a_process_without_engine_is_stopped(client):
    status = (await client.get(STATUS)).json()
    assert (status["status"], status["jobs"], status["workers"]) == ("stopped", [], [])


async def test_in_production_only_operators_of_the_operator_tenant_see_it(database_url, key_for):
    viewer, operator = await key_for("viewer"), await key_for("operator")
    stranger = await key_for("admin", tenant="other")
    for mode, allowed in [("production", [operator]), ("development", [operator, viewer])]:
        app = app_over(database_url, SCRAPERSKY_ENVIRONMENT=mode)
        async with served(app):
            for key in (viewer, operator, stranger):
                async with client_with(app, key) as client:
                    assert (await client.get(STATUS)).status_code == (200 if key in allowed else 403)
