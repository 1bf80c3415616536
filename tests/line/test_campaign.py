"""A campaign: many searches with one budget, one progress and one result, stopped and continued as a whole."""

import asyncio

import pytest

from scrapersky.actions.searches import campaigns
from scrapersky.actions.searches.campaigns import CampaignRequest
from scrapersky.actions.searches.cancel_search import cancel
from scrapersky.actions.searches.request_search import request_search
from scrapersky.bootstrap import open_application
from scrapersky.core.settings import Environment
from scrapersky.engine.loop import run_job_loop
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import leads
from scrapersky.store.searches import campaigns as stored
from scrapersky.store.searches import progress
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of

TOWNS = ("Helsinki", "Turku", "Göteborg", "Berlin")


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=300) as little_internet:
        yield little_internet


@pytest.fixture
async def application(sandbox, database_url):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0"}
    opened = await open_application(Environment(variables, None))
    yield opened
    await opened.close()


def actor(tenant):
    return Actor("ada", tenant, "operator", "test")


def search(town: str, provider: str = "openstreetmap", limit: int | None = 5) -> SearchRequest:
    return SearchRequest(
        "dentists" if town in TOWNS[:2] else "restaurants", Where.of(town), provider, limit, None, AdvanceRules()
    )


async def ask(application, tenant, *wanted: SearchRequest, budget: int | None = None, refresh: bool = False):
    request = CampaignRequest.of(wanted, AdvanceRules(), None, budget)
    async with application.database.session(tenant) as session:
        return await campaigns.request_campaign(session, actor(tenant), request, refresh)


async def run(application, *steps: str) -> None:
    processors = processors_of(application.pipeline, application.database, application.settings)
    for step in steps:
        await run_job_loop(processors[step])


async def counts(application, tenant, campaign):
    async with application.database.session(tenant) as session:
        return await stored.counts(session, campaign.id)


async def test_searches_that_overlap_are_one_result_with_each_business_once(application, admin, tenant):
    alone = search("Helsinki", limit=8)
    async with application.database.session(tenant) as session:
        before = (await request_search(session, actor(tenant), alone))[0]
    await run(application, "place_search", "deep_scan")
    found_before = await admin.fetchval("SELECT count(*) FROM search_place WHERE search_id = $1", before.id)
    campaign = (await ask(application, tenant, alone, *map(search, TOWNS), search("Helsinki"))).search
    assert (await counts(application, tenant, campaign)).searches == 5, "equal searches are one"
    joined = await admin.fetchval("SELECT count(*) FROM search_place WHERE search_id = $1", campaign.id)
    assert joined == found_before == 8, "what a search found before it joined belongs to the campaign"

    await run(application, "place_search", "deep_scan", "domain_extraction")
    told = await counts(application, tenant, campaign)
    assert (told.completed, told.waiting, told.failed) == (5, 0, 0)
    for link in ("search_place", "search_business", "search_domain"):
        key = {"search_place": "place_id", "search_business": "business_id", "search_domain": "domain_id"}[link]
        of_campaign = await admin.fetch(f"SELECT {key} AS id FROM {link} WHERE search_id = $1", campaign.id)
        of_searches = await admin.fetch(
            f"SELECT DISTINCT {key} AS id FROM {link} WHERE search_id IN "
            "(SELECT search_id FROM campaign_search WHERE campaign_id = $1)",
            campaign.id,
        )
        assert {row["id"] for row in of_campaign} == {row["id"] for row in of_searches}
        assert of_campaign
    assert told.places == await admin.fetchval("SELECT count(*) FROM place"), "the five overlap"
    async with application.database.session(tenant) as session:
        steps = {step.workflow: step for step in await progress.progress(session, campaign.id)}
        rows = [row async for row in leads(session, campaign.id)]
    assert steps["place_search"].completed == 5
    assert len({row["business_id"] for row in rows}) == len(rows) == told.places
    said = [set(row["queries"].split(" | ")) for row in rows]
    assert set.union(*said) == {f"{one.text} in {one.area}" for one in map(search, TOWNS[:3])}, "Berlin has none"
    async with application.database.session(tenant) as session:
        of_one = {row["queries"] async for row in leads(session, before.id)}
    assert of_one == {"dentists in Helsinki"}, "of a search alone it is the search"

    again = await ask(application, tenant, *map(search, TOWNS), alone)
    assert (again.search.id, again.existed) == (campaign.id, True), "in another order it is the same campaign"
    assert (await counts(application, tenant, campaign)).waiting == 0, "and nothing is made twice"


async def test_a_campaign_stops_and_continues_as_a_whole(application, admin, tenant):
    campaign = (await ask(application, tenant, *map(search, TOWNS))).search
    await admin.execute(
        "UPDATE search SET place_search_due_at = now() + interval '1 hour' WHERE area IN ('Göteborg', 'Berlin')"
    )
    await run(application, "place_search")
    waiting = await admin.fetchval("SELECT count(*) FROM place WHERE deep_scan_status = 'Queued'")
    assert waiting > 0
    async with application.database.session(tenant) as session:
        withdrawn = await cancel(session, actor(tenant), campaign.id)
    assert withdrawn["deep_scan"] == waiting
    assert withdrawn["place_search"] == 2
    await run(application, "place_search", "deep_scan")
    assert await admin.fetchval("SELECT count(*) FROM local_business") == 0, "nothing goes on"

    async with application.database.session(tenant) as session:
        await campaigns.continue_campaign(session, actor(tenant), campaign.id)
    await run(application, "place_search", "deep_scan")
    told = await counts(application, tenant, campaign)
    assert (told.completed, told.waiting) == (4, 0)
    businesses = await admin.fetchval("SELECT count(*) FROM local_business")
    assert businesses == told.places > waiting


async def test_a_budget_that_ends_in_the_middle_says_so_and_more_money_continues(application, admin, tenant, sandbox):
    wanted = [search(town, "google_places", limit=12) for town in TOWNS]
    campaign = (await ask(application, tenant, *wanted, budget=8)).search  # two of four pages of 3.5 cents
    await run(application, "place_search")
    told = await counts(application, tenant, campaign)
    assert (told.completed, told.stopped_by_budget) == (4, 2)
    row = await admin.fetchrow("SELECT cost_cents, spent_micros, call_count FROM search WHERE id = $1", campaign.id)
    assert (row["cost_cents"], row["spent_micros"]) == (7, 70_000)
    notes = await admin.fetch("SELECT notes FROM search WHERE stopped_by_budget")
    assert all("budget" in note["notes"] for note in notes), "each of the rest says why it has no result"
    month = await admin.fetchval("SELECT sum(micros) FROM spending")
    assert month == 70_000, "a call of a campaign is counted once in the month"

    async with application.database.session(tenant) as session:
        await campaigns.continue_campaign(session, actor(tenant), campaign.id, budget_cents=20)
    await run(application, "place_search")
    told = await counts(application, tenant, campaign)
    assert (told.completed, told.stopped_by_budget) == (4, 0)
    assert await admin.fetchval("SELECT spent_micros FROM search WHERE id = $1", campaign.id) == 140_000
    assert await admin.fetchval("SELECT sum(micros) FROM spending") == 140_000


async def test_two_workers_never_overdraw_the_budget_of_a_campaign(application, admin, tenant, sandbox):
    wanted = [search(town, "google_places", limit=12) for town in TOWNS]
    campaign = (await ask(application, tenant, *wanted, budget=11)).search
    sandbox.latency_seconds = 0.05  # so that calls overlap
    await asyncio.gather(run(application, "place_search"), run(application, "place_search"))
    row = await admin.fetchrow("SELECT spent_micros, budget_cents FROM search WHERE id = $1", campaign.id)
    assert row["spent_micros"] == 105_000 <= row["budget_cents"] * 10_000
    assert (await counts(application, tenant, campaign)).stopped_by_budget == 1


async def test_the_month_of_the_tenant_limits_a_campaign_once(application, admin, tenant):
    await admin.execute("UPDATE tenant SET cents_per_month = 10 WHERE id = $1", tenant)
    wanted = [search(town, "google_places", limit=12) for town in TOWNS]
    campaign = (await ask(application, tenant, *wanted, budget=100)).search
    assert campaign.budget_cents == 10
    assert await admin.fetchval("SELECT reserved_cents($1, NULL)", tenant) == 10
    await run(application, "place_search")
    assert await admin.fetchval("SELECT spent_cents($1)", tenant) == 7
    assert await admin.fetchval("SELECT reserved_cents($1, NULL)", tenant) == 0, "nothing is open any more"
