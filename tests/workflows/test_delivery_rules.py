"""The hand-over: what was verified goes to the destinations whose rules want it, in the same transaction."""

import json

import pytest

from scrapersky.core import clock
from scrapersky.core.vocabularies import Verdict
from scrapersky.engine.loop import run_job_loop
from scrapersky.extract.emails.deliverability import Verification
from scrapersky.pipeline import build_pipeline
from scrapersky.store.deliveries import deliveries
from tests.conftest import processors_of

RULE = {"auto": True, "verdicts": ["deliverable"], "min_confidence": 0.5, "curation": ["New", "Selected"]}


@pytest.fixture
def add(admin, tenant):
    class Add:
        async def destination(self, owner=None, **rule):
            return await admin.fetchval(
                "INSERT INTO destination (tenant_id, name, kind, url, rule) "
                "VALUES ($1, gen_random_uuid(), 'webhook', 'http://one.fi', $2) RETURNING id",
                owner or tenant,
                json.dumps(RULE | rule),
            )

        async def contact(self, number=0, status="Queued", **columns):
            names = {
                "tenant_id": tenant,
                "identity": str(number),
                "email": f"a{number}@molar.fi",
                "confidence": 0.9,
                "contact_verification_status": status,
                **columns,
            }
            places = ", ".join(f"${n}" for n in range(1, len(names) + 1))
            return await admin.fetchval(
                f"INSERT INTO contact ({', '.join(names)}) VALUES ({places}) RETURNING id", *names.values()
            )

    return Add()


async def verify(database, settings, verdict=Verdict.DELIVERABLE):
    line = build_pipeline({})
    workflow = line["contact_verification"]

    async def work(task):
        return Verification(verdict, ("because",), task.email, clock.now())

    workflow.work = work
    await run_job_loop(processors_of(line, database, settings)["contact_verification"])


async def queued(admin):
    rows = await admin.fetch("SELECT destination_id, contact_id FROM delivery WHERE delivery_status = 'Queued'")
    return {(row["destination_id"], row["contact_id"]) for row in rows}


async def test_a_verified_contact_is_queued_for_every_destination_that_wants_it(
    database, settings, admin, add, other_tenant
):
    first, second = await add.destination(), await add.destination(verdicts=["deliverable", "risky"])
    await add.destination(auto=False)
    await add.destination(verdicts=["risky"])
    await add.destination(owner=other_tenant)
    await admin.execute("UPDATE destination SET disabled_at = now() WHERE id = $1", await add.destination())
    contact = await add.contact()
    await verify(database, settings)
    assert await queued(admin) == {(first, contact), (second, contact)}
    assert set(await admin.fetch("SELECT DISTINCT tenant_id FROM delivery")) == {
        await admin.fetchrow("SELECT tenant_id FROM contact")
    }


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        ({"confidence": 0.4}, Verdict.DELIVERABLE),
        ({"curation_status": "Maybe"}, Verdict.DELIVERABLE),
        ({}, Verdict.RISKY),
        ({}, Verdict.UNKNOWN),
    ],
)
async def test_a_contact_that_the_rule_does_not_match_is_not_queued(database, settings, admin, add, columns, verdict):
    await add.destination()
    await add.contact(**columns)
    await verify(database, settings, verdict)
    assert await queued(admin) == set()


async def test_a_suppressed_contact_is_not_queued_for_delivery(database, settings, admin, add, tenant):
    await add.destination()
    await admin.execute(
        "INSERT INTO suppression (tenant_id, kind, value_hash) "
        "VALUES ($1, 'email', encode(sha256('a0@molar.fi'), 'hex'))",
        tenant,
    )
    await add.contact()
    await verify(database, settings)
    assert await queued(admin) == set()


async def test_contacts_verified_together_are_queued_once_and_again_only_after_a_change(database, admin, tenant, add):
    destination = await add.destination()
    contacts = [await add.contact(n, "Completed", verdict="deliverable") for n in range(300)]

    async def open_all():
        async with database.session(tenant) as session:
            await deliveries.queue_by_rule(session, contacts)

    await open_all()
    await open_all()
    assert await queued(admin) == {(destination, contact) for contact in contacts}
    await admin.execute("UPDATE delivery SET delivery_status = 'Completed', delivered_at = now()")
    await open_all()
    assert await queued(admin) == set()
    await admin.execute("UPDATE contact SET title = 'Dentist', updated_at = now() WHERE id = $1", contacts[0])
    await admin.execute(
        "UPDATE delivery SET delivery_status = 'Error', delivered_at = NULL WHERE contact_id = $1", contacts[1]
    )
    await open_all()
    assert await queued(admin) == {(destination, contacts[0])}  # what was given up is tried again by people only


@pytest.mark.parametrize(("rule", "count"), [({}, 0), ({"phone_only": True}, 1)])
async def test_a_rule_takes_phone_numbers_without_an_email_address_if_it_says_so(
    database, settings, admin, add, rule, count
):
    await add.destination(**rule)
    await add.contact(1, email=None, phone="+358961234567")
    await add.contact(2, email=None, name="Nobody to reach")
    await verify(database, settings, verdict=None)
    assert len(await queued(admin)) == count
