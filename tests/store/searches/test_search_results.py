"""A search keeps what it found, in whatever order rows and links are stored, and whichever search owns them."""

from itertools import permutations
from uuid import UUID

import pytest
from tests.factories.line_rows import add

from scrapersky.actions.searches.cancel_search import cancel
from scrapersky.store.audit.record import Actor
from scrapersky.store.searches.progress import progress
from scrapersky.store.searches.results import contact_counts, found_values
from scrapersky.store.searches.resume import take_over_rows


async def found(admin, search):
    """The businesses and domains that the search found, by name."""
    return {
        table: [row["name"] for row in await admin.fetch(statement, search)]
        for table, statement in {
            "business": "SELECT name FROM local_business JOIN search_business ON business_id = id "
            "WHERE search_business.search_id = $1",
            "domain": "SELECT name FROM domain JOIN search_domain ON domain_id = id WHERE search_domain.search_id = $1",
        }.items()
    }


BOTH = {"business": ["Molar"], "domain": ["molar.fi"]}


@pytest.fixture
async def rows(admin, tenant):
    """Two searches, and a place that the second one has taken over before anything came of it."""
    first, second = [
        UUID(await add(admin, "search", tenant, text=word, area="Helsinki", provider="fake"))
        for word in ("dentists", "dentist")
    ]
    place = await add(admin, "place", tenant, search_id=second, provider="fake", provider_id="1", name="Molar")
    return {"tenant": tenant, "first": first, "second": second, "place": UUID(place)}


async def scan(admin, rows):
    """The second search scans the place and extracts its domain."""
    tenant, mine = rows["tenant"], {"search_id": rows["second"]}
    business = await add(admin, "local_business", tenant, place_id=rows["place"], name="Molar", **mine)
    domain = await add(admin, "domain", tenant, name="molar.fi", domain_metadata_status="Queued", **mine)
    await admin.execute("INSERT INTO business_domain VALUES ($1, $2, $3)", business, domain, tenant)


@pytest.mark.parametrize("order", list(permutations(["found by the first", "found by the second", "scanned"])))
async def test_every_search_that_found_a_place_found_its_business_and_domain(admin, rows, order):
    for event in order:
        if event == "scanned":
            await scan(admin, rows)
        else:
            await admin.execute(
                "INSERT INTO search_place (search_id, place_id, tenant_id) VALUES ($1, $2, $3)",
                *(rows[event.split()[-1]], rows["place"], rows["tenant"]),
            )
    assert await found(admin, rows["first"]) == await found(admin, rows["second"]) == BOTH


async def test_taking_rows_over_removes_them_from_no_other_search(database, admin, rows):
    """Also where no place is behind a domain: somebody began with web sites."""
    await add(admin, "domain", rows["tenant"], search_id=rows["first"], name="molar.fi")
    await admin.execute("UPDATE domain SET search_id = $1", rows["second"])
    async with database.session(rows["tenant"]) as session:
        await take_over_rows(session, [rows["first"]])
    assert await admin.fetchval("SELECT search_id FROM domain") == rows["first"]
    assert (
        (await found(admin, rows["first"]))["domain"] == (await found(admin, rows["second"]))["domain"] == ["molar.fi"]
    )


async def test_a_search_counts_rows_that_another_search_owns_and_cannot_cancel_them(database, admin, rows):
    for search in ("first", "second"):
        link = (rows[search], rows["place"], rows["tenant"])
        await admin.execute("INSERT INTO search_place VALUES ($1, $2, $3)", *link)
    await scan(admin, rows)
    async with database.session(rows["tenant"]) as session:
        taken = await cancel(session, Actor("anna", rows["tenant"], "curator", "a test"), rows["first"])
        steps = {step.workflow: step.waiting for step in await progress(session, rows["first"])}
    assert taken["domain_metadata"] == 0
    assert steps["domain_metadata"] == 1


async def test_people_numbers_and_addresses_are_counted_once_per_business_everywhere(database, admin, tenant):
    search = UUID(await add(admin, "search", tenant, text="dentists", area="Helsinki", provider="fake"))
    for site in ("one.fi", "two.fi"):
        domain = UUID(await add(admin, "domain", tenant, search_id=search, name=site))
        anna = {"domain_id": domain, "name": "Anna Virtanen", "phone": "+358961234567"}
        await add(admin, "contact", tenant, identity="a", email="shared@chain.fi", **anna)
        await add(admin, "contact", tenant, identity="b", email=f"anna@{site}", **anna)
    async with database.session(tenant) as session:
        counts = await contact_counts(session, search)
        values = await found_values(session, search)
    assert counts == {"contacts": 4, "emails": 4, "phones": 2, "people": 2, "domains": 2}
    fields = [field for _, field, _ in values]
    assert [fields.count(each) for each in ("email", "phone", "person")] == [4, 2, 2]
