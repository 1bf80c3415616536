"""Records of one business at several providers are one business in the database, and can be taken apart again."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from tests.factories.business_records import KALLIO, add_record, add_search, add_site
from tests.factories.line_rows import add

from scrapersky.actions.businesses.join import NothingToJoin, OneRecord, join, records_of, split
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.vocabularies import EXPIRED_NAME
from scrapersky.maintenance.compare_businesses import CompareBusinesses
from scrapersky.maintenance.expire_provider_data import ExpireProviderData
from scrapersky.models import LocalBusiness
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries.outbox import Outbox
from scrapersky.store.leads.read import LeadQuery, Position, leads, page
from scrapersky.store.line import same_business
from scrapersky.store.listing import export, paginate
from scrapersky.store.listing.paginate import Sort
from scrapersky.store.listing.resources import BUSINESSES
from scrapersky.store.searches.results import contact_counts

GOOGLE = {"name": "KALLIO BAKERY", "latitude": 60.1842, "street": "Hämeentie 12", "rating": 4.5}
TURKU = {
    "latitude": 60.4500,
    "longitude": 22.2700,
    "street": "Aurakatu 1",
    "postcode": "20100",
    "phone": "+35821111111",
}
TAMPERE = {"latitude": 61.5, "longitude": 23.76, "street": "Hämeenkatu 1", "postcode": "33100", "phone": "+35832222222"}


async def compare(database, tenant, *ids: UUID) -> None:
    async with database.session(tenant) as session:
        await same_business.lock(session, tenant)
        await same_business.compare(session, tenant, ids)


async def rows(database, tenant, *searches: UUID, per="business", **filters):
    query = LeadQuery(tuple(searches), per, filters=filters)
    async with database.session(tenant) as session:
        file = [row async for row in leads(session, query)]
        listed = [row for row, _ in await page(session, query, per, Position(), 100)]
    assert sorted(map(str, file)) == sorted(map(str, listed))  # a file and a list are the same rows
    return file


async def listed(database, tenant, **filters) -> list[UUID]:
    async with database.session(tenant) as session:
        found = await paginate.page(
            session, BUSINESSES, tenant, ["id"], filters, sort=Sort("id", descending=False), unmerged=True
        )
        counted = await paginate.count(session, BUSINESSES, tenant, filters, unmerged=True)
        exported = [row["id"] async for row in export.rows(session, BUSINESSES, tenant, filters)]
    assert [str(row.id) for row, _ in found] == exported
    assert counted.total == len(found)
    return [row.id for row, _ in found]


@pytest.fixture
async def actor(tenant) -> Actor:
    return Actor("ada", tenant, "operator", "test")


@pytest.fixture
async def two(admin, database, tenant) -> tuple[UUID, UUID, UUID, UUID]:
    """Two searches of two providers that found one business: the searches, and the two records."""
    searches = [await add_search(admin, tenant, provider) for provider in ("osm", "google")]
    osm = await add_record(admin, tenant, searches[0], "osm", "node/1", website=None)
    google = await add_record(admin, tenant, searches[1], "google", "ChIJ1", **GOOGLE)
    await compare(database, tenant, osm, google)
    return (*searches, osm, google)  # type: ignore[return-value]


async def test_two_records_are_one_business_in_every_list_and_file(admin, database, tenant, two):
    osm_search, google_search, osm, google = two
    row = await admin.fetchrow("SELECT * FROM local_business WHERE id = $1", max(osm, google))
    assert row["same_as_id"] == min(osm, google)
    assert row["same_reason"].startswith("almost the same name")
    assert row["same_confidence"] == 0.99
    await add_site(admin, tenant, google_search, "kallio-bakery.fi", google, emails=("info@kallio-bakery.fi",))
    contact = {"identity": f"email:orders@gmail.com:{osm}", "email": "orders@gmail.com", "found_by": "provider"}
    await add(admin, "contact", tenant, business_id=osm, confidence=0.9, **contact)
    for searches in ([osm_search], [google_search], [osm_search, google_search]):
        [lead] = await rows(database, tenant, *searches)
        assert lead["business"] == "KALLIO BAKERY"
        assert lead["rating"] == 4.5
        assert lead["sources"] == "google:ChIJ1; osm:node/1"
        assert lead["email"] == "info@kallio-bakery.fi"
        assert lead["other_emails"] == "orders@gmail.com"
        assert lead["business_id"] == min(osm, google)
    assert await listed(database, tenant) == [min(osm, google)]
    for search in (osm_search, google_search):
        assert await listed(database, tenant, search_id=str(search)) == [min(osm, google)]


async def test_what_one_provider_lacks_is_found_by_a_filter_in_the_other(admin, database, tenant, two):
    osm_search, *_ = two
    assert len(await rows(database, tenant, osm_search, min_rating=4)) == 1
    assert len(await rows(database, tenant, osm_search, has_phone=True)) == 1
    assert await rows(database, tenant, osm_search, min_rating=4.9) == []


async def test_the_values_of_google_are_gone_after_its_term_and_those_of_others_stay(admin, database, tenant, two):
    osm_search, google_search, _, google = two
    yesterday = datetime.now(UTC) - timedelta(days=1)
    await admin.execute("UPDATE place SET expires_at = $1 WHERE provider = 'google'", yesterday)
    await ExpireProviderData().run_on(database)
    for search in (osm_search, google_search):
        [lead] = await rows(database, tenant, search)
        assert lead["business"] == KALLIO["name"]
        assert lead["rating"] is None
        assert lead["sources"] == "google:ChIJ1; osm:node/1"  # the id may be kept
        assert lead["provider"] == "osm:node/1"
    assert await admin.fetchval("SELECT count(*) FROM match_key WHERE business_id = $1", google) == 0
    assert await admin.fetchval("SELECT name FROM local_business WHERE id = $1", google) == EXPIRED_NAME
    await CompareBusinesses().run_on(database)
    assert await admin.fetchval("SELECT count(*) FROM match_key WHERE business_id = $1", google) == 0


async def test_a_split_lasts_and_a_join_by_hand_undoes_it(admin, database, tenant, two, actor):
    osm_search, google_search, osm, google = two
    async with database.session(tenant) as session:
        assert {one.id for one in await split(session, actor, google)} == {osm, google}
    assert len(await rows(database, tenant, osm_search, google_search)) == 2
    await admin.execute("UPDATE local_business SET phone = NULL WHERE id = $1", osm)  # a change: compared again
    await CompareBusinesses().run_on(database)
    await compare(database, tenant, osm, google)
    assert await listed(database, tenant) == sorted((osm, google))
    async with database.session(tenant) as session:
        with pytest.raises(OneRecord, match="one record only"):
            await split(session, actor, osm)
    async with database.session(tenant) as session:
        joined = await join(session, actor, google, osm)
        assert [one.id for one in joined] == sorted((osm, google))
        with pytest.raises(NothingToJoin, match="one business already"):
            await join(session, actor, osm, google)
    assert await listed(database, tenant) == [min(osm, google)]
    audited = await admin.fetch("SELECT action, before, after FROM audit WHERE tenant_id = $1 ORDER BY at", tenant)
    assert [row["action"] for row in audited] == ["split", "join"]
    assert "joined by ada" in audited[1]["after"]


async def test_the_first_record_can_be_split_off_and_the_others_stay_together(admin, database, tenant, two, actor):
    _, _, osm, google = two
    file = await add_record(admin, tenant, two[0], "file", "7", name="Kallio Bakery")
    await compare(database, tenant, file)
    first, *others = sorted((osm, google, file))
    async with database.session(tenant) as session:
        assert [one.id for one in await records_of(session, actor, others[-1])] == [first, *others]
        await split(session, actor, first)
        assert [one.id for one in await records_of(session, actor, others[-1])] == others
    await compare(database, tenant, first, *others)
    assert await listed(database, tenant) == sorted((first, others[0]))


async def test_two_workers_that_store_the_two_records_at_once_join_them(admin, database, tenant):
    search = await add_search(admin, tenant)
    places = [
        UUID(await add(admin, "place", tenant, search_id=search, provider=provider, provider_id="1", name="x"))
        for provider in ("osm", "google")
    ]
    is_locked = asyncio.Event()

    async def store(place: UUID) -> None:
        """Store a record as a deep scan does: nothing of it is committed before the other one begins."""
        async with database.session(tenant) as session:
            await same_business.lock(session, tenant)
            is_locked.set()
            record = LocalBusiness(tenant_id=tenant, place_id=place, **{**KALLIO, **GOOGLE})
            session.add(record)
            await session.flush()
            await same_business.compare(session, tenant, [record.id])

    first = asyncio.create_task(store(places[0]))
    await is_locked.wait()
    await asyncio.gather(first, store(places[1]))
    assert len(await listed(database, tenant)) == 1
    assert await admin.fetchval("SELECT count(*) FROM local_business WHERE same_as_id IS NOT NULL") == 1


async def test_records_of_another_tenant_are_never_compared(admin, database, tenant, two):
    other = await admin.fetchval("INSERT INTO tenant (name) VALUES ('other') RETURNING id")
    search = await add_search(admin, other)
    theirs = await add_record(admin, other, search, "overture", "1")
    await compare(database, other, theirs)
    assert await listed(database, other) == [theirs]


async def test_branches_are_not_joined_but_marked_as_a_chain_that_can_be_left_out(admin, database, tenant):
    search = await add_search(admin, tenant)
    branches = [
        await add_record(admin, tenant, search, "osm", str(number), **place)
        for number, place in enumerate(({}, TURKU, TAMPERE))
    ]
    alone = await add_record(
        admin,
        tenant,
        search,
        "osm",
        "alone",
        name="Aalto Flowers",
        website="https://aalto.fi/",
        phone=None,
        street=None,
    )
    await compare(database, tenant, *branches[:2], alone)
    assert len(await rows(database, tenant, search, chains=False)) == 4  # two places are no chain yet
    await compare(database, tenant, branches[2])
    assert [row["business_id"] for row in await rows(database, tenant, search, chains=False)] == [alone]
    assert {row["chain"] for row in await rows(database, tenant, search, chains=True)} == {"kallio-bakery.fi"}
    assert await listed(database, tenant, chains=False) == [alone]


async def test_a_shared_site_gives_its_addresses_once(admin, database, tenant):
    search = await add_search(admin, tenant)
    branches = [
        await add_record(admin, tenant, search, "osm", str(number), city=city, **place)
        for number, (city, place) in enumerate({"Helsinki": {}, "Turku": TURKU, "Tampere": TAMPERE}.items())
    ]
    await add_site(
        admin, tenant, search, "kallio-bakery.fi", *branches, emails=("info@kallio-bakery.fi", "turku@kallio-bakery.fi")
    )
    await admin.execute("UPDATE contact SET business_id = $1 WHERE email LIKE 'turku@%'", branches[1])
    found = {row["city"]: row for row in await rows(database, tenant, search)}
    assert {city: row["email"] for city, row in found.items()} == {
        "Helsinki": "info@kallio-bakery.fi",
        "Turku": "turku@kallio-bakery.fi",
        "Tampere": None,
    }
    assert [row["other_emails"] for row in found.values()] == ["", "", ""]
    assert found["Tampere"]["state"] == "the addresses of its web site are with the other businesses that share it"
    assert found["Tampere"]["phone"] == TAMPERE["phone"]
    assert found["Tampere"]["shared_with"] == "Kallio Bakery Oy; Kallio Bakery Oy"
    [only] = await rows(database, tenant, search, city=["Tampere"])
    assert only["email"] == "info@kallio-bakery.fi"
    assert only["shared_with"] is None
    with_address = await rows(database, tenant, search, has_email=True)
    assert {row["city"] for row in with_address} == {"Helsinki", "Turku"}


async def test_an_address_that_two_providers_name_is_one_contact_in_files_and_deliveries(admin, database, tenant, two):
    osm_search, google_search, osm, google = two
    for business, source in ((osm, "https://osm.example/1"), (google, "https://google.example/1")):
        contact = {"identity": f"email:a@gmail.com:{business}", "email": "a@gmail.com", "found_by": "provider"}
        await add(admin, "contact", tenant, business_id=business, confidence=0.9, source_url=source, **contact)
    [row] = await rows(database, tenant, osm_search, google_search, per="contact")
    assert (row["business"], row["source"]) == ("KALLIO BAKERY", "https://google.example/1")
    destination = UUID(
        await add(admin, "destination", tenant, name="crm", kind="webhook", disabled_at=datetime.now(UTC))
    )
    deliveries = [
        UUID(await add(admin, "delivery", tenant, destination_id=destination, contact_id=contact["id"]))
        for contact in await admin.fetch("SELECT id FROM contact ORDER BY source_url")
    ]
    outbox = Outbox(database, Vault(bytes(32)))
    pending = [await outbox.load(tenant, one) for one in deliveries]
    assert [one.is_repeated for one in pending] == [False, True]
    assert {one.message.payload.values["business"] for one in pending} == {"KALLIO BAKERY"}


async def test_a_search_counts_what_the_rows_of_its_file_have_from_all_records(admin, database, tenant, two):
    """Each value once per business: two records without a web site name one number, a third record has the web site."""
    osm_search, google_search, osm, google = two
    other_search = await add_search(admin, tenant, "file")
    other = await add_record(admin, tenant, other_search, "file", "7", **GOOGLE)
    await compare(database, tenant, osm, google, other)
    for business in (osm, google):
        number = {"identity": f"phone:{business}", "phone": "+35891234567", "found_by": "provider"}
        await add(admin, "contact", tenant, business_id=business, confidence=0.9, **number)
    await add_site(admin, tenant, other_search, "kallio-bakery.fi", other, emails=("info@kallio-bakery.fi",))
    wanted = {"emails": 1, "phones": 1, "people": 0, "domains": 1}
    for search in (osm_search, google_search, other_search):
        [row] = await rows(database, tenant, search)
        assert (row["email"], row["phone"]) == ("info@kallio-bakery.fi", "+35891234567")
        async with database.session(tenant) as session:
            assert (await contact_counts(session, search)).items() >= wanted.items()
