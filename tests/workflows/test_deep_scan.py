"""WF2: a place becomes a local business, and a re-scan never touches what people decided."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from scrapersky.actions import curation
from scrapersky.actions.imports import run as imports
from scrapersky.core import clock
from scrapersky.core.vocabularies import Curation
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.outcomes import Later
from scrapersky.extract.tabular.rows import TableRow
from scrapersky.models import LocalBusiness
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.call_budget import CallBudget
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.resources import BUSINESSES
from scrapersky.store.searches import progress as search_progress
from tests.conftest import processors_of


class FakeProvider:
    """Knows what it is told, and counts how often it is asked."""

    def __init__(self, *answers: PlaceDetails | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def details(self, provider_id: str, purse: CallBudget) -> PlaceDetails:
        self.asked.append(provider_id)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


DENTIST = PlaceDetails(
    "fake",
    "p1",
    "Molar & Sons",
    address="Katu 1, 00100 Helsinki",
    street="Katu 1",
    city="Helsinki",
    postcode="00100",
    country="FI",
    phone="+358912345678",
    website="https://molar.example/",
    categories=("dentist",),
    rating=4.5,
    rating_count=12,
    hours={"monday": ["09:00-17:00"]},
)


async def add_place(admin, tenant, **columns):
    return await admin.fetchval(
        "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status, details, fetched_at) "
        "VALUES ($1, $2, 'p1', 'n', 'Queued', $3, $4) RETURNING id",
        tenant,
        columns.get("provider", "fake"),
        columns.get("details"),
        columns.get("fetched_at"),
    )


async def scan(database, settings, provider):
    line = build_pipeline({"fake": provider})
    await run_job_loop(processors_of(line, database, settings)["deep_scan"])


async def test_the_details_become_a_business_that_is_queued_for_the_next_step(database, settings, admin, tenant):
    place = await add_place(admin, tenant)
    await scan(database, settings, FakeProvider(DENTIST))
    business = await admin.fetchrow("SELECT * FROM local_business")
    assert (business["place_id"], business["name"], business["city"]) == (place, "Molar & Sons", "Helsinki")
    assert (business["phone"], business["categories"]) == ("+358912345678", ["dentist"])
    assert business["domain_extraction_status"] == "Queued"
    assert business["tenant_id"] == tenant


async def test_a_rescan_refreshes_facts_and_keeps_what_people_decided(database, settings, admin, tenant):
    await add_place(admin, tenant)
    renamed = PlaceDetails("fake", "p1", "Molar & Daughters", rating=4.9)
    provider = FakeProvider(DENTIST, renamed)
    await scan(database, settings, provider)
    await admin.execute(
        "UPDATE local_business SET curation_status = 'Not a Fit', priority = 3, "
        """domain_extraction_status = 'Completed', profiles = '{"facebook": "x"}'"""
    )
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued', curation_status = 'Maybe'")
    await scan(database, settings, provider)
    business = await admin.fetchrow("SELECT * FROM local_business")
    assert (business["name"], business["rating"]) == ("Molar & Daughters", 4.9)
    assert business["city"] == "Helsinki", "a fact the provider did not repeat is kept"
    assert (business["curation_status"], business["priority"]) == ("Not a Fit", 3)
    assert business["domain_extraction_status"] == "Completed", "what was turned down does not go on"
    assert business["profiles"] is not None
    assert await admin.fetchval("SELECT curation_status FROM place") == "Maybe"
    assert await admin.fetchval("SELECT count(*) FROM local_business") == 1


async def closed_for_good(database, settings, admin, tenant, rules: str = "{}", decision: str = "New"):
    """What becomes of a business that its provider calls closed: its next step, and why."""
    place = await add_place(admin, tenant)
    search = await admin.fetchval(
        "INSERT INTO search (tenant_id, text, provider, rules) VALUES ($1, 'x', 'fake', $2) RETURNING id", tenant, rules
    )
    await admin.execute("UPDATE place SET search_id = $1", search)
    await admin.execute(
        "INSERT INTO local_business (tenant_id, place_id, name, curation_status) VALUES ($1, $2, 'known', $3)",
        *(tenant, place, decision),
    )
    await scan(database, settings, FakeProvider(replace(DENTIST, business_status="CLOSED_PERMANENTLY")))
    async with database.session(tenant) as session:
        reasons = await search_progress.top_reasons(session, search)
    row = await admin.fetchrow("SELECT domain_extraction_status AS s, domain_extraction_error AS e FROM local_business")
    return row["s"], row["e"], reasons


async def test_a_business_that_is_closed_for_good_goes_no_further_and_is_counted(database, settings, admin, tenant):
    *state, reasons = await closed_for_good(database, settings, admin, tenant)
    assert state == ["Skipped", "permanently closed"]
    assert reasons == [("domain_extraction", "Skipped", "permanently closed", 1, None)]
    actor = Actor("ada", tenant, "curator", "a test")
    async with database.session(tenant) as session:
        ids = [await session.scalar(select(LocalBusiness.id))]
        assert (await curation.curate(session, BUSINESSES, actor, ids, Curation.SELECTED)).queued == 1
    assert await admin.fetchval("SELECT domain_extraction_status FROM local_business") == "Queued"


@pytest.mark.parametrize(
    ("rules", "decision", "expected"),
    [
        ('{"permanently_closed": "all"}', "New", "Queued"),
        ("{}", "Selected", "Queued"),
        ('{"domain_extraction": "off"}', "New", "New"),
    ],
)
async def test_a_rule_or_a_person_may_queue_a_closed_business(
    database, settings, admin, tenant, rules, decision, expected
):
    status, error, _ = await closed_for_good(database, settings, admin, tenant, rules, decision)
    assert (status, error) == (expected, None)


async def test_a_business_that_has_opened_again_goes_on(database, settings, admin, tenant):
    await closed_for_good(database, settings, admin, tenant)
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued'")
    await scan(database, settings, FakeProvider(replace(DENTIST, business_status="OPERATIONAL")))
    assert await admin.fetchval("SELECT domain_extraction_status FROM local_business") == "Queued"


async def test_fresh_details_of_the_search_are_used_without_asking(database, settings, admin, tenant):
    provider = FakeProvider(DENTIST)
    await add_place(admin, tenant, details='{"name": "From the search"}', fetched_at=clock.now())
    await scan(database, settings, provider)
    assert await admin.fetchval("SELECT name FROM local_business") == "From the search"
    assert provider.asked == []


async def test_old_details_are_asked_for_again(database, settings, admin, tenant):
    provider = FakeProvider(DENTIST)
    await add_place(admin, tenant, details='{"name": "Long ago"}', fetched_at=clock.now() - timedelta(days=3))
    await scan(database, settings, provider)
    assert await admin.fetchval("SELECT name FROM local_business") == "Molar & Sons"
    assert provider.asked == ["p1"]


@pytest.mark.parametrize("provider", ["import", "somebody_else"])
async def test_an_imported_place_is_scanned_at_any_time_without_asking_anybody(
    database, settings, admin, tenant, provider
):
    row = TableRow(2, {"name": "Molar", "website": "molar.fi", "city": "Helsinki", "provider": provider})
    actor = Actor("ada", tenant, "operator", "a test")
    await imports.run(database, actor, imports.ImportRequest("places", "a.csv", auto_queue=True), [row])
    await admin.execute("UPDATE place SET fetched_at = now() - interval '400 days'")
    asked = FakeProvider(DENTIST)

    await scan(database, settings, asked)

    assert await admin.fetchval("SELECT deep_scan_status FROM place") == "Completed"
    business = await admin.fetchrow("SELECT name, city, website, domain_extraction_status FROM local_business")
    assert tuple(business) == ("Molar", "Helsinki", "molar.fi", "Queued")
    assert asked.asked == []


async def test_the_real_reason_of_a_failure_is_stored(database, settings, admin, tenant):
    await add_place(admin, tenant)
    await scan(database, settings, FakeProvider(RuntimeError("the provider said 403: key expired")))
    assert "403: key expired" in await admin.fetchval("SELECT deep_scan_error FROM place")


async def test_a_quota_is_waited_for(database, settings, admin, tenant):
    await add_place(admin, tenant)
    await scan(database, settings, FakeProvider(Later(timedelta(minutes=10), "quota used up")))
    place = await admin.fetchrow("SELECT *, deep_scan_due_at - now() AS wait FROM place")
    assert (place["deep_scan_status"], place["deep_scan_error"]) == ("Queued", "quota used up")
    assert timedelta(minutes=9) < place["wait"] <= timedelta(minutes=10)


@pytest.mark.parametrize("provider", ["google_places", ""])
async def test_a_provider_that_is_not_configured_is_named(database, settings, admin, tenant, provider):
    await add_place(admin, tenant, provider=provider)
    await scan(database, settings, FakeProvider(DENTIST))
    assert await admin.fetchval("SELECT deep_scan_status FROM place") == "Error"
    assert "No provider named" in await admin.fetchval("SELECT message FROM dead_letter")
