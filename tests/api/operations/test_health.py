"""Whether the process lives and can work, its numbers, and what it does when the database goes away."""

from urllib.parse import parse_qs, urlsplit

import pytest

from scrapersky.core import clock
from scrapersky.core.errors import Unavailable
from scrapersky.engine import histogram
from scrapersky.engine.events import CycleEnded
from scrapersky.engine.queue import Queue
from scrapersky.engine.settle import driver_connection
from scrapersky.observe.metrics import Metrics
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.operations import queue_rows
from tests.api.operations.test_workflows import wait_for
from tests.factories.api_application import LINE, METRICS_TOKEN, add_dead, add_parcels, app_over, is_problem, served
from tests.faults.proxy import Proxy

WATCHER = {"Authorization": f"Bearer {METRICS_TOKEN}"}  # known without the database
DETAILS = "/health/details"


@pytest.fixture
async def proxy(database_url):
    """A way to the database that can be cut."""
    directory = parse_qs(urlsplit(database_url).query)["host"][0]
    proxy = Proxy(f"{directory}/.s.PGSQL.5432")
    await proxy.start()
    yield proxy
    await proxy.close()


@pytest.fixture
def url_by_proxy(database_url, proxy):
    return f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(database_url).path}"


async def test_a_healthy_process_is_alive_and_ready(database_url):
    app = app_over(database_url, run_engine=True)
    async with served(app) as client:

        async def alive():
            return app.state.application.runtime.is_alive

        await wait_for(alive)
        assert (await client.get("/health/ready")).json() == {"status": "ready"}
        answer = await client.get(DETAILS)
        assert answer.status_code == 200
        assert answer.json()["status"] == "ready"
        assert set(answer.json()["checks"]) == {"database", "schema", "scheduler", "queues", "workflows"}
        assert all(check["ok"] for check in answer.json()["checks"].values())
        assert (await client.get("/health/live")).json() == {"status": "alive"}


async def test_a_lost_database_makes_the_process_unready_until_it_returns(url_by_proxy, proxy):
    async with served(app_over(url_by_proxy, run_engine=True)) as client:
        assert (await client.get(LINE)).status_code == 200
        await proxy.refuse()
        lost = await client.get("/health/ready")
        assert (lost.status_code, lost.json()) == (503, {"status": "unready"})
        lost = await client.get(DETAILS, headers=WATCHER)
        assert lost.status_code == 503
        assert lost.json()["status"] == "unready"
        assert lost.json()["checks"]["database"] == {"ok": False, "detail": "it is unavailable"}
        assert (await client.get("/health/live")).status_code == 200
        for url in (LINE, f"{LINE}/packing/items", "/api/v3/dead-letters", "/api/v3/runs"):
            assert is_problem(await client.get(url), 503)["detail"].startswith("The database is unavailable")
        numbers = await client.get("/metrics", headers=WATCHER)
        assert numbers.status_code == 200
        assert "scrapersky_queue_rows{" not in numbers.text
        await proxy.start()

        async def back():
            return (await client.get("/health/ready")).status_code == 200

        await wait_for(back)
        assert (await client.get(f"{LINE}/packing/items")).status_code == 200


async def test_a_hanging_database_does_not_delay_the_probe(url_by_proxy, proxy):
    async with served(app_over(url_by_proxy)) as client:
        assert (await client.get("/health/ready")).status_code == 200
        proxy.hang()
        answer = await client.get(DETAILS, headers=WATCHER)
        assert answer.status_code == 503
        assert answer.json()["checks"]["database"]["detail"] == "it did not respond within 2 seconds"
        assert (await client.get("/health/live")).status_code == 200
        proxy.flow()

        async def back():
            return (await client.get("/health/ready")).status_code == 200

        await wait_for(back)


async def test_another_schema_revision_makes_the_process_unready(client, admin):
    await admin.execute("UPDATE alembic_version SET version_num = '2099_01_01_from_the_future'")
    answer = await client.get(DETAILS)
    assert answer.status_code == 503
    assert "2099_01_01_from_the_future" in answer.json()["checks"]["schema"]["detail"]


async def test_a_stopped_scheduler_makes_the_process_unready(database_url):
    app = app_over(database_url, run_engine=True)
    async with served(app) as client:
        await app.state.application.runtime.stop()
        answer = await client.get(DETAILS)
        assert answer.status_code == 503
        assert answer.json()["checks"]["scheduler"]["ok"] is False


async def test_degraded_workflows_are_named_and_the_process_stays_ready(database_url, admin, tenant):
    await add_parcels(admin, tenant, 1, "Queued")
    await admin.execute("UPDATE parcel SET packing_order = packing_order - 7200000000")
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, breaker_reason) VALUES ('weighing', 'open', '9 of 10 failed')"
    )
    app = app_over(database_url)
    async with served(app) as client:
        app.state.application.runtime.failed_registrations["process_shipping_queue"] = "ValueError: no"
        answer = await client.get(DETAILS)
    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    degraded = answer.json()["degraded_workflows"]
    assert degraded["packing"].startswith("its oldest row has waited for 72")
    assert degraded["weighing"] == "its breaker is not closed: 9 of 10 failed"
    assert degraded["shipping"] == "its job could not be registered"
    assert answer.json()["checks"]["queues"] == {"ok": False, "detail": "too old: packing"}
    assert answer.json()["checks"]["workflows"] == {"ok": False, "detail": "degraded: shipping, weighing"}


async def test_the_age_of_a_queue_equals_the_engines_measurement(database, admin, tenant):
    workflow = example_pipeline()["packing"]
    for priority, age in [(0, 50), (5, 400), (0, 100)]:
        [row] = await add_parcels(admin, tenant, 1, "Queued", priority=priority)
        await admin.execute("UPDATE parcel SET packing_order = packing_order - $1 WHERE id = $2", age * 1_000_000, row)
    async with database.engine_session() as session:
        oldest = await queue_rows.oldest_seconds(session, workflow)
        measured = (await Queue(workflow).measure(await driver_connection(session))).oldest_seconds
    assert oldest == pytest.approx(measured, abs=0.001)
    assert 400 < oldest < 405


async def test_the_metrics_have_every_queue(client, admin, tenant):
    await add_parcels(admin, tenant, 3, "Queued")
    await add_dead(admin, tenant, 2)
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert 'scrapersky_queue_rows{state="ready",workflow="packing"} 3.0' in answer.text
    assert 'scrapersky_queue_rows{state="dead",workflow="packing"} 2.0' in answer.text
    assert 'scrapersky_queue_oldest_seconds{workflow="shipping"} 0.0' in answer.text


async def test_the_metrics_have_the_cost_of_providers_this_month(client, admin, tenant, other_tenant):
    for owner, months_ago, calls, cents in ((tenant, 0, 3, 6), (other_tenant, 0, 1, 2), (tenant, 1, 50, 100)):
        await admin.execute(
            "INSERT INTO spending (tenant_id, provider, method, month, calls, cents, micros) "
            "VALUES ($1, 'google_places', 'details', "
            "date_trunc('month', now() AT TIME ZONE 'UTC')::date - $2 * interval '1 month', $3, $4, $4 * 10000)",
            *(owner, months_ago, calls, cents),
        )
    numbers = (await client.get("/metrics")).text
    assert 'scrapersky_provider_calls_this_month{method="details",provider="google_places"} 4.0' in numbers
    assert 'scrapersky_provider_cents_this_month{method="details",provider="google_places"} 8.0' in numbers
    await admin.execute("DELETE FROM spending")
    assert "scrapersky_provider_cents_this_month{" not in (await client.get("/metrics")).text


async def test_the_metrics_have_the_shared_breaker_and_pause_state(client, admin):
    await admin.execute(
        "INSERT INTO workflow_control (workflow, breaker, paused_at) VALUES ('packing', 'open', NULL), "
        "('weighing', 'closed', now())"
    )
    numbers = (await client.get("/metrics")).text
    for sample in (
        'scrapersky_breaker_state{workflow="packing"} 2.0',
        'scrapersky_breaker_state{workflow="shipping"} 0.0',
        'scrapersky_workflow_paused{workflow="packing"} 0.0',
        'scrapersky_workflow_paused{workflow="weighing"} 1.0',
    ):
        assert sample in numbers


async def test_row_durations_are_a_histogram():
    metrics = Metrics()
    for seconds in (0.00005, 0.00015, 9_999.0):
        counts = histogram.empty()
        histogram.add(counts, seconds)
        await metrics.count_event(CycleEnded("packing", clock.now(), 1.0, 1, {}, 0, counts))
    numbers = metrics.render({}, {}).decode()
    for bound, rows in (("0.0001", 1), ("0.0002", 2), ("0.0004", 2), ("+Inf", 3)):
        assert f'scrapersky_row_seconds_bucket{{le="{bound}",workflow="packing"}} {rows}.0' in numbers


async def test_an_app_does_not_open_without_its_database():
    app = app_over("postgresql://localhost:1/nothing")
    with pytest.raises(Unavailable, match="does not respond"):
        async with served(app):
            raise AssertionError("it opened")


async def test_requests_are_counted_by_route_method_and_status(client):
    await client.get("/api/v3/places/0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa")
    await client.get("/api/v3/no-such-path")
    await client.request("BREW", "/api/v3/places")
    text = (await client.get("/metrics")).text
    assert 'scrapersky_http_requests_total{method="GET",route="/api/v3/places/{id}",status="404"} 1.0' in text
    assert 'scrapersky_http_requests_total{method="GET",route="other",status="404"} 1.0' in text
    assert "no-such-path" not in text
    assert "BREW" not in text
