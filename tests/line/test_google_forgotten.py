"""What came from Google is forgotten in time, wherever it went; what we read ourselves and what people wrote stays."""

import csv
from uuid import UUID

import pytest

from scrapersky.actions.searches.request_search import request_search
from scrapersky.core.vocabularies import EXPIRED_NAME
from scrapersky.destinations.files.lead_file import LeadFile
from scrapersky.engine.loop import run_job_loop
from scrapersky.maintenance.expire_provider_data import ExpireProviderData
from scrapersky.providers.areas.where import Where
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import Position, columns_of, leads, page
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import AdvanceRules
from tests.conftest import processors_of
from tests.factories.dump import dump

PLACES = 20
LINKS = """
SELECT b.id AS business, d.id AS domain, d.name FROM business_domain l
JOIN local_business b ON b.id = l.business_id JOIN domain d ON d.id = l.domain_id ORDER BY d.name"""


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=7, businesses=300) as little_internet:
        yield little_internet


async def run(application, *steps: str) -> None:
    processors = processors_of(application.pipeline, application.database, application.settings)
    for step in steps:
        await run_job_loop(processors[step])


@pytest.fixture
async def found(application, admin, tenant) -> UUID:
    """A search whose places went through the line until their domains, with a contact of our own reading on each."""
    wish = SearchRequest("dentists", Where.of("Helsinki"), "google_places", PLACES, None, AdvanceRules())
    async with application.database.session(tenant) as session:
        search, *_ = await request_search(session, Actor("ada", tenant, "operator", "test"), wish)
    await run(application, "place_search", "deep_scan", "domain_extraction")
    for row in await admin.fetch(LINKS):
        await admin.execute(
            "INSERT INTO contact "
            "(tenant_id, domain_id, business_id, identity, email, phone, name, found_by, source_url) "
            "VALUES ($1, $2, $3, 'x', 'ada@' || $4::text, '+35840111222', 'Ada Lovelace', 'text', "
            "'https://crawled.' || $4)",
            *(tenant, row["domain"], row["business"], row["name"]),
        )
    await admin.execute("UPDATE domain SET final_url = 'https://crawled.' || name || '/', title = 'As its page says'")
    await admin.execute("UPDATE local_business SET curation_status = 'Selected', priority = 3")
    return search.id


CRAWLED = (
    "SELECT email, phone, name, business_id FROM contact WHERE found_by IS DISTINCT FROM 'provider' ORDER BY email"
)


async def pass_days(application, admin, days: int) -> None:
    """The clock is moved by moving what was written by it; then the task runs as it does every hour."""
    await admin.execute("UPDATE place SET fetched_at = fetched_at - $1 * interval '1 day'", days)
    await admin.execute("UPDATE place SET expires_at = expires_at - $1 * interval '1 day'", days)
    await admin.execute("UPDATE search_journal SET stored_at = stored_at - $1 * interval '1 day'", days)
    async with application.database.engine_connection() as connection:
        await ExpireProviderData().run(connection)


async def told_by_google(admin) -> set[str]:
    """What must not be kept: names, addresses, numbers, exact addresses of sites and of the map, coordinates."""
    told: set[str] = set()
    for row in await admin.fetch(
        "SELECT name, address, phone, website, latitude::text, longitude::text, details #>> '{extra,google_maps_uri}' "
        "FROM place"
    ):
        told |= {value.lower() for value in row.values() if value}
    return told


async def test_a_month_later_nothing_of_google_is_left_but_the_ids(application, admin, found):
    ids = [row["provider_id"] for row in await admin.fetch("SELECT provider_id FROM place")]
    told = await told_by_google(admin)
    before = await dump(admin)
    assert len(ids) == PLACES
    assert len(told) > 5 * PLACES
    assert all(word in before for word in told), "or this proves nothing"

    await pass_days(application, admin, 29)
    assert await admin.fetchval("SELECT count(*) FROM search_journal") == 0, "of a journal a day is enough"
    kept = await dump(admin)
    assert all(word in kept for word in told), "as long as the terms allow"

    await pass_days(application, admin, 2)
    after = await dump(admin)
    assert [word for word in told if word in after] == []
    assert all(one.lower() in after for one in ids), "the ids stay for ever"
    assert await admin.fetchval("SELECT count(*) FROM place WHERE latitude IS NOT NULL OR details IS NOT NULL") == 0


async def test_what_our_crawler_read_and_what_people_wrote_stays(application, admin, found):
    of_google = "SELECT count(*) FROM contact WHERE found_by = 'provider'"
    assert await admin.fetchval(of_google) > 0
    contacts = await admin.fetch(CRAWLED)
    domains = await admin.fetch("SELECT name, final_url, title FROM domain ORDER BY name")
    await pass_days(application, admin, 31)
    assert await admin.fetch(CRAWLED) == contacts
    assert await admin.fetchval(of_google) == 0, "numbers that Google named"
    assert await admin.fetch("SELECT name, final_url, title FROM domain ORDER BY name") == domains
    assert await admin.fetchval("SELECT count(*) FROM business_domain") == len(domains) > 5
    chosen = await admin.fetch("SELECT DISTINCT curation_status, priority, name, phone, country FROM local_business")
    assert [tuple(row) for row in chosen] == [("Selected", 3, EXPIRED_NAME, None, None)]
    assert await admin.fetchval("SELECT count(*) FROM domain WHERE start_url <> final_url") == 0


async def test_results_and_files_of_a_search_work_without_what_was_forgotten(
    application, admin, tenant, found, tmp_path
):
    await pass_days(application, admin, 31)
    async with application.database.session(tenant) as session:
        with LeadFile(tmp_path / "leads.csv", list(columns_of("business"))) as file:
            written = await file.write(leads(session, found, "business"))
        shown = await page(session, found, "contact", Position(), 100)
    with (tmp_path / "leads.csv").open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert written == len(rows) == PLACES
    with_site = [row for row in rows if row["domain"]]
    assert len(shown) == len(with_site) > 5
    assert {row["email"] for row in with_site} == {f"ada@{row['domain']}" for row in with_site}
    assert {row["phone"] for row in with_site} == {"+358 40 111222"}
    assert all(row["website"] == f"https://crawled.{row['domain']}/" for row in with_site)
    assert all(row["provider"].startswith("google_places:") for row in rows)
    assert {row["business"] for row in with_site} == {"As its page says"}, "its own name for itself is nobody else's"
    assert {row["business"] for row in rows if not row["domain"]} == {EXPIRED_NAME}


async def test_what_is_asked_again_is_forgotten_again(application, admin, tenant, found, sandbox):
    await pass_days(application, admin, 31)
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued'")
    await run(application, "deep_scan")
    assert sandbox.google.calls["details"] == PLACES
    row = await admin.fetchrow(
        "SELECT count(*) FILTER (WHERE p.name = $1), min(p.expires_at - now()), count(p.details), "
        "count(*) FILTER (WHERE b.name = $1 OR b.expired_at IS NOT NULL) "
        "FROM place p JOIN local_business b ON b.place_id = p.id",
        EXPIRED_NAME,
    )
    assert (row[0], row[2], row[3]) == (0, PLACES, 0)
    assert row[1].days == 29, "thirty days from now on"
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued'")
    await run(application, "deep_scan")
    assert sandbox.google.calls["details"] == PLACES, "what was just asked is fresh"
    await pass_days(application, admin, 31)
    assert await admin.fetchval("SELECT count(*) FROM local_business WHERE name <> $1", EXPIRED_NAME) == 0


async def test_places_that_may_be_kept_stay_as_they_are(application, admin, found):
    await admin.execute("UPDATE place SET expires_at = NULL")
    await admin.execute("DELETE FROM search_journal")
    before = await dump(admin)
    await pass_days(application, admin, 400)
    await admin.execute("UPDATE place SET fetched_at = fetched_at + interval '400 days'")
    assert sorted((await dump(admin)).splitlines()) == sorted(before.splitlines())
