"""WF10: missing web sites of a sandbox are found with a proof; those of others are not; people have the last word."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from scrapersky.actions.businesses.set_website import BadWebsite, set_website
from scrapersky.core.settings import Settings
from scrapersky.crawl.web import Web
from scrapersky.engine.loop import run_job_loop
from scrapersky.extract.site_search.names import candidate_domains
from scrapersky.pipeline import build_pipeline
from scrapersky.providers.base import ProviderRefused
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.osm.place import osm_place
from scrapersky.providers.web_search import web_search_of
from scrapersky.sandbox.osm.element import element, tags_of
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.unlisted import Lure, Unlisted
from scrapersky.store.audit.record import Actor
from scrapersky.store.line.known_sites import StoredKnownSites
from tests.conftest import processors_of

FACTS = ("name", "phone", "street", "postcode", "city", "country", "latitude", "longitude")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(seed=7, businesses=1500) as little_internet:
        yield little_internet


@pytest.fixture
async def search(sandbox, database, settings, admin, tenant) -> AsyncIterator[Any]:
    """Look for the sites of these businesses, and return their rows in order."""
    webs: list[Web] = []

    async def run(*businesses: Business, **variables: Any) -> list[Any]:
        ids = [await add(admin, tenant, business) for business in businesses]
        environment = {
            **sandbox.environment(),
            "CRAWL_HOST_DELAY_SECONDS": "0",
            "CRAWL_PARSER_PROCESSES": "1",
            **variables,
        }
        configured = Settings.model_validate(environment)
        web = Web(configured)
        webs.append(web)
        asked = web_search_of(configured, web.client)
        line = build_pipeline({}, web, known_sites=StoredKnownSites(database), web_search=asked, settings=configured)
        await run_job_loop(processors_of(line, database, settings)["site_search"])
        return [await admin.fetchrow("SELECT * FROM local_business WHERE id = $1", row_id) for row_id in ids]

    yield run
    for web in webs:
        await web.close()


async def add(admin, tenant, business: Business, status: str = "Queued", **changed: Any) -> Any:
    place = osm_place(element(business, tags_of(business), {"center", "tags"}))
    assert place is not None
    values = {**{fact: getattr(place, fact) for fact in FACTS}, **changed}
    names = ", ".join(values)
    marks = ", ".join(f"${number}" for number in range(3, len(values) + 3))
    return await admin.fetchval(
        f"INSERT INTO local_business (tenant_id, site_search_status, {names}) VALUES ($1, $2, {marks}) RETURNING id",
        *(tenant, status, *values.values()),
    )


def unlisted(sandbox: Sandbox, kind: Unlisted) -> Business:
    return next(one for one in sandbox.world if one.unlisted is kind and one.phone and one.number % 5)


def lured(sandbox: Sandbox, kind: Lure) -> Business:
    return next(sandbox.world[lure.business] for lure in sandbox.world._lures.values() if lure.kind is kind)


async def test_sites_at_the_name_and_of_chains_are_found_with_their_proof(sandbox, search):
    businesses = [unlisted(sandbox, Unlisted.NAMED), unlisted(sandbox, Unlisted.CHAIN)]
    for business, row in zip(businesses, await search(*businesses), strict=True):
        assert (row["site_search_status"], row["website"]) == ("Completed", business.site_url), row["site_search_error"]
        assert row["website_how"] == "name"
        assert row["website_confidence"] >= 0.9
        assert business.name.split()[0] in row["website_proof"] or "its name" in row["website_proof"]
        assert row["domain_extraction_status"] == "Queued"


async def test_sites_of_others_are_not_taken(sandbox, search):
    businesses = [lured(sandbox, kind) for kind in Lure if kind is not Lure.NOTHING]
    for row in await search(*businesses):
        assert (row["site_search_status"], row["website"], row["website_how"]) == ("Skipped", None, None), row["name"]
        assert row["site_search_error"] == "no web site: candidates without a proof: 1"


async def test_the_record_of_another_map_needs_no_request(sandbox, search, admin, tenant):
    business = unlisted(sandbox, Unlisted.RECORD)
    await add(admin, tenant, business, status="New", website=business.site_url)
    before = sandbox.traffic.requests
    (row,) = await search(business)
    assert (row["website"], row["website_how"], row["website_confidence"]) == (business.site_url, "record", 0.95)
    assert sandbox.traffic.requests == before


async def test_only_a_web_search_finds_a_hidden_site_and_not_the_directory(sandbox, search):
    business = unlisted(sandbox, Unlisted.HIDDEN)
    (row,) = await search(business)
    assert row["website"] is None
    (row,) = await search(business, SITE_SEARCH_SEARXNG_URL=sandbox.web_search_url)
    assert (row["website"], row["website_how"]) == (business.site_url, "search")
    (row,) = await search(
        business, SITE_SEARCH_BRAVE_API_KEY=sandbox.web_search.key, SITE_SEARCH_BRAVE_URL=sandbox.web_search_url
    )
    assert row["website_how"] == "search"


async def test_a_rejected_site_stays_rejected_and_a_set_one_is_kept(sandbox, search, database, admin, tenant):
    business, actor = unlisted(sandbox, Unlisted.NAMED), Actor("Anna", tenant, role="curator", origin="api")
    (row,) = await search(business)
    async with database.session(tenant) as session:
        await set_website(session, actor, row["id"], None)
    await admin.execute("UPDATE local_business SET site_search_status = 'Queued' WHERE id = $1", row["id"])
    await search()
    row = await admin.fetchrow("SELECT * FROM local_business WHERE id = $1", row["id"])
    assert (row["website"], row["site_search_status"]) == (None, "Skipped")
    async with database.session(tenant) as session:
        await set_website(session, actor, row["id"], "https://by-hand.fi/")
    row = await admin.fetchrow("SELECT * FROM local_business WHERE id = $1", row["id"])
    assert (row["website"], row["website_how"], row["domain_extraction_status"]) == (
        *("https://by-hand.fi/", "person"),
        "Queued",
    )
    with pytest.raises(BadWebsite, match="Write https"):
        async with database.session(tenant) as session:
            await set_website(session, actor, row["id"], "not a site")


async def test_a_business_with_a_web_site_is_skipped(search, sandbox, admin, tenant):
    row_id = await add(admin, tenant, unlisted(sandbox, Unlisted.NAMED), website="https://known.fi/")
    await search()
    row = await admin.fetchrow("SELECT * FROM local_business WHERE id = $1", row_id)
    assert (row["site_search_status"], row["site_search_error"]) == ("Skipped", "has a web site")


async def test_the_settings_decide_whether_names_are_tried_and_how_many(sandbox, search):
    business = unlisted(sandbox, Unlisted.NAMED)
    (row,) = await search(business, SITE_SEARCH_FROM_NAMES="false")
    assert row["site_search_error"] == "no web site: there is no candidate"
    assert len(candidate_domains(business.name, business.city.name, business.country.code, 2)) == 2
    (row,) = await search(business, SITE_SEARCH_MAX_CANDIDATES="1")
    assert row["website"] == business.site_url, "its first candidate is its site"


async def test_a_call_of_a_web_search_is_charged_before_it_is_made_and_refunded_if_refused(sandbox):
    variables = {"SITE_SEARCH_BRAVE_URL": sandbox.web_search_url, "SITE_SEARCH_BRAVE_CENTS_PER_CALL": "0.5"}
    for key, micros in ((sandbox.web_search.key, 5000), ("wrong", 0)):
        configured = Settings.model_validate({**sandbox.environment(), **variables, "SITE_SEARCH_BRAVE_API_KEY": key})
        web, budget = Web(configured), InMemoryCallBudget()
        asked = web_search_of(configured, web.client)
        assert asked is not None
        if micros:
            assert isinstance(await asked.find('"Nobody"', "FI", budget), list)
        else:
            with pytest.raises(ProviderRefused, match="SITE_SEARCH_BRAVE_API_KEY"):
                await asked.find('"Nobody"', "FI", budget)
        assert budget.micros == micros
        await web.close()
