"""The end of a run of a search reaches destinations: once, signed, retried, also by another process."""

import pytest

from scrapersky.core.secrets.vault import Vault
from scrapersky.crawl.crawler import client_of
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.searches import runs
from tests.factories.deliveries import DeliverySetup
from tests.factories.settings import sandbox_settings
from tests.maintenance.test_complete_runs import DONE, Searched


@pytest.fixture
async def application(database, settings, admin, tenant):
    async with Sandbox(7, 10) as sandbox, client_of(sandbox_settings(sandbox)) as client:
        yield DeliverySetup(database, settings, admin, tenant, sandbox, client, Vault(bytes(range(32))))


@pytest.fixture
def searched(database, admin, tenant) -> Searched:
    return Searched(database, admin, tenant)


async def test_the_end_of_each_run_is_one_signed_message(application, searched):
    _, receiver = await application.hook(rule={"completions": True})
    _, other = await application.hook("/contacts", rule={"auto": True})
    await searched.run("Molar", "Canine")
    await application.run()
    await searched.run("Molar", "Wisdom")
    await application.run()
    await application.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await application.run()
    assert (len(receiver.seen), receiver.forged, other.seen) == (2, 0, [])
    first, second = receiver.effects.values()
    assert (first["type"], first["data"]["run"], first["data"]["businesses"]) == ("search.completed", 1, None)
    facts = second["data"]
    leads = f"/api/v3/searches/{searched.id}/leads"
    assert facts["files"] == {form: f"{leads}.{form}" for form in ("csv", "xlsx", "jsonl")}
    assert (facts["search_id"], facts["text"], facts["area"]) == (str(searched.id), "dentists", "Helsinki")
    assert (facts["run"], facts["ended"], facts["found"]["contacts"], facts["found"]["failed"]) == (2, "complete", 3, 0)
    assert {name: facts["businesses"][name] for name in ("new", "gone", "changed")} == {
        "new": 1,
        "gone": 1,
        "changed": 0,
    }


async def test_an_event_is_retried_after_an_error_by_another_process_with_the_same_id(application, searched):
    _, receiver = await application.hook(rule={"completions": True})
    receiver.behave("broken", "well")
    await searched.run("Molar")
    await application.run()
    delivery = await application.admin.fetchval("SELECT id FROM delivery")
    assert await application.state(delivery) == ("Queued", "The destination responded with status 500.")
    await application.again(delivery)
    await application.run()  # by a workflow that was built anew
    assert (await application.state(delivery))[0] == "Completed"
    assert (len(receiver.seen), len(set(receiver.seen))) == (2, 1)
    assert receiver.seen[0] == f"run_{(await application.row(delivery))['run_id'].hex}"


async def test_how_a_run_ended_is_named(application, searched):
    _, receiver = await application.hook(rule={"completions": True})
    await searched.begin()
    await application.admin.execute(f"{DONE}, is_partial = true")
    await searched.begin()
    await application.run()
    [superseded] = receiver.effects.values()
    assert superseded["data"]["ended"] == "superseded"
    await application.admin.execute(f"{DONE}, is_partial = true, notes = 'The limit was reached.'")
    await ended(searched)
    await application.run()
    partial = list(receiver.effects.values())[1]["data"]
    assert (partial["ended"], partial["notes"], partial["businesses"]["gone"]) == (
        "incomplete",
        "The limit was reached.",
        None,
    )


async def test_a_run_notifies_a_destination_that_was_named_for_it_alone(application, searched):
    destination, receiver = await application.hook()
    await searched.begin()
    async with searched.database.session(searched.tenant) as session:
        assert await runs.notify(session, searched.id, destination)
    await application.admin.execute(DONE)
    await ended(searched)
    await searched.run("Molar")
    await application.run()
    assert [event["data"]["run"] for event in receiver.effects.values()] == [1]
    async with searched.database.session(searched.tenant) as session:
        assert not await runs.notify(session, searched.id, destination), "no run is open"


async def test_the_searches_of_a_campaign_leave_the_event_to_it(application, searched):
    await application.hook(rule={"completions": True})
    campaign = await application.admin.fetchval(
        "INSERT INTO search (tenant_id, text, provider, place_search_status) "
        "VALUES ($1, '1 search', 'campaign', 'Completed') RETURNING id",
        searched.tenant,
    )
    await searched.begin()
    await application.admin.execute("UPDATE search SET campaign_id = $1 WHERE provider = 'fake'", campaign)
    await application.admin.execute(DONE)
    await ended(searched)
    assert await application.admin.fetchval("SELECT count(*) FROM delivery") == 0


async def ended(searched: Searched) -> None:
    async with searched.database.session(searched.tenant) as session:
        [run] = await runs.open_of(session, searched.id)
        assert await runs.complete(session, run) is not None
