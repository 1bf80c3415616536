"""WF8 with a real name server: addresses get their verdicts, silence is tried again, people's choices stay."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace

import pytest

from scrapersky.core import clock
from scrapersky.core.vocabularies import Verdict
from scrapersky.crawl.network.mx_lookup import MxLookup, parse_servers
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.extract.results import Contacts, Email, Phone
from scrapersky.models import Page
from scrapersky.sandbox.server.dns_server import NameServer
from scrapersky.sandbox.server.dns_zone import VERDICTS, MailSetup, mail_setup_of
from scrapersky.sandbox.world.world import World
from scrapersky.store.contacts import upsert as contacts
from scrapersky.workflows.contact_verification import ContactVerification
from tests.conftest import processors_of

SEED = 31


@pytest.fixture
async def names() -> AsyncIterator[NameServer]:
    server = NameServer(World(SEED, 400))
    await server.listen("127.0.0.1")
    yield server
    server.close()


@pytest.fixture
def domains() -> dict[MailSetup, str]:
    """A domain for each way to stand to mail."""
    world = World(SEED, 400)
    hosts = (business.host for business in world if business.host and business.partner is None)
    found: dict[MailSetup, str] = {}
    for host in hosts:
        found.setdefault(mail_setup_of(world, host), host)
    assert set(found) == set(MailSetup)
    return found


class Desk:
    """The one workflow, its contacts and its name server."""

    def __init__(self, database, settings, admin, tenant, names: NameServer) -> None:
        self.admin, self.tenant, self.names = admin, tenant, names
        self._hosts = MxLookup(parse_servers(names.address), seconds=5.0)
        pipeline = Pipeline([ContactVerification(self._hosts)])
        self._station = processors_of(pipeline, database, settings, backoff_seconds=100)["contact_verification"]

    async def add(self, email: str | None, **columns: object) -> str:
        names = ["identity", "email", "contact_verification_status", *columns]
        places = ", ".join(f"${n}" for n in range(2, len(names) + 2))
        return await self.admin.fetchval(
            f"INSERT INTO contact (tenant_id, {', '.join(names)}) VALUES ($1, {places}) RETURNING id",
            self.tenant,
            email or "nobody",
            email,
            "Queued",
            *columns.values(),
        )

    async def run(self) -> None:
        await run_job_loop(self._station)

    async def contact(self, contact_id: str) -> SimpleNamespace:
        row = await self.admin.fetchrow("SELECT * FROM contact WHERE id = $1", contact_id)
        told = json.loads(row["verification"]) if row["verification"] else None
        return SimpleNamespace(**{**dict(row), "verification": told, "status": row["contact_verification_status"]})

    async def close(self) -> None:
        await self._hosts.close()


@pytest.fixture
async def desk(database, settings, admin, tenant, names) -> AsyncIterator[Desk]:
    made = Desk(database, settings, admin, tenant, names)
    yield made
    await made.close()


@pytest.mark.parametrize("post", [post for post in MailSetup if post is not MailSetup.BROKEN])
async def test_each_domain_gives_its_addresses_their_verdict(desk, domains, post):
    contact_id = await desk.add(f"eva@{domains[post]}")
    await desk.run()
    found = await desk.contact(contact_id)
    assert (found.status, found.verdict) == ("Completed", VERDICTS[post].value)
    assert found.verification["verdict"] == found.verdict
    assert found.verification["reasons"]
    assert bool(found.verification["mx"]) is (found.verdict == "deliverable")
    assert found.verification["checked_at"].endswith("+00:00")


@pytest.mark.parametrize(
    ("phone", "is_valid", "told"), [("+358401234567", True, "can exist"), ("+35812", False, "no such number")]
)
async def test_a_phone_number_alone_is_checked_without_dns(desk, phone, is_valid, told):
    contact_id = await desk.add(None, phone=phone)
    await desk.run()
    found = await desk.contact(contact_id)
    assert (found.status, found.verdict, found.verification["phone_valid"]) == ("Completed", None, is_valid)
    assert told in found.verification["reasons"][0]
    assert not desk.names.asked


async def test_a_contact_that_cannot_be_reached_at_all_is_skipped(desk):
    contact_id = await desk.add(None, name="Eva")
    await desk.run()
    found = await desk.contact(contact_id)
    why = "no email address and no phone number"
    assert (found.status, found.contact_verification_error, found.verification) == ("Skipped", why, None)


async def test_a_text_that_is_no_address_needs_no_dns_request(desk):
    contact_id = await desk.add("eva@nowhere@firma.fi")
    await desk.run()
    assert (await desk.contact(contact_id)).verdict == "undeliverable"
    assert not desk.names.asked


async def test_silent_name_servers_are_tried_again_and_then_the_verdict_is_unknown(desk, domains, admin):
    contact_id = await desk.add(f"eva@{domains[MailSetup.BROKEN]}")
    for attempt in (1, 2):
        await desk.run()
        waiting = await desk.contact(contact_id)
        assert (waiting.status, waiting.contact_verification_attempts, waiting.verdict) == ("Queued", attempt, None)
        assert "gave no answer" in waiting.contact_verification_error
        assert waiting.contact_verification_due_at > clock.now()
        await admin.execute("UPDATE contact SET contact_verification_due_at = NULL")
    await desk.run()
    found = await desk.contact(contact_id)
    assert (found.status, found.verdict) == ("Completed", "unknown")
    assert await admin.fetchval("SELECT count(*) FROM dead_letter") == 0


async def test_a_hundred_addresses_of_one_domain_need_one_dns_request(desk, domains):
    host = domains[MailSetup.HOSTS]
    for number in range(100):
        await desk.add(f"eva{number}@{host}")
    await desk.run()
    assert await desk.admin.fetchval("SELECT count(*) FROM contact WHERE verdict = 'deliverable'") == 100
    assert desk.names.asked == {(host, "MX"): 1}


async def test_verifying_again_refreshes_and_what_people_decided_stays(desk, domains, admin):
    contact_id = await desk.add(f"eva@{domains[MailSetup.HOSTS]}", curation_status="Maybe", name="Eva", phone="+3589")
    await desk.run()
    first = await desk.contact(contact_id)
    await admin.execute("UPDATE contact SET verdict = NULL, contact_verification_status = 'Queued'")
    await desk.run()
    again = await desk.contact(contact_id)
    assert again.verdict == "deliverable"
    assert again.verification["checked_at"] > first.verification["checked_at"]
    assert (again.curation_status, again.name) == ("Maybe", "Eva")
    assert again.verification["phone_valid"] is False


async def test_a_valid_number_is_noted_beside_the_address(desk, domains):
    contact_id = await desk.add(f"eva@{domains[MailSetup.HOSTS]}", phone="+358961314720")
    await desk.run()
    assert (await desk.contact(contact_id)).verification["phone_valid"] is True


# -- what goes on from a page ------------------------------------------------------------------------------------------


FOUND = Contacts(
    emails=(Email("info@one.fi", "role", "text", "", 0.9), Email("eva@one.fi", "personal", "text", "", 0.9)),
    phones=(Phone("+358961314720", "phone", "text", "", 0.9, "FI"),),
)


@pytest.fixture
async def page(admin, tenant) -> Page:
    domain = await admin.fetchval("INSERT INTO domain (tenant_id, name) VALUES ($1, 'one.fi') RETURNING id", tenant)
    sql = "INSERT INTO page (tenant_id, domain_id, url) VALUES ($1, $2, 'https://one.fi/') RETURNING id"
    return Page(id=await admin.fetchval(sql, tenant, domain), tenant_id=tenant, domain_id=domain)


async def unverified(database, admin, page: Page) -> list[str]:
    async with database.session(page.tenant_id) as session:
        said = [contacts.PageContacts(page, "https://one.fi/", FOUND)]
        stored = (await contacts.upsert(session, said))[page.id]
    assert stored.count == 3
    return [await admin.fetchval("SELECT email FROM contact WHERE id = $1", one) for one in stored.unverified]


async def test_verified_contacts_with_an_address_are_queued_and_phone_numbers_are_not(database, admin, page):
    assert sorted(await unverified(database, admin, page)) == ["eva@one.fi", "info@one.fi"]


async def test_an_address_that_a_person_has_just_given_is_verified_when_a_page_names_it(database, admin, page):
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, identity, email, edited_at) "
        "VALUES ($1, $2, 'email:eva@one.fi', 'eva@one.fi', now())",
        page.tenant_id,
        page.domain_id,
    )
    assert sorted(await unverified(database, admin, page)) == ["eva@one.fi", "info@one.fi"]


async def test_a_rejected_contact_is_not_queued_after_its_verification(database, admin, page):
    await unverified(database, admin, page)
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit' WHERE email = 'eva@one.fi'")
    assert await unverified(database, admin, page) == ["info@one.fi"]


async def test_suppressed_contacts_are_not_verified(database, admin, page):
    await admin.execute(
        "INSERT INTO suppression (tenant_id, kind, value_hash) "
        "VALUES ($1, 'email', encode(sha256('eva@one.fi'), 'hex'))",
        page.tenant_id,
    )
    assert await unverified(database, admin, page) == ["info@one.fi"]


async def test_a_contact_that_gets_its_first_address_is_verified(database, admin, page):
    await unverified(database, admin, page)
    kept = json.dumps({"verdict": None, "checked_at": clock.now().isoformat()})
    await admin.execute("UPDATE contact SET contact_verification_status = 'Completed', verification = $1", kept)
    assert len(await unverified(database, admin, page)) == 2


@pytest.mark.parametrize(("age", "count"), [(timedelta(days=1), 0), (timedelta(days=31), 2)])
async def test_a_verdict_holds_for_a_month(database, admin, page, age, count):
    await unverified(database, admin, page)
    kept = json.dumps({"verdict": "deliverable", "checked_at": (clock.now() - age).isoformat()})
    await admin.execute(
        "UPDATE contact SET contact_verification_status = 'Completed', verification = $1 WHERE email IS NOT NULL", kept
    )
    assert len(await unverified(database, admin, page)) == count


@pytest.mark.parametrize(("age", "count"), [(timedelta(minutes=10), 0), (timedelta(hours=2), 2)])
async def test_an_unknown_verdict_is_renewed_soon(database, admin, page, age, count):
    await unverified(database, admin, page)
    kept = json.dumps({"verdict": "unknown", "checked_at": (clock.now() - age).isoformat()})
    await admin.execute(
        "UPDATE contact SET contact_verification_status = 'Completed', verification = $1 WHERE email IS NOT NULL", kept
    )
    assert len(await unverified(database, admin, page)) == count


def test_every_verdict_can_be_met_in_the_sandbox():
    assert set(VERDICTS.values()) == set(Verdict)
