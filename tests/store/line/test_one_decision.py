"""A decision about a business holds for all its records: none of them brings a rejected business back."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from tests.factories.business_records import add_record, add_search, add_site
from tests.factories.line_rows import add
from tests.store.line.test_same_business import GOOGLE, compare, listed, rows

from scrapersky.actions import undo_curation
from scrapersky.actions.businesses.join import join, split
from scrapersky.actions.curation import CurationCounts, curate
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.vocabularies import Curation
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.listing import shown
from scrapersky.store.listing.resources import BUSINESSES
from scrapersky.store.listing.shown import Shown
from scrapersky.store.searches.results import found_contacts


@pytest.fixture
async def actor(tenant) -> Actor:
    return Actor("ada", tenant, "operator", "test")


@pytest.fixture
async def two(admin, database, tenant) -> tuple[UUID, UUID, UUID, UUID]:
    """The searches of two providers, and their records of one business, the one that is shown first."""
    searches = [await add_search(admin, tenant, provider) for provider in ("osm", "google")]
    osm = await add_record(admin, tenant, searches[0], "osm", "node/1")
    google = await add_record(admin, tenant, searches[1], "google", "ChIJ1", **GOOGLE)
    await compare(database, tenant, osm, google)
    return (*searches, osm, google)  # type: ignore[return-value]


async def decide(database, actor, decision: Curation, *ids: UUID, action: UUID | None = None) -> CurationCounts:
    async with database.session(actor.tenant_id) as session:
        return await curate(session, BUSINESSES, actor, list(ids), decision, action_id=action)


async def decisions(admin, *ids: UUID) -> list[str]:
    found = await admin.fetch("SELECT id, curation_status FROM local_business WHERE id = ANY ($1)", list(ids))
    known = {row["id"]: row["curation_status"] for row in found}
    return [known[each] for each in ids]


async def test_a_decision_holds_for_all_records_and_counts_businesses(admin, database, tenant, actor, two):
    _, _, osm, google = two
    await admin.execute("UPDATE local_business SET domain_extraction_status = 'Queued' WHERE id = $1", google)
    async with database.session(tenant) as session:
        would = await shown.effects(session, BUSINESSES, tenant, {}, Shown())
    assert (would.matched, would.withdrawn) == (1, 1)
    assert await decide(database, actor, Curation.NOT_A_FIT, osm) == CurationCounts(1, 0, 1, 1)
    assert await decisions(admin, osm, google) == ["Not a Fit", "Not a Fit"]
    assert await admin.fetchval("SELECT domain_extraction_status FROM local_business WHERE id = $1", google) == "New"
    # The id may be that of any record, as in all requests about a business.
    assert await decide(database, actor, Curation.MAYBE, google) == CurationCounts(1, 0, 0, 1)
    assert await decisions(admin, osm, google) == ["Maybe", "Maybe"]


async def test_selected_opens_the_next_step_of_every_record(admin, database, tenant, actor, two):
    _, _, osm, google = two
    await admin.execute("UPDATE local_business SET site_search_status = 'Completed'")
    async with database.session(tenant) as session:
        would = await shown.effects(session, BUSINESSES, tenant, {}, Shown())
    done = await decide(database, actor, Curation.SELECTED, osm)
    assert (would.matched, sum(would.queued.values())) == (done.found, done.queued) == (1, 2)
    states = await admin.fetch("SELECT domain_extraction_status FROM local_business WHERE id IN ($1, $2)", osm, google)
    assert [row[0] for row in states] == ["Queued", "Queued"]


async def test_undo_restores_every_record_and_counts_businesses(admin, database, tenant, actor, two):
    _, _, osm, google = two
    action_id = uuid4()
    await decide(database, actor, Curation.ARCHIVED, osm, action=action_id)
    async with database.session(tenant) as session:
        undone = await undo_curation.undo(session, actor, await undo_curation.claim(session, actor, action_id))
    assert undone.restored == 1
    assert await decisions(admin, osm, google) == ["New", "New"]
    audited = await admin.fetchval("SELECT after FROM audit WHERE action = 'undo' AND tenant_id = $1", tenant)
    assert '"not_restored": 0' in audited


@pytest.mark.parametrize("decision", [Curation.NOT_A_FIT, Curation.ARCHIVED])
async def test_a_rejected_business_is_in_no_file_by_any_of_its_records(admin, database, tenant, actor, two, decision):
    osm_search, google_search, osm, google = two
    domain = await add_site(admin, tenant, google_search, "kallio-bakery.fi", google, emails=("a@kallio-bakery.fi",))
    alone = {"identity": "email:b@gmail.com", "email": "b@gmail.com", "found_by": "provider", "confidence": 0.9}
    await add(admin, "contact", tenant, business_id=osm, source_url="https://osm.example/1", **alone)
    searches = (osm_search, google_search)
    assert len(await rows(database, tenant, *searches)) == 1
    assert len(await rows(database, tenant, *searches, per="contact")) == 2
    await decide(database, actor, decision, osm)
    for one in (searches, searches[:1], searches[1:]):
        assert await rows(database, tenant, *one) == []
        assert await rows(database, tenant, *one, per="contact") == []
    assert await listed(database, tenant, curation_status="New") == []
    async with database.session(tenant) as session:
        found = await found_contacts(session, google_search)
    assert (found.found["emails"], found.left_out) == (0, {"rejected": 2})  # the contacts of both records
    # A site that another business has as well keeps its contacts.
    other = await add_record(admin, tenant, google_search, "google", "ChIJ2", name="Aalto Flowers", phone=None)
    await admin.execute(
        "INSERT INTO business_domain (business_id, domain_id, tenant_id) VALUES ($1, $2, $3)", other, domain, tenant
    )
    assert [row["email"] for row in await rows(database, tenant, google_search)] == ["a@kallio-bakery.fi"]
    assert len(await rows(database, tenant, google_search, per="contact")) == 1


async def test_a_rejected_business_is_not_delivered_by_any_of_its_records(admin, database, tenant, actor, two):
    _, google_search, osm, google = two
    await add_site(admin, tenant, google_search, "kallio-bakery.fi", google, emails=("a@kallio-bakery.fi",))
    alone = {"identity": "phone:1", "phone": "+35891234567", "found_by": "provider", "confidence": 0.9}
    await add(admin, "contact", tenant, business_id=google, source_url="https://google.example/1", **alone)
    contacts = [row["id"] for row in await admin.fetch("SELECT id FROM contact ORDER BY email")]
    rule = '{"auto": true, "phone_only": true, "verdicts": ["deliverable"], "curation": ["New"], "min_confidence": 0}'
    destination = UUID(await add(admin, "destination", tenant, name="crm", kind="webhook", rule=rule))
    waiting = UUID(await add(admin, "delivery", tenant, destination_id=destination, contact_id=contacts[0]))
    await admin.execute("UPDATE destination SET disabled_at = $1", datetime.now(UTC))
    outbox = Outbox(database, Vault(bytes(32)))
    assert not (await outbox.load(tenant, waiting)).is_rejected
    await decide(database, actor, Curation.NOT_A_FIT, osm)
    assert (await outbox.load(tenant, waiting)).is_rejected
    await admin.execute("UPDATE destination SET disabled_at = NULL")
    await admin.execute("UPDATE contact SET verdict = 'deliverable' WHERE email IS NOT NULL")
    await admin.execute("DELETE FROM delivery")
    async with database.session(tenant) as session:
        await deliveries.queue_by_rule(session, contacts)
    assert await admin.fetchval("SELECT count(*) FROM delivery") == 0


async def test_a_record_that_joins_takes_the_decision_and_waits_no_more(admin, database, tenant, actor):
    search = await add_search(admin, tenant)
    first = await add_record(admin, tenant, search, "osm", "node/1")
    await compare(database, tenant, first)
    await decide(database, actor, Curation.NOT_A_FIT, first)
    waiting = {"domain_extraction_status": "Queued"}
    later = await add_record(admin, tenant, search, "google", "ChIJ1", **GOOGLE, **waiting)
    await compare(database, tenant, later)
    assert await decisions(admin, first, later) == ["Not a Fit", "Not a Fit"]
    assert await admin.fetchval("SELECT domain_extraction_status FROM local_business WHERE id = $1", later) == "New"


async def test_a_decided_record_that_joins_an_undecided_business_decides_for_it(admin, database, tenant, actor):
    search = await add_search(admin, tenant)
    first = await add_record(admin, tenant, search, "osm", "node/1")
    later = await add_record(admin, tenant, search, "google", "ChIJ1", **GOOGLE)
    await decide(database, actor, Curation.SELECTED, later)
    await compare(database, tenant, first, later)
    assert await listed(database, tenant) == [min(first, later)]
    assert await decisions(admin, first, later) == ["Selected", "Selected"]


async def test_a_rule_joins_no_two_businesses_that_people_decided_differently_about(admin, database, tenant, actor):
    search = await add_search(admin, tenant)
    first = await add_record(admin, tenant, search, "osm", "node/1")
    later = await add_record(admin, tenant, search, "google", "ChIJ1", **GOOGLE)
    await decide(database, actor, Curation.SELECTED, first)
    await decide(database, actor, Curation.NOT_A_FIT, later)
    await compare(database, tenant, first, later)
    assert await listed(database, tenant) == sorted((first, later))
    assert await decisions(admin, first, later) == ["Selected", "Not a Fit"]
    async with database.session(tenant) as session:
        await join(session, actor, first, later)
    assert await decisions(admin, first, later) == ["Not a Fit", "Not a Fit"]  # of two decisions the one that rejects


async def test_a_split_leaves_each_record_its_last_decision(admin, database, tenant, actor, two):
    _, _, osm, google = two
    await decide(database, actor, Curation.NOT_A_FIT, osm)
    async with database.session(tenant) as session:
        await split(session, actor, google)
    await decide(database, actor, Curation.SELECTED, google)
    assert await decisions(admin, osm, google) == ["Not a Fit", "Selected"]
