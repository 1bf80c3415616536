"""Runs of searches: when they begin and end, what was new, gone and changed, and the filters that follow from it."""

from uuid import UUID

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from scrapersky.actions.searches.request_search import request_search
from scrapersky.maintenance.complete_runs import CompleteRuns
from scrapersky.models import Search
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import PlaceDetails
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import LeadQuery, Per, leads
from scrapersky.store.line import places
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import BUSINESSES, CONTACTS
from scrapersky.store.searches import campaigns, changes, runs, snapshot
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules

SEARCHES = "SELECT id FROM search WHERE provider = 'fake' ORDER BY id"
DONE = "UPDATE search SET place_search_status = 'Completed', place_search_due_at = NULL"


class Searched:
    """A search that is made again and again, with the places that its provider has at the time."""

    def __init__(self, database, admin, tenant):
        self.database, self.admin, self.tenant = database, admin, tenant
        self.id = UUID(int=0)

    async def begin(self, refresh: bool = True) -> None:
        wanted = SearchRequest("dentists", Where.of("Helsinki"), "fake", None, None, AdvanceRules())
        actor = Actor("ada", self.tenant, "curator", "test")
        async with self.database.session(self.tenant) as session:
            self.id = (await request_search(session, actor, wanted, refresh)).search.id

    async def find(self, *names: str) -> None:
        """Store the places, and a business with a contact for each that has none, as the line would."""
        async with self.database.session(self.tenant) as session:
            search = await session.get_one(Search, self.id)
            await places.upsert(session, search, [PlaceDetails("fake", name, name=name) for name in names])
        await self.admin.execute(
            "INSERT INTO local_business (tenant_id, search_id, place_id, name) SELECT tenant_id, search_id, id, name "
            "FROM place p WHERE NOT EXISTS (SELECT FROM local_business b WHERE b.place_id = p.id)"
        )
        await self.admin.execute(
            "INSERT INTO contact (tenant_id, business_id, identity, email) SELECT tenant_id, id, 'email:' || name, "
            "lower(name) || '@example.fi' FROM local_business b "
            "WHERE NOT EXISTS (SELECT FROM contact c WHERE c.business_id = b.id)"
        )

    async def run(self, *names: str) -> None:
        await self.begin()
        await self.find(*names)
        await self.admin.execute(DONE)
        assert await CompleteRuns().run_on(self.database) == "1 runs under way, 1 of them completed"

    async def leads(self, per: Per = "business", **filters) -> list[str]:
        async with self.database.session(self.tenant) as session:
            query = LeadQuery((self.id,), per, filters=filters)
            return sorted(
                [row["business"] if per == "business" else row["email"] async for row in leads(session, query)]
            )

    async def difference(self, former: int | None = None, latter: int | None = None) -> changes.RunChanges:
        async with self.database.session(self.tenant) as session:
            first, second, known = await runs.pair(session, self.id, former, latter)
            return await changes.between(session, self.id, first, second, known)


@pytest.fixture
def searched(database, admin, tenant) -> Searched:
    return Searched(database, admin, tenant)


async def test_a_run_ends_when_no_work_is_left(searched, database, admin):
    await searched.begin()
    assert await CompleteRuns().run_on(database) == "1 runs under way, 0 of them completed"
    await searched.find("Molar")
    await admin.execute(DONE)
    await admin.execute("DELETE FROM search_progress")  # a reader counts once per second at most
    assert await CompleteRuns().run_on(database) == "1 runs under way, 1 of them completed"
    assert await CompleteRuns().run_on(database) == "0 runs under way, 0 of them completed"
    run = await admin.fetchrow("SELECT number, is_complete, is_whole, counts FROM search_run")
    assert tuple(run) == (1, True, True, None), "the first run has none to be compared with"


async def test_a_search_that_cannot_be_counted_in_time_does_not_stop_the_others(database, admin, tenant, monkeypatch):
    large, small = Searched(database, admin, tenant), Searched(database, admin, tenant)
    await large.begin()
    await admin.execute("UPDATE search SET text = 'restaurants'")
    await small.begin()
    await admin.execute(DONE)
    current = snapshot.current

    async def count(session, search):
        if search.id == large.id:
            await session.execute(text("SET LOCAL statement_timeout = 1"))
            await session.execute(text("SELECT pg_sleep(60)"))
        return await current(session, search)

    monkeypatch.setattr(snapshot, "current", count)
    with capture_logs() as logged:
        assert await CompleteRuns().run_on(database) == "2 runs under way, 1 of them completed"
    assert [line["search"] for line in logged if line["event"] == "search_run_not_counted"] == [str(large.id)]


async def test_what_is_new_gone_and_changed_between_two_runs(searched, admin):
    await searched.run("Molar", "Canine", "Incisor")
    await searched.begin()
    await searched.find("Molar", "Canine", "Wisdom")
    await admin.execute("UPDATE local_business SET phone = '+358912345678' WHERE name = 'Canine'")
    await admin.execute("UPDATE contact SET verdict = 'deliverable'")  # for the first time
    await admin.execute("UPDATE contact SET title = 'Dentist' WHERE email = 'molar@example.fi'")
    await admin.execute(DONE)
    await CompleteRuns().run_on(searched.database)

    found = await searched.difference()
    assert (found.former, found.latter) == (1, 2)
    assert changes.in_words("Businesses", found.businesses, "") == "Businesses: 1 new, 1 gone, 1 changed (phone 1)."
    assert changes.in_words("Contacts", found.contacts, "") == "Contacts: 1 new, 0 gone, 1 changed (title 1)."
    assert found.businesses.examples == {"new": ["Wisdom"], "gone": ["Incisor"], "changed": ["Canine"]}
    assert await admin.fetchval("SELECT counts -> 'businesses' ->> 'gone' FROM search_run WHERE number = 2") == "1"

    assert await searched.leads(new=True) == ["Wisdom"]
    assert await searched.leads("contact", new=True) == ["wisdom@example.fi"]
    assert await searched.leads(new=False) == ["Canine", "Incisor", "Molar"]
    assert await searched.leads(gone=True) == ["Incisor"]
    assert await searched.leads("contact", gone=True) == ["incisor@example.fi"]
    assert await searched.leads(gone=False) == ["Canine", "Molar", "Wisdom"]
    began = str(await admin.fetchval("SELECT began_at FROM search_run WHERE number = 2"))
    assert await searched.leads(changed_since=began) == ["Canine", "Molar", "Wisdom"]
    assert await searched.leads("contact", changed_since=began) == ["molar@example.fi", "wisdom@example.fi"]
    assert await searched.leads(seen_since=began) == ["Canine", "Molar", "Wisdom"]


async def test_a_business_that_comes_back_is_not_gone_and_runs_apart_can_be_compared(searched):
    await searched.run("Molar", "Canine")
    await searched.run("Molar")
    assert await searched.leads(gone=True) == ["Canine"]
    await searched.run("Molar", "Canine", "Wisdom")
    assert await searched.leads(gone=True) == []
    found = await searched.difference(1, 3)
    assert (found.businesses.new, found.businesses.gone, found.businesses.changed) == (1, 0, 0)
    with pytest.raises(runs.UnknownSearchRun, match="no run 9; its runs are 1 to 3"):
        await searched.difference(1, 9)
    with pytest.raises(runs.UnknownSearchRun, match="Run 3 is not before run 2"):
        await searched.difference(3, 2)


async def test_nothing_is_gone_if_the_run_did_not_find_all(searched, admin):
    await searched.run("Molar", "Canine")
    with pytest.raises(runs.UnknownSearchRun, match="two are needed"):
        await searched.difference()
    await searched.begin()
    await searched.find("Molar")
    await admin.execute(f"{DONE}, is_partial = true")
    await CompleteRuns().run_on(searched.database)
    found = await searched.difference()
    assert found.businesses.gone is None
    assert found.why_unknown == "the run did not find all"
    assert "gone: not known" in changes.in_words("Businesses", found.businesses, found.why_unknown)
    assert await searched.leads(gone=True) == []


async def test_what_is_gone_is_known_as_soon_as_the_provider_has_shown_all(searched, admin):
    await searched.run("Molar", "Canine")
    await searched.begin()
    found = await searched.difference()
    assert found.why_unknown == "the run is not complete yet, and the provider has not shown all"
    await searched.find("Molar")
    async with searched.database.session(searched.tenant) as session:
        await runs.note_searched(session, searched.id)
    await admin.execute(DONE)
    found = await searched.difference()
    assert (found.businesses.gone, found.is_complete, found.is_open) == (1, False, True)
    assert await searched.leads(gone=True) == ["Canine"]
    await searched.begin()
    found = await searched.difference(1, 2)
    assert (found.businesses.gone, found.is_complete, found.is_open) == (1, False, False)


async def test_a_campaign_has_seen_all_when_the_last_of_its_searches_has(database, admin, tenant):
    from scrapersky.actions.searches.campaigns import CampaignRequest, request_campaign

    actor = Actor("ada", tenant, "curator", "test")
    of = [SearchRequest("dentists", Where.of(t), "fake", None, None, AdvanceRules()) for t in ("Turku", "Oulu")]
    async with database.session(tenant) as session:
        await request_campaign(session, actor, CampaignRequest.of(of, AdvanceRules(), None, None))
    whole = "SELECT count(*) FROM search_run WHERE is_whole"
    for search_id, expected in zip([row[0] for row in await admin.fetch(SEARCHES)], (1, 3), strict=True):
        async with database.session(tenant) as session:
            await runs.note_searched(session, search_id)
        await admin.execute(f"{DONE} WHERE id = $1", search_id)
        assert await admin.fetchval(whole) == expected, "of the searches, and of the campaign with the last"


async def test_a_search_that_failed_continues_its_run_and_one_that_is_refreshed_begins_another(searched, admin):
    await searched.begin()
    await admin.execute("UPDATE search SET place_search_status = 'Error', place_search_error = 'gone'")
    await searched.begin(refresh=False)
    assert await admin.fetchval("SELECT count(*) FROM search_run") == 1
    await admin.execute(DONE)
    await searched.begin()
    ended = await admin.fetch("SELECT number, ended_at IS NULL AS is_open, is_complete FROM search_run ORDER BY number")
    assert [tuple(run) for run in ended] == [(1, False, False), (2, True, False)]


async def test_a_campaign_has_runs_of_its_own(database, admin, tenant):
    from scrapersky.actions.searches.campaigns import CampaignRequest, repeat_campaign, request_campaign

    actor = Actor("ada", tenant, "curator", "test")
    of = [SearchRequest("dentists", Where.of(t), "fake", None, None, AdvanceRules()) for t in ("Turku", "Oulu")]
    async with database.session(tenant) as session:
        wanted = CampaignRequest.of(of, AdvanceRules(), None, None)
        campaign = (await request_campaign(session, actor, wanted)).search
    numbers = "SELECT number FROM search_run WHERE search_id = $1 ORDER BY number"
    assert [row[0] for row in await admin.fetch(numbers, campaign.id)] == [1]
    await admin.execute(DONE)
    async with database.session(tenant) as session:
        await repeat_campaign(session, actor, campaign.id)
    assert [row[0] for row in await admin.fetch(numbers, campaign.id)] == [1, 2]
    assert await admin.fetchval("SELECT count(*) FROM search_run WHERE number = 2") == 3


async def test_lists_and_deliveries_take_what_the_latest_run_found(searched, database, tenant):
    await searched.run("Molar")
    await searched.run("Molar", "Wisdom")
    async with database.session(tenant) as session:
        for resource, expected in ((BUSINESSES, ["Wisdom"]), (CONTACTS, ["email:Wisdom"])):
            wanted = {"new_of_search": searched.id, "search_id": searched.id, "changed_since": "2020-01-01T00:00:00Z"}
            rows = await paginate.page(
                session, resource, tenant, ["id", resource.label], wanted, sort=paginate.Sort("updated_at"), limit=10
            )
            assert [getattr(row, resource.label) for row, _ in rows] == expected


async def test_records_of_one_business_are_new_gone_and_changed_once(searched, admin, database, tenant):
    same = """UPDATE local_business b SET same_as_id = a.id FROM local_business a
        WHERE a.name IN ($1, $2) AND b.name IN ($1, $2) AND a.id < b.id"""
    await searched.run("Canine", "Canine Oy", "Molar", "Molar Oy", "Incisor")
    await admin.execute(same, "Canine", "Canine Oy")
    await admin.execute(same, "Molar", "Molar Oy")
    await searched.begin()
    await searched.find("Canine", "Incisor", "Incisor Oy", "Wisdom", "Wisdom Oy")
    await admin.execute(same, "Incisor", "Incisor Oy")
    await admin.execute(same, "Wisdom", "Wisdom Oy")
    await admin.execute("UPDATE local_business SET phone = '+358912345678' WHERE name LIKE 'Canine%'")
    taken = "UPDATE local_business SET website = 'https://incisor.fi/', website_how = 'record' WHERE name = 'Incisor'"
    await admin.execute(taken)  # from another record, which has it already
    await admin.execute(DONE)
    await CompleteRuns().run_on(database)

    found = (await searched.difference()).businesses
    assert found.examples == {"new": ["Wisdom"], "gone": ["Molar"], "changed": ["Canine"]}
    assert (found.new, found.gone, found.changed, found.fields) == (1, 1, 1, {"phone": 1})
    assert await searched.leads(new=True) == ["Wisdom"]
    assert await searched.leads(new=False) == ["Canine", "Incisor", "Molar"]
    assert await searched.leads(gone=True) == ["Molar"]
    async with database.session(tenant) as session:
        wanted, order = {"new_of_search": searched.id}, paginate.Sort("updated_at")
        rows = await paginate.page(session, BUSINESSES, tenant, ["id", "name"], wanted, sort=order, limit=10)
        counts = await campaigns.counts(session, searched.id)
    assert [row.name.removesuffix(" Oy") for row, _ in rows] == ["Wisdom"]
    assert (counts.places, counts.businesses) == (8, 4)
