"""Alarms reach a signed webhook once when they begin and once when they end."""

import pytest
from structlog.testing import capture_logs

from scrapersky.core.secrets.vault import Vault
from scrapersky.crawl.crawler import client_of
from scrapersky.destinations.http_sender import HttpSender
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.maintenance.watch_alarms import WatchAlarms
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.deliveries import DeliverySetup
from tests.factories.settings import sandbox_settings

BREAK = """
INSERT INTO workflow_control (workflow, breaker, breaker_reason) VALUES ('packing', 'open', '9 of 10 rows failed')"""


@pytest.fixture
async def setup(database, settings, admin, tenant):
    async with Sandbox(7, 10) as sandbox, client_of(sandbox_settings(sandbox)) as client:
        yield DeliverySetup(database, settings, admin, tenant, sandbox, client, Vault(bytes(range(32))))


@pytest.fixture
def watch(setup):
    """Run the task once, as a process does every half minute."""

    async def source():
        return setup.client

    line = example_pipeline()
    tunings = {workflow.name: workflow.tuning for workflow in line}
    adapters = DestinationAdapters(source, HttpSender(source, 5))
    task = WatchAlarms(line, tunings, adapters, setup.vault)

    async def run() -> str:
        return await task.run_on(setup.database)

    return run


def told(receiver) -> list[tuple[str, str, str]]:
    return [(one["type"], one["data"]["kind"], one["data"]["subject"]) for one in receiver.effects.values()]


async def test_an_alarm_is_sent_once_when_it_begins_and_once_when_it_ends(setup, watch, admin):
    _, receiver = await setup.hook(rule={"alarms": True})
    await admin.execute(BREAK)
    with capture_logs() as logs:
        assert await watch() == "1 alarms"
        await watch()
    assert [entry["event"] for entry in logs] == ["alarm_raised"]
    assert told(receiver) == [("alarm.raised", "breaker_open", "packing")]
    [message] = receiver.effects.values()
    assert message["data"]["message"] == "Its breaker is open: 9 of 10 rows failed."
    await admin.execute("UPDATE workflow_control SET breaker = 'closed'")
    assert await watch() == "0 alarms"
    await watch()
    assert told(receiver)[1:] == [("alarm.resolved", "breaker_open", "packing")]
    await admin.execute("UPDATE workflow_control SET breaker = 'open'")
    await watch()
    assert len(told(receiver)) == 3, "the same trouble again is another alarm"


async def test_stuck_rows_old_queues_and_failed_tasks_are_alarms(setup, watch, admin, tenant):
    await admin.execute("INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, 'a', 'Queued')", tenant)
    await admin.execute("UPDATE parcel SET packing_order = packing_order - 7200 * 1000000::bigint")
    await admin.execute(
        "INSERT INTO parcel (tenant_id, weighing_status, weighing_attempts, weighing_due_at) "
        "VALUES ($1, 'Processing', 1, now() - interval '1 hour')",
        tenant,
    )
    await admin.execute("INSERT INTO maintenance (name, error) VALUES ('prune_runs', 'TypeError: x')")
    await watch()
    assert {tuple(row) for row in await admin.fetch("SELECT kind, subject FROM alarm")} == {
        ("queue_age_exceeded", "packing"),
        ("rows_stuck", "weighing"),
        ("maintenance_failed", "prune_runs"),
    }


async def test_a_failing_provider_is_an_alarm_until_it_works_or_nobody_calls_it(setup, watch, admin):
    _, receiver = await setup.hook(rule={"alarms": True})
    await admin.execute(
        "INSERT INTO provider_cooldown (name, until, reason, failures) VALUES "
        "('google_places 0123', now(), 'Google answers 400.', 5), ('openstreetmap', now(), 'Once.', 1), "
        "('google_places 4567', now() - interval '2 hours', 'Google answers 403.', 9), "
        "('google_places search 0123', now() + interval '1 hour', 'The quota is used up.', 0)"
    )
    await watch()
    assert told(receiver) == [("alarm.raised", "provider_failing", "google_places")]
    await admin.execute("DELETE FROM provider_cooldown WHERE name = 'google_places 0123'")
    await watch()
    assert told(receiver)[1:] == [("alarm.resolved", "provider_failing", "google_places")]


async def test_a_message_that_is_not_accepted_is_sent_again_with_the_same_id(setup, watch, admin):
    destination, receiver = await setup.hook(rule={"alarms": True})
    await admin.execute("UPDATE destination SET url = $1", f"{setup.sandbox.hooks_url}/nobody")
    await admin.execute(BREAK)
    with capture_logs() as logs:
        await watch()
    assert [entry["event"] for entry in logs] == ["alarm_raised", "alarm_not_delivered"]
    assert await admin.fetchval("SELECT raised_to FROM alarm") == []
    await admin.execute("UPDATE destination SET url = $1", f"{setup.sandbox.hooks_url}/leads")
    await watch()
    [message_id] = receiver.effects
    assert message_id == f"alm_{(await admin.fetchval('SELECT id FROM alarm')).hex}_raised"
    assert await admin.fetchval("SELECT raised_to FROM alarm") == [destination]


async def test_an_alarm_that_came_and_went_before_a_destination_knew_of_it_is_not_sent(setup, watch, admin):
    await admin.execute(BREAK)
    await watch()
    await admin.execute("UPDATE workflow_control SET breaker = 'closed'")
    _, receiver = await setup.hook(rule={"alarms": True})
    await watch()
    assert told(receiver) == []


async def test_only_destinations_of_operators_with_the_rule_get_alarms(setup, watch, admin, other_tenant):
    _, without = await setup.hook("/without")
    _, foreign = await setup.hook("/foreign", tenant=other_tenant, rule={"alarms": True})
    _, disabled = await setup.hook("/disabled", rule={"alarms": True})
    await admin.execute("UPDATE destination SET disabled_at = now() WHERE url LIKE '%disabled'")
    await admin.execute(BREAK)
    await watch()
    assert [told(one) for one in (without, foreign, disabled)] == [[], [], []]


async def test_a_secret_that_cannot_be_read_stops_no_other_destination(setup, watch, admin):
    _, receiver = await setup.hook(rule={"alarms": True})
    await setup.hook("/other", rule={"alarms": True})
    await admin.execute("UPDATE destination SET secret = 'unreadable' WHERE url LIKE '%other'")
    await admin.execute(BREAK)
    await watch()
    assert len(told(receiver)) == 1
