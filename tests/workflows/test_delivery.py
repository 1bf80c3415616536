"""WF9: contacts reach their destinations, with retries that really happen, and never somebody who is suppressed."""

import asyncio
import time
from uuid import uuid4

import pytest

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.core.vault import Vault
from scrapersky.crawl.crawler import client_of
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import Later
from scrapersky.sandbox.server.sandbox import Sandbox
from scrapersky.store.deliveries.outbox import Outbox
from tests.factories.deliveries import DeliveryHouse


@pytest.fixture
async def house(database, settings, admin, tenant):
    async with Sandbox(7, 10) as sandbox, client_of(Settings(**sandbox.environment())) as client:
        yield DeliveryHouse(database, settings, admin, tenant, sandbox, client, Vault(bytes(range(32))))


async def test_a_contact_arrives_with_its_business_and_the_row_remembers_it(house):
    business = await house.admin.fetchval(
        "INSERT INTO local_business (tenant_id, name, city, country) VALUES ($1, 'Molar Oy', 'Helsinki', 'FI') "
        "RETURNING id",
        house.tenant,
    )
    destination, receiver = await house.hook()
    delivery = await house.deliver(destination, await house.contact(name="Anna Molar", business_id=business))
    await house.run()
    [said] = receiver.effects.values()
    assert {"email": "anna@molar.fi", "name": "Anna Molar", "business": "Molar Oy", "city": "Helsinki"}.items() <= said[
        "data"
    ].items()
    row = await house.row(delivery)
    assert (row["delivery_status"], row["delivery_error"]) == ("Completed", None)
    assert len(row["fingerprint"]) == 64
    assert row["delivered_at"] is not None


async def test_a_crms_own_number_is_kept(house):
    portal = await house.destination("hubspot", house.sandbox.hubspot_url, house.sandbox.hubspot.token)
    account = await house.destination("brevo", house.sandbox.brevo_url, house.sandbox.brevo.key)
    contact = await house.contact()
    deliveries = [await house.deliver(portal, contact), await house.deliver(account, contact)]
    await house.run()
    assert [(await house.row(each))["external_id"] for each in deliveries] == ["101", "1"]
    await house.admin.execute("UPDATE contact SET name = 'Anna Molar'")
    await house.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await house.run()
    # Brevo answers an update without a number: the one we know stays.
    assert [(await house.row(each))["external_id"] for each in deliveries] == ["101", "1"]
    assert house.sandbox.brevo.contacts["anna@molar.fi"]["FIRSTNAME"] == "Anna"


async def crowd(house, destination, count):
    """So many contacts, all waiting for one destination."""
    await house.admin.execute(
        "WITH made AS (INSERT INTO contact (tenant_id, identity, email) "
        "SELECT $1, 'email:' || n, 'p' || n || '@molar.fi' FROM generate_series(1, $2::int) n RETURNING id) "
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) "
        "SELECT $1, $3, id, 'Queued' FROM made",
        house.tenant,
        count,
        destination,
    )


async def test_a_crowd_goes_to_hubspot_in_full_batches(house):
    portal = await house.destination("hubspot", house.sandbox.hubspot_url, house.sandbox.hubspot.token)
    await crowd(house, portal, 1_000)
    await house.run()
    batches = house.sandbox.hubspot.batches
    assert (len(house.sandbox.hubspot.contacts), sum(batches)) == (1_000, 1_000)
    assert len(batches) <= 13, batches  # ten would be perfect


async def test_a_batch_that_fails_is_one_failure_of_its_destination(house):
    portal = await house.destination("hubspot", house.sandbox.hubspot_url, house.sandbox.hubspot.token)
    house.sandbox.hubspot.fail("internal", 1)
    await crowd(house, portal, 50)
    await house.run()
    states = await house.admin.fetch(
        "SELECT DISTINCT delivery_status AS status, delivery_attempts AS tries FROM delivery"
    )
    assert [tuple(state) for state in states] == [("Queued", 1)]
    failures, rests = await house.admin.fetchrow("SELECT failures, resting_until > now() FROM destination")
    assert (failures, rests) == (1, False)


async def test_a_failure_is_queued_again_with_a_time_and_then_succeeds(house):
    # The first implementation wrote a time for the next try, and no try ever came.
    destination, receiver = await house.hook()
    receiver.behave("broken", "broken", "well")
    delivery = await house.deliver(destination, await house.contact())
    for attempt in (1, 2):
        await house.run()
        row = await house.row(delivery)
        assert (row["delivery_status"], row["delivery_error"]) == ("Queued", "The destination answers 500.")
        assert row["delivery_attempts"] == attempt
        assert row["delivery_due_at"] > await house.admin.fetchval("SELECT now()")
        await house.again(delivery)
    await house.run()
    assert await house.state(delivery) == ("Completed", None)
    assert len(set(receiver.seen)) == 1
    assert len(receiver.seen) == 3
    assert await house.admin.fetchval("SELECT failures FROM destination") == 0


async def test_the_retry_comes_by_itself(house):
    destination, receiver = await house.hook()
    receiver.behave("broken", "well")
    delivery = await house.deliver(destination, await house.contact())
    async with asyncio.timeout(30):
        while (await house.state(delivery))[0] != "Completed":
            await house.run(backoff_seconds=0.05)
    assert len(receiver.seen) == 2


async def test_what_fails_too_often_is_a_dead_letter_that_can_be_tried_again(house):
    destination, receiver = await house.hook()
    receiver.behave("refusing")
    delivery = await house.deliver(destination, await house.contact())
    for _ in range(2):
        await house.run(max_attempts=2)
        await house.again(delivery)
    assert await house.state(delivery) == ("Error", "The destination answers 400.")
    assert await house.admin.fetchval("SELECT count(*) FROM dead_letter WHERE queue = 'delivery.delivery'") == 1
    receiver.behave("well")
    await house.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await house.run()
    assert (await house.state(delivery))[0] == "Completed"


async def test_patience_that_is_asked_for_is_given_and_costs_no_try(house):
    destination, receiver = await house.hook()
    receiver.behave("busy", "well")
    deliveries = [await house.deliver(destination, await house.contact(f"a{n}@molar.fi")) for n in range(2)]
    await house.run(concurrency=1)
    waits = await house.admin.fetch(
        "SELECT extract(epoch FROM delivery_due_at - now()) AS seconds, "
        "delivery_attempts - delivery_allowance AS tries FROM delivery WHERE delivery_status = 'Queued'"
    )
    assert len(waits) == 2  # the second one was not even sent: the destination rests
    assert all(3 < wait["seconds"] < 10 and wait["tries"] == 0 for wait in waits)
    assert len(receiver.seen) == 1
    for delivery in deliveries:
        await house.again(delivery)
    await house.run()
    assert len(receiver.effects) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("INSERT INTO suppression (tenant_id, kind, value_hash) "
         "SELECT tenant_id, 'email', encode(sha256('anna@molar.fi'), 'hex') FROM contact", "suppressed"),
        ("UPDATE contact SET email = NULL", "no email address"),
        ("UPDATE contact SET curation_status = 'Not a Fit'", "set aside by a person"),
        ("UPDATE contact SET curation_status = 'Archived'", "set aside by a person"),
        ("UPDATE destination SET disabled_at = now(), disabled_why = 'out of season'",
         "The destination is disabled: out of season"),
    ],
)  # fmt: skip
async def test_who_may_not_be_delivered_is_skipped_at_the_last_moment(house, change, why):
    destination, receiver = await house.hook()
    delivery = await house.deliver(destination, await house.contact())
    await house.admin.execute(change)
    await house.admin.execute("UPDATE contact SET suppressed_at = suppressed_at")
    await house.run()
    assert await house.state(delivery) == ("Skipped", why)
    assert receiver.seen == []


async def test_the_same_is_not_sent_twice_and_a_change_is(house):
    destination, receiver = await house.hook()
    contact = await house.contact()
    delivery = await house.deliver(destination, contact)
    await house.run()
    queue_again = "UPDATE delivery SET delivery_status = 'Queued'"
    await house.admin.execute("UPDATE contact SET updated_at = now()")
    await house.admin.execute(queue_again)
    await house.run()
    assert await house.state(delivery) == ("Skipped", "unchanged since the last delivery")
    await house.admin.execute("UPDATE contact SET title = 'Dentist'")
    await house.admin.execute(queue_again)
    await house.run()
    assert (await house.state(delivery))[0] == "Completed"
    assert len(receiver.seen) == len(set(receiver.seen)) == 2


async def test_a_destination_that_is_gone_is_disabled_with_the_reason_and_audited(house):
    destination, receiver = await house.hook()
    receiver.behave("gone")
    deliveries = [await house.deliver(destination, await house.contact(f"a{n}@molar.fi")) for n in range(3)]
    await house.run(concurrency=1)
    row = await house.admin.fetchrow("SELECT disabled_at, disabled_why FROM destination")
    assert row["disabled_at"] is not None
    assert row["disabled_why"].startswith("The destination answers 410.")
    assert {(await house.state(each))[0] for each in deliveries} == {"Skipped"}
    assert len(receiver.seen) == 1
    assert await house.admin.fetchval("SELECT count(*) FROM audit WHERE action = 'disable'") == 1


async def test_a_wrong_key_disables_its_destination_only(house):
    wrong = await house.destination("hubspot", house.sandbox.hubspot_url, "pat-wrong")
    right, _ = await house.hook()
    contact = await house.contact()
    deliveries = [await house.deliver(wrong, contact), await house.deliver(right, contact)]
    await house.run()
    assert [(await house.state(each))[0] for each in deliveries] == ["Skipped", "Completed"]
    [row] = await house.admin.fetch("SELECT id, disabled_why FROM destination WHERE disabled_at IS NOT NULL")
    assert row["id"] == wrong
    assert "Enter the access token" in row["disabled_why"]
    assert "pat-wrong" not in str(row["disabled_why"])


async def test_a_secret_that_cannot_be_opened_is_said_so(house):
    destination, receiver = await house.hook()
    delivery = await house.deliver(destination, await house.contact())
    house.vault = Vault(bytes(range(32, 64)))
    await house.run()
    status, why = await house.state(delivery)
    assert status == "Skipped"
    assert "SCRAPERSKY_SECRET_KEY" in why
    assert receiver.seen == []


async def test_days_of_failures_disable_a_destination(house):
    destination, receiver = await house.hook()
    receiver.behave("broken")
    await house.deliver(destination, await house.contact())
    await house.admin.execute("UPDATE destination SET failures = 9, failing_since = now() - interval '4 days'")
    await house.run()
    assert "nothing for 3 days" in await house.admin.fetchval("SELECT disabled_why FROM destination")


async def test_failures_make_a_destination_rest_for_every_host(house):
    destination, receiver = await house.hook()
    receiver.behave("broken")
    for n in range(10):
        await house.deliver(destination, await house.contact(f"a{n}@molar.fi"))
    await asyncio.gather(house.run(concurrency=1), house.run(concurrency=1))
    assert len(receiver.seen) <= 4  # three in a row, and one that was on its way
    rest = await house.admin.fetchval("SELECT extract(epoch FROM resting_until - now()) FROM destination")
    assert 0 < rest <= 10
    assert await house.admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 10


async def test_a_hanging_receiver_delays_nobody_else(house):
    house.seconds = 3
    slow, hanging = await house.hook("/slow")
    quick, receiver = await house.hook("/quick")
    hanging.behave("hang")
    contacts = [await house.contact(f"a{n}@molar.fi") for n in range(150)]
    for contact in contacts:
        await house.deliver(slow, contact)
    for contact in contacts[:50]:
        await house.deliver(quick, contact)
    station = house.station()
    started = time.monotonic()
    loop = asyncio.create_task(run_job_loop(station))
    async with asyncio.timeout(20):
        while len(receiver.effects) < 50:
            await asyncio.sleep(0.02)
    took = time.monotonic() - started
    station.stop_by = time.monotonic()
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert took < 2.9, "it waited for the time limit of the hanging one"
    assert len(hanging.seen) <= 20
    statuses = await house.admin.fetch(
        "SELECT delivery_status, count(*) FROM delivery WHERE destination_id = $1 GROUP BY 1", slow
    )
    assert {row["delivery_status"] for row in statuses} <= {"Queued", "Processing"}


async def test_no_connection_is_held_while_the_receiver_takes_its_time(house):
    destination, receiver = await house.hook()
    out = []
    answer = receiver.take

    def watching(request):
        out.append(house.database.app.pool.checkedout() + house.database.engine.pool.checkedout())
        return answer(request)

    receiver.take = watching
    await house.deliver(destination, await house.contact())
    await house.run()
    assert out == [0]


async def test_a_tenant_delivers_only_its_own(house, other_tenant):
    mine, receiver = await house.hook()
    theirs = await house.contact("secret@other.fi", other_tenant)
    # A row that should not exist: another tenant's contact for my destination.
    delivery = await house.admin.fetchval(
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) VALUES ($1, $2, $3, 'Queued') "
        "RETURNING id",
        house.tenant,
        mine,
        theirs,
    )
    await house.run()
    assert (await house.state(delivery))[0] == "Skipped"
    assert receiver.seen == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[::1]:80/", "http://169.254.169.254/", "http://10.0.0.1/"]
)
async def test_a_private_address_is_refused_again_at_delivery_in_the_same_words(house, url):
    destination = await house.destination("webhook", url, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    delivery = await house.deliver(destination, await house.contact())
    await house.run()
    assert await house.state(delivery) == ("Queued", "The destination cannot be reached.")


async def test_a_name_that_led_outside_and_now_leads_inside_is_refused_at_delivery(house):
    destination, receiver = await house.hook()
    delivery = await house.deliver(destination, await house.contact())
    rebound = {**house.sandbox.environment(), "CRAWL_KNOWN_HOSTS": "hooks.example=10.0.0.1"}
    async with client_of(Settings(**rebound)) as client:
        house.client = client
        await house.run()
    assert await house.state(delivery) == ("Queued", "The destination cannot be reached.")
    assert receiver.seen == []


async def test_a_redirect_inside_is_not_followed(house):
    destination, receiver = await house.hook()
    receiver.behave("moved")
    delivery = await house.deliver(destination, await house.contact())
    await house.run()
    status, why = await house.state(delivery)
    assert status == "Queued"
    assert why.startswith("The destination answers 302. A redirect is not followed")
    assert house.sandbox.traffic["127.0.0.1"].requests == 0


async def test_a_database_that_is_away_costs_the_contact_nothing(settings):
    away = Database("postgresql://nobody@127.0.0.1:1/nothing", settings)
    with pytest.raises(Later, match="away"):
        await Outbox(away, Vault(bytes(range(32)))).load(uuid4(), uuid4())
    await away.close()
