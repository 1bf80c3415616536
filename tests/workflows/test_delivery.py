"""WF9: contacts reach their destinations, with retries that really happen, and never somebody who is suppressed."""

import asyncio
import time
from typing import Any
from uuid import uuid4

import pytest

from scrapersky.core.database import Database
from scrapersky.core.errors import BadSetting, ConnectionLost
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import client_of, delivery_client_of
from scrapersky.crawl.errors import BlockedByPolicy
from scrapersky.crawl.web import Web
from scrapersky.destinations.concurrency import SLOW
from scrapersky.destinations.http_sender import UNREACHABLE, HttpSender
from scrapersky.engine.loop import run_job_loop
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.deliveries.outbox import IN_COOLDOWN, Outbox, failure_of
from tests.factories.deliveries import DeliverySetup
from tests.factories.settings import sandbox_settings


@pytest.fixture
async def application(database, settings, admin, tenant):
    async with Sandbox(7, 10) as sandbox, client_of(sandbox_settings(sandbox)) as client:
        yield DeliverySetup(database, settings, admin, tenant, sandbox, client, Vault(bytes(range(32))))


async def test_a_contact_arrives_with_its_business_and_the_row_remembers_it(application):
    business = await application.admin.fetchval(
        "INSERT INTO local_business (tenant_id, name, city, country) VALUES ($1, 'Molar Oy', 'Helsinki', 'FI') "
        "RETURNING id",
        application.tenant,
    )
    destination, receiver = await application.hook()
    delivery = await application.deliver(
        destination, await application.contact(name="Anna Molar", business_id=business)
    )
    await application.run()
    [said] = receiver.effects.values()
    assert {"email": "anna@molar.fi", "name": "Anna Molar", "business": "Molar Oy", "city": "Helsinki"}.items() <= said[
        "data"
    ].items()
    row = await application.row(delivery)
    assert (row["delivery_status"], row["delivery_error"]) == ("Completed", None)
    assert len(row["fingerprint"]) == 64
    assert row["delivered_at"] is not None


async def test_the_id_that_a_crm_gives_a_contact_is_stored(application):
    portal = await application.destination(
        "hubspot", application.sandbox.hubspot_url, application.sandbox.hubspot.token
    )
    account = await application.destination("brevo", application.sandbox.brevo_url, application.sandbox.brevo.key)
    contact = await application.contact()
    deliveries = [await application.deliver(portal, contact), await application.deliver(account, contact)]
    await application.run()
    assert [(await application.row(each))["external_id"] for each in deliveries] == ["101", "1"]
    await application.admin.execute("UPDATE contact SET name = 'Anna Virtanen'")
    await application.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await application.run()
    # Brevo answers an update without a number: the one we know stays.
    assert [(await application.row(each))["external_id"] for each in deliveries] == ["101", "1"]
    assert application.sandbox.brevo.contacts["anna@molar.fi"]["FIRSTNAME"] == "Anna"


async def crowd(application, destination, count):
    """So many contacts, all waiting for one destination."""
    await application.admin.execute(
        "WITH made AS (INSERT INTO contact (tenant_id, identity, email) "
        "SELECT $1, 'email:' || n, 'p' || n || '@molar.fi' FROM generate_series(1, $2::int) n RETURNING id) "
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) "
        "SELECT $1, $3, id, 'Queued' FROM made",
        application.tenant,
        count,
        destination,
    )


async def test_many_contacts_go_to_hubspot_in_full_batches(application):
    portal = await application.destination(
        "hubspot", application.sandbox.hubspot_url, application.sandbox.hubspot.token
    )
    await crowd(application, portal, 1_000)
    await application.run()
    batches = application.sandbox.hubspot.batches
    assert (len(application.sandbox.hubspot.contacts), sum(batches)) == (1_000, 1_000)
    assert len(batches) <= 13, batches  # ten would be perfect


async def test_a_batch_that_fails_is_one_failure_of_its_destination(application):
    portal = await application.destination(
        "hubspot", application.sandbox.hubspot_url, application.sandbox.hubspot.token
    )
    application.sandbox.hubspot.fail("internal", 1)
    await crowd(application, portal, 50)
    await application.run()
    states = await application.admin.fetch(
        "SELECT DISTINCT delivery_status AS status, delivery_attempts AS tries FROM delivery"
    )
    assert [tuple(state) for state in states] == [("Queued", 1)]
    failures, rests = await application.admin.fetchrow(
        "SELECT consecutive_failures, cooldown_until > now() FROM destination"
    )
    assert (failures, rests) == (1, False)


async def test_a_failure_is_queued_again_with_a_time_and_then_succeeds(application):
    # The first implementation wrote a time for the next try, and no try ever came.
    destination, receiver = await application.hook()
    receiver.behave("broken", "broken", "well")
    delivery = await application.deliver(destination, await application.contact())
    for attempt in (1, 2):
        await application.run()
        row = await application.row(delivery)
        assert (row["delivery_status"], row["delivery_error"]) == (
            "Queued",
            "The destination responded with status 500.",
        )
        assert row["delivery_attempts"] == attempt
        assert row["delivery_due_at"] > await application.admin.fetchval("SELECT now()")
        await application.again(delivery)
    await application.run()
    assert await application.state(delivery) == ("Completed", None)
    assert len(set(receiver.seen)) == 1
    assert len(receiver.seen) == 3
    assert await application.admin.fetchval("SELECT consecutive_failures FROM destination") == 0


async def test_a_failed_delivery_is_retried_when_it_is_due(application):
    destination, receiver = await application.hook()
    receiver.behave("broken", "well")
    delivery = await application.deliver(destination, await application.contact())
    async with asyncio.timeout(90):
        while (await application.state(delivery))[0] != "Completed":
            await application.run(backoff_seconds=0.05)
    assert len(receiver.seen) == 2


async def test_what_fails_too_often_is_a_dead_letter_that_can_be_tried_again(application):
    destination, receiver = await application.hook()
    receiver.behave("refusing")
    delivery = await application.deliver(destination, await application.contact())
    for _ in range(2):
        await application.run(max_attempts=2)
        await application.again(delivery)
    assert await application.state(delivery) == ("Error", "The destination responded with status 400.")
    assert await application.admin.fetchval("SELECT count(*) FROM dead_letter WHERE queue = 'delivery.delivery'") == 1
    receiver.behave("well")
    await application.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await application.run()
    assert (await application.state(delivery))[0] == "Completed"


async def test_a_wait_that_the_receiver_asks_for_costs_no_attempt(application):
    destination, receiver = await application.hook()
    receiver.behave("busy", "well")
    deliveries = [await application.deliver(destination, await application.contact(f"a{n}@molar.fi")) for n in range(2)]
    await application.run(concurrency=1)
    waits = await application.admin.fetch(
        "SELECT extract(epoch FROM delivery_due_at - now()) AS seconds, "
        "delivery_attempts - delivery_allowance AS tries FROM delivery WHERE delivery_status = 'Queued'"
    )
    assert len(waits) == 2  # the second one was not even sent: the destination rests
    assert all(3 < wait["seconds"] < 10 and wait["tries"] == 0 for wait in waits)
    assert len(receiver.seen) == 1
    for delivery in deliveries:
        await application.again(delivery)
    await application.run()
    assert len(receiver.effects) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("INSERT INTO suppression (tenant_id, kind, value_hash) "
         "SELECT tenant_id, 'email', encode(sha256('anna@molar.fi'), 'hex') FROM contact", "suppressed"),
        ("UPDATE contact SET email = NULL", "no email address and no phone number"),
        ("UPDATE contact SET curation_status = 'Not a Fit'", "rejected by a person"),
        ("UPDATE contact SET curation_status = 'Archived'", "rejected by a person"),
        ("UPDATE destination SET disabled_at = now(), disabled_reason = 'out of season'",
         "The destination is disabled: out of season"),
    ],
)  # fmt: skip
async def test_a_contact_that_may_not_be_delivered_any_more_is_skipped(application, change, why):
    destination, receiver = await application.hook()
    delivery = await application.deliver(destination, await application.contact())
    await application.admin.execute(change)
    await application.admin.execute("UPDATE contact SET suppressed_at = suppressed_at")
    await application.run()
    assert await application.state(delivery) == ("Skipped", why)
    assert receiver.seen == []


async def test_an_unchanged_contact_is_not_sent_again_and_a_changed_one_is(application):
    destination, receiver = await application.hook()
    contact = await application.contact()
    delivery = await application.deliver(destination, contact)
    await application.run()
    queue_again = "UPDATE delivery SET delivery_status = 'Queued'"
    await application.admin.execute("UPDATE contact SET updated_at = now()")
    await application.admin.execute(queue_again)
    await application.run()
    assert await application.state(delivery) == ("Skipped", "unchanged since the last delivery")
    await application.admin.execute("UPDATE contact SET title = 'Dentist'")
    await application.admin.execute(queue_again)
    await application.run()
    assert (await application.state(delivery))[0] == "Completed"
    assert len(receiver.seen) == len(set(receiver.seen)) == 2


async def test_a_destination_that_is_gone_is_disabled_with_the_reason_and_audited(application):
    destination, receiver = await application.hook()
    receiver.behave("gone")
    system_user = application.database.system_user_id = uuid4()
    deliveries = [await application.deliver(destination, await application.contact(f"a{n}@molar.fi")) for n in range(3)]
    await application.run(concurrency=1)
    row = await application.admin.fetchrow("SELECT disabled_at, disabled_reason FROM destination")
    assert row["disabled_at"] is not None
    assert row["disabled_reason"].startswith("The destination responded with status 410.")
    assert {(await application.state(each))[0] for each in deliveries} == {"Skipped"}
    assert len(receiver.seen) == 1
    [line] = await application.admin.fetch("SELECT actor_id FROM audit WHERE action = 'disable'")
    assert line["actor_id"] == system_user


async def test_a_wrong_key_disables_its_destination_only(application):
    wrong = await application.destination("hubspot", application.sandbox.hubspot_url, "pat-wrong")
    right, _ = await application.hook()
    contact = await application.contact()
    deliveries = [await application.deliver(wrong, contact), await application.deliver(right, contact)]
    await application.run()
    assert [(await application.state(each))[0] for each in deliveries] == ["Skipped", "Completed"]
    [row] = await application.admin.fetch("SELECT id, disabled_reason FROM destination WHERE disabled_at IS NOT NULL")
    assert row["id"] == wrong
    assert "Set the access token" in row["disabled_reason"]
    assert "pat-wrong" not in str(row["disabled_reason"])


async def test_a_secret_that_cannot_be_opened_is_said_so(application):
    destination, receiver = await application.hook()
    delivery = await application.deliver(destination, await application.contact())
    application.vault = Vault(bytes(range(32, 64)))
    await application.run()
    status, why = await application.state(delivery)
    assert status == "Skipped"
    assert "SCRAPERSKY_SECRET_KEY" in why
    assert receiver.seen == []


async def test_a_destination_that_fails_for_days_is_disabled(application):
    destination, receiver = await application.hook()
    receiver.behave("broken")
    await application.deliver(destination, await application.contact())
    await application.admin.execute(
        "UPDATE destination SET consecutive_failures = 9, failing_since = now() - interval '4 days'"
    )
    await application.run()
    assert "nothing for 3 days" in await application.admin.fetchval("SELECT disabled_reason FROM destination")


async def test_a_destination_that_fails_has_a_cooldown_on_every_host(application):
    destination, receiver = await application.hook()
    receiver.behave("broken")
    for n in range(10):
        await application.deliver(destination, await application.contact(f"a{n}@molar.fi"))
    await asyncio.gather(application.run(concurrency=1), application.run(concurrency=1))
    assert len(receiver.seen) <= 4  # three in a row, and one that was on its way
    rest = await application.admin.fetchval("SELECT extract(epoch FROM cooldown_until - now()) FROM destination")
    assert 0 < rest <= 10
    assert await application.admin.fetchval("SELECT count(*) FROM delivery WHERE delivery_status = 'Queued'") == 10
    for _ in range(2):  # while it waits, and waits again, a delivery says why it failed
        await application.admin.execute("UPDATE delivery SET delivery_due_at = now() - interval '1 second'")
        await application.admin.execute("UPDATE destination SET cooldown_until = now() + interval '1 minute'")
        await application.run()
    reasons = await application.admin.fetch("SELECT delivery_error, count(*) FROM delivery GROUP BY 1 ORDER BY 1")
    [(alone, waited), (own, failed)] = [tuple(row) for row in reasons]
    assert (alone, waited + failed) == (IN_COOLDOWN, 10)
    assert own.endswith(IN_COOLDOWN)
    assert "500" in failure_of(own)
    assert failure_of(f"{SLOW} 20 deliveries to it are in flight. {IN_COOLDOWN}") == ""


async def test_a_receiver_that_hangs_delays_no_other_destination(application):
    application.seconds = 600  # the hanging one never ends within this test
    slow, hanging = await application.hook("/slow")
    quick, receiver = await application.hook("/quick")
    hanging.behave("hang")
    contacts = [await application.contact(f"a{n}@molar.fi") for n in range(150)]
    for contact in contacts:
        await application.deliver(slow, contact)
    for contact in contacts[:50]:
        await application.deliver(quick, contact)
    processor = application.processor()
    loop = asyncio.create_task(run_job_loop(processor))
    async with asyncio.timeout(120):
        while len(receiver.effects) < 50:
            await asyncio.sleep(0.02)
    processor.stop_by = time.monotonic()
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert len(hanging.seen) <= 20
    statuses = await application.admin.fetch(
        "SELECT delivery_status, count(*) FROM delivery WHERE destination_id = $1 GROUP BY 1", slow
    )
    assert {row["delivery_status"] for row in statuses} <= {"Queued", "Processing"}


async def test_no_connection_is_held_while_the_receiver_takes_its_time(application):
    destination, receiver = await application.hook()
    out = []
    answer = receiver.take

    def watching(request):
        out.append(application.database.engine.pool.checkedout())
        return answer(request)

    receiver.take = watching
    await application.deliver(destination, await application.contact())
    await application.run()
    assert out == [0]


async def test_a_tenant_delivers_only_its_own_contacts(application, other_tenant):
    mine, receiver = await application.hook()
    theirs = await application.contact("secret@other.fi", other_tenant)
    # A row that should not exist: another tenant's contact for my destination.
    delivery = await application.admin.fetchval(
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) VALUES ($1, $2, $3, 'Queued') "
        "RETURNING id",
        application.tenant,
        mine,
        theirs,
    )
    await application.run()
    assert (await application.state(delivery))[0] == "Skipped"
    assert receiver.seen == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[::1]:80/", "http://169.254.169.254/", "http://10.0.0.1/"]
)
async def test_a_private_address_is_refused_again_at_delivery_in_the_same_words(application, url):
    destination = await application.destination("webhook", url, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    delivery = await application.deliver(destination, await application.contact())
    await application.run()
    assert await application.state(delivery) == ("Queued", UNREACHABLE)


async def test_a_name_whose_address_became_private_is_refused_at_delivery(application):
    destination, receiver = await application.hook()
    delivery = await application.deliver(destination, await application.contact())
    rebound = {**application.sandbox.environment(), "CRAWL_HOST_OVERRIDES": "hooks.example=10.0.0.1"}
    async with client_of(Settings(**rebound)) as client:
        application.client = client
        await application.run()
    assert await application.state(delivery) == ("Queued", UNREACHABLE)
    assert receiver.seen == []


async def test_a_redirect_to_a_private_address_is_not_followed(application):
    destination, receiver = await application.hook()
    receiver.behave("moved")
    delivery = await application.deliver(destination, await application.contact())
    await application.run()
    status, why = await application.state(delivery)
    assert status == "Queued"
    assert why.startswith("The destination responded with status 302. Redirects are not followed")
    assert application.sandbox.traffic["127.0.0.1"].requests == 0


async def test_a_database_that_is_away_costs_the_contact_nothing(settings):
    away = Database("postgresql://nobody@127.0.0.1:1/nothing", settings)
    with pytest.raises(ConnectionLost, match="was lost"):
        await Outbox(away, Vault(bytes(range(32)))).load(uuid4(), uuid4())
    await away.close()


async def test_a_contact_with_a_phone_number_alone_is_delivered_once_to_every_kind(application):
    sandbox, phone = application.sandbox, "+358961234567"
    hook, receiver = await application.hook()
    flow = sandbox.hooks.add("/flow", header=("Authorization", "key"))
    sandbox.brevo.attributes.add("PHONE")
    destinations = [
        hook,
        await application.destination("n8n", f"{sandbox.hooks_url}/flow", "key"),
        await application.destination("hubspot", sandbox.hubspot_url, sandbox.hubspot.token),
        await application.destination("brevo", sandbox.brevo_url, sandbox.brevo.key),
    ]
    contact = await application.contact(None, phone=phone, name="Anna Virtanen")
    rows = [await application.deliver(destination, contact) for destination in destinations]
    await application.run()
    assert [await application.state(row) for row in rows] == [("Completed", None)] * 4
    for said in (*receiver.effects.values(), *flow.effects.values()):
        assert (said["data"]["phone"], "email" in said["data"]) == (phone, False)
    await application.admin.execute("UPDATE contact SET title = 'Dentist'")
    await application.admin.execute("UPDATE delivery SET delivery_status = 'Queued'")
    await application.run()
    assert len(receiver.effects) == len(flow.effects) == 2
    [portal], [account] = sandbox.hubspot.contacts.values(), sandbox.brevo.contacts.values()
    assert (portal["properties"]["phone"], portal["properties"]["jobtitle"]) == (phone, "Dentist")
    assert (account["PHONE"], account["LASTNAME"]) == (phone, "Virtanen")


@pytest.mark.parametrize("place", ["127.0.0.1", "n8n.internal"])
async def test_a_private_receiver_is_reached_only_with_its_own_setting_and_only_by_deliveries(application, place):
    """The sandbox is such a receiver, on a port of its own, when its own allowance is taken away."""
    address = application.sandbox.url.removeprefix("http://").rstrip("/")
    host, port = address.split(":")
    url = f"http://{place}:{port}/leads"
    without: dict[str, Any] = {"CRAWL_HOST_OVERRIDES": f"n8n.internal={address}"}
    assert delivery_client_of(Settings(**without)) is None
    web = Web(Settings(**without, DESTINATION_ALLOWED_PRIVATE_NETWORKS=f"{host}/32"))
    crawler, deliveries = await web.client(), await web.delivery_client()
    try:
        for client, refused in (
            (crawler, url),
            (deliveries, "http://10.0.0.1/"),
            (deliveries, f"http://8.8.8.8:{port}/"),
        ):
            with pytest.raises(BlockedByPolicy):
                await client.check(refused)
        await deliveries.check(url)
        sent = await HttpSender(web.delivery_client).send("POST", url, headers={}, body=b"{}")
        assert sent.status > 0
    finally:
        await web.close()


def test_a_wrong_entry_of_the_allow_list_names_the_setting():
    with pytest.raises(BadSetting, match="DESTINATION_ALLOWED_PRIVATE_NETWORKS cannot hold nonsense"):
        delivery_client_of(Settings(DESTINATION_ALLOWED_PRIVATE_NETWORKS="nonsense"))
