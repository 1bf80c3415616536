"""Searches in the console: from the form to the file, as a browser without JavaScript does it."""

import asyncio
import csv
import io
import json
import time
from typing import Any
from uuid import UUID

import pytest

from scrapersky.console.pages.line.new_search import EXAMPLES
from scrapersky.pipeline import build_pipeline
from scrapersky.sandbox.world.world import World
from scrapersky.store.leads.filters import LEAD_FILTERS
from tests.factories.console_browser import Page
from tests.factories.http_server import Reply, ScriptedServer
from tests.factories.line_rows import add, add_line


class FreeProvider:
    """A provider whose searches cost nothing; the engine of these tests does not run."""

    name = "openstreetmap"

    async def estimate(self, query):
        from scrapersky.providers.base import Estimate

        return Estimate(calls=3, cents=0, explanation="OpenStreetMap: free, about 3 requests.")


@pytest.fixture
async def geocoder():
    """A map that knows no name, until a test says otherwise."""
    async with ScriptedServer() as server:
        server.replies["/search"] = [Reply([])]
        yield server


@pytest.fixture
def app(database_url, geocoder):
    from scrapersky.asgi import create_app
    from tests.factories.api_application import environment

    providers: Any = {"openstreetmap": FreeProvider()}
    variables = {
        "PROVIDER_NOMINATIM_URL": geocoder.url,
        "PROVIDER_NOMINATIM_DELAY_SECONDS": "0",
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{geocoder.port}",
    }
    known = environment(database_url, **variables)
    return create_app(known, run_engine=False, pipeline=build_pipeline({}), providers=providers)


async def test_a_search_is_estimated_started_stopped_and_started_again(login, admin):
    browser = await login("curator")
    page = Page((await browser.get("/console/searches/new?text=dentists+in+Helsinki")).text)
    assert "about 3 requests" in page.text
    assert page.one("textarea", name="text").text == "dentists in Helsinki"
    form = {"text": "dentists in Helsinki", "provider": "openstreetmap", "limit": "25", "pages_per_site": "3"}
    started = await browser.post("/console/searches", data=form)
    assert started.status_code == 303
    row = await admin.fetchrow("SELECT * FROM search")
    assert started.headers["location"] == f"/console/searches/{row['id']}"
    assert (row["text"], row["area"], row["result_limit"]) == ("dentists", "Helsinki", 25)
    assert '"pages_per_site": 3' in row["rules"]
    asked_again = Page((await browser.get("/console/searches/new?text=Dentists+in+helsinki&limit=25")).text)
    assert "This search exists." in asked_again.text
    page = Page((await browser.get(started.headers["location"])).text)
    assert "under way" in page.text
    assert page.one("div", id="progress")["data-live"] == "progress"
    assert (await browser.post(f"{started.headers['location']}/cancel", data={"back": ""})).status_code == 303
    assert "The search was stopped" in (await browser.get(started.headers["location"])).text
    assert '"pages_per_site": 5' in await admin.fetchval("SELECT rules FROM search")
    page = Page((await browser.get("/console/searches")).text)
    go_on = page.one("form", action=f"{started.headers['location']}/change")
    assert (await browser.post(go_on["action"], data={"back": "/console/searches"})).status_code == 303
    assert '"pages_per_site": 3' in await admin.fetchval("SELECT rules FROM search")  # as before it was stopped
    again = await browser.post("/console/searches", data=form)
    assert again.headers["location"] == started.headers["location"]
    assert "This search was known" in (await browser.get(again.headers["location"])).text
    listed = Page((await browser.get("/console/searches")).text)
    assert listed.all("a", href=started.headers["location"])


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"text": ""}, "text"),
        ({"text": "dentists"}, "The area is missing"),
        ({"text": "dentists near me"}, "It is unknown where you are"),
        ({"text": "dentists in Helsinki", "limit": "many"}, "limit"),
        ({"text": "dentists in Helsinki", "budget": "-1"}, "budget"),
        ({"text": "dentists in Helsinki", "provider": "nobody"}, "nobody"),
    ],
)
async def test_a_wrong_form_says_what_is_wrong_and_keeps_the_input(login, admin, form, sentence):
    browser = await login("curator")
    answer = await browser.post("/console/searches", data=form)
    assert 400 <= answer.status_code < 500
    page = Page(answer.text)
    assert sentence in page.one("p", role="alert").text
    assert "--" not in page.one("main").text  # no option of a command
    assert page.one("textarea", name="text").text == form["text"]
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_the_numbers_of_a_search_lead_to_lists_with_as_many_rows(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    await admin.execute(
        "UPDATE page SET page_processing_status = 'Skipped', page_processing_error = 'asks robots not to'"
    )
    merged = await add(
        admin, "contact", tenant, domain_id=UUID(ids["domains"]), email="twice@molar.fi", identity="twice@molar.fi",
        merged_into_id=UUID(ids["contacts"]), curation_status="Archived", contact_verification_status="Completed",
    )  # fmt: skip
    browser = await login("viewer")
    path = f"/console/searches/{ids['searches']}"
    page = Page((await browser.get(path)).text)
    links = [one for one in page.all("a") if one.is_in("tbody") and "_status=" in one["href"]]
    assert len(links) >= 2
    for link in links:
        rows = Page((await browser.get(link["href"])).text)
        assert rows.one("p", id="count").text.split()[-1] == link.text.split()[0]
    for tab in ("contacts", "businesses"):
        rows = Page((await browser.get(f"{path}?tab={tab}")).text)
        [link] = rows.all("a", href=f"{path}?tab={tab}", aria_current="true")
        shown = [one["href"] for one in rows.all("a") if one.is_in("form") and "data-open" in one.attributes]
        assert (link.text.split()[-1], len(shown)) == ("1", 1)
        assert f"/console/contacts/{merged}" not in shown
    menu = Page((await browser.get(f"/console/contacts?search_id={ids['searches']}&menu=curation_status")).text)
    archived = next(one for one in menu.all("a") if "curation_status=Archived" in one["href"])
    assert archived.text.split() == ["Archived", "0"]
    assert "asks robots not to" in page.text


async def test_the_files_of_a_search_are_those_of_the_api(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("viewer")
    page = Page((await browser.get(f"/console/searches/{ids['searches']}")).text)
    files = [one["href"] for one in page.all("a") if "/leads." in one["href"]]
    assert len(files) == 4
    for path in files:
        answer = await browser.get(path)
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO((await browser.get(files[3])).text.lstrip("\ufeff"))))
    assert [row["email"] for row in rows] == ["anna@molar.fi"]


async def test_the_first_page_is_a_new_search_while_there_is_none(login, admin, tenant):
    curator, viewer = await login("curator"), await login("viewer")
    assert (await curator.get("/console")).headers["location"] == "/console/searches/new"
    assert (await viewer.get("/console")).headers["location"] == "/console/line"
    await add_line(admin, tenant)
    assert (await curator.get("/console")).headers["location"] == "/console/line"


async def test_several_lines_are_a_campaign_with_one_page_and_one_file(login, admin):
    browser = await login("curator")
    lines = "dentists in Helsinki\n\n bakers in Turku \ndentists in Helsinki"
    page = Page((await browser.get("/console/searches/new", params={"text": lines})).text)
    assert "2 searches as one campaign" in page.one("div", class_="estimate").text
    started = await browser.post("/console/searches", data={"text": lines, "budget": "3"})
    path = started.headers["location"]
    assert await admin.fetchval("SELECT count(*) FROM search WHERE campaign_id IS NOT NULL") == 2
    page = Page((await browser.get(path)).text)
    assert page.one("h1").text == "2 searches (bakers in Turku; dentists in Helsinki)"
    [waiting] = [one for one in page.all("a") if one.text == "2 waiting"][:1]
    listed = Page((await browser.get(waiting["href"])).text)
    names = {one.text for one in listed.all("a") if "data-open" in one.attributes}
    assert names == {"bakers in Turku", "dentists in Helsinki"}
    members = Page((await browser.get(f"{path}?tab=searches")).text)
    assert len([one for one in members.all("a") if "data-open" in one.attributes]) == 2
    line = Page((await browser.get("/console/line")).text)
    assert [one["href"] for one in line.all("a", class_="name")] == [path]  # the campaign stands for its searches
    assert (await browser.post(f"{path}/rename", data={"name": "Finland"})).status_code == 303
    assert Page((await browser.get(path)).text).one("h1").text == "Finland"
    campaigns = Page((await browser.get("/console/searches?provider=campaign")).text)
    assert [one.text for one in campaigns.all("a") if "data-open" in one.attributes] == ["Finland"]
    assert (await browser.post(f"{path}/cancel")).status_code == 303
    assert await admin.fetchval("SELECT count(*) FROM search WHERE place_search_status = 'Queued'") == 0
    assert (await browser.post(f"{path}/change", data={"budget": "9"})).status_code == 303
    assert await admin.fetchval("SELECT budget_cents FROM search WHERE provider = 'campaign'") == 900
    assert await admin.fetchval("SELECT count(*) FROM search WHERE place_search_status = 'Queued'") == 2
    assert (await browser.get(f"{path}/leads.csv?per=contact")).status_code == 200
    again = await browser.post("/console/searches", data={"text": "bakers in Turku\ndentists in Helsinki"})
    assert again.headers["location"] == path
    assert "This campaign was known" in (await browser.get(path)).text


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"text": "dentists in Helsinki\nhotels"}, "1 line cannot be read: hotels: The area is missing"),
        ({"text": "a in b\n" * 2_001}, "2,001 lines are too many"),
        ({"text": "dentists in Helsinki\nhotels in Oulu", "near": "60.1,24.9"}, "are for one line"),
        ({"text": "dentists in Helsinki\nhotels in Oulu", "provider": "nobody"}, "nobody"),
    ],
)
async def test_a_campaign_with_a_wrong_line_starts_nothing_and_keeps_the_lines(login, admin, form, sentence):
    browser = await login("curator")
    answer = await browser.post("/console/searches", data=form)
    assert 400 <= answer.status_code < 500
    page = Page(answer.text)
    assert sentence in page.one("p", role="alert").text
    assert page.one("textarea", name="text").text == form["text"].strip()
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


@pytest.mark.parametrize(
    ("form", "area"),
    [
        ({"area": "Turku; Oulu"}, "Turku; Oulu"),
        ({"near": "60.17,24.94", "radius": "2 km"}, "a circle of 2 km around 60.17, 24.94"),
        ({"box": "60.15, 24.9, 60.2, 25"}, "the box from 60.15, 24.9 to 60.2, 25"),
    ],
)
async def test_where_exactly_is_part_of_the_search(login, admin, form, area):
    browser = await login("curator")
    started = await browser.post("/console/searches", data={"text": "dentists", **form})
    assert started.status_code == 303, started.text
    row = await admin.fetchrow("SELECT text, area, area_request FROM search")
    assert (row["text"], row["area"]) == ("dentists", area)
    assert row["area_request"]


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"near": "60.17,24.94", "radius": "wide"}, "is not a radius"),
        ({"box": "60,x,1,2"}, "A box is four numbers"),
        ({"polygon": "{"}, "The polygon is not JSON"),
        ({"polygon": '{"type": "Point"}'}, "olygon"),
        ({"area": "Turku", "box": "60.15,24.9,60.2,25"}, "one of these only"),
        ({"area": "Turku", "country": "Atlantis"}, "Atlantis"),
        ({"radius": "5 km"}, 'give "near", too'),
    ],
)
async def test_a_wrong_place_says_what_is_wrong_and_keeps_the_input(login, admin, form, sentence):
    browser = await login("curator")
    answer = await browser.post("/console/searches", data={"text": "dentists", **form})
    page = Page(answer.text)
    assert (answer.status_code, sentence in page.one("p", role="alert").text) == (422, True), page.text
    assert "--" not in page.one("main").text  # no option of a command
    kept = {one["name"]: one.get("value") for one in page.all("input") if one.get("name") in form}
    kept |= {one["name"]: one.text for one in page.all("textarea") if one["name"] in form}
    assert kept == form
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_a_name_of_several_places_is_asked_back(login, admin, geocoder):
    town = {"osm_type": "relation", "name": "Springfield", "category": "boundary", "addresstype": "city"}
    edges = {1: ["39.7", "39.9", "-89.8", "-89.5"], 2: ["37.1", "37.3", "-93.4", "-93.2"]}
    states = {1: "Illinois", 2: "Missouri"}
    geocoder.replies["/search"] = [
        Reply(
            [
                {
                    **town,
                    "osm_id": number,
                    "boundingbox": edges[number],
                    "importance": 0.6,
                    "address": {
                        "city": "Springfield",
                        "state": state,
                        "country": "United States",
                        "country_code": "us",
                    },
                }
                for number, state in states.items()
            ]
        )
    ]
    browser = await login("curator")
    asked = await browser.post("/console/searches", data={"text": "dentists in Springfield", "limit": "7"})
    page = Page(asked.text)
    assert (asked.status_code, await admin.fetchval("SELECT count(*) FROM search")) == (422, 0)
    places = page.all("button", name="place")
    assert [one["value"] for one in places] == [f"Springfield, {state}, United States" for state in states.values()]
    assert (page.one("textarea", name="text").text, page.one("input", id="area")["value"]) == (
        "dentists",
        "Springfield",
    )
    form = {"text": "dentists", "area": "Springfield", "limit": "7", "place": places[1]["value"]}
    started = await browser.post("/console/searches", data=form)
    assert started.status_code == 303, started.text
    row = await admin.fetchrow("SELECT text, area, result_limit FROM search")
    assert tuple(row) == ("dentists", "Springfield, Missouri, United States", 7)


async def test_the_form_of_a_file_has_every_filter_of_leads(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("viewer")
    path = f"/console/searches/{ids['searches']}"
    page = Page((await browser.get(f"{path}?tab=files")).text)
    fields = {one["name"] for one in [*page.all("select"), *page.all("input")] if "lead-" in (one.get("id") or "")}
    assert fields == set(LEAD_FILTERS)

    async def emails(**query):
        answer = await browser.get(f"{path}/leads.csv", params={"per": "contact", **query})
        assert answer.status_code == 200, answer.text
        return [row["email"] for row in csv.DictReader(io.StringIO(answer.text.lstrip("\ufeff")))]

    empty = dict.fromkeys(LEAD_FILTERS, "")  # as a browser sends the fields that are left empty
    assert await emails(**empty) == ["anna@molar.fi"]
    assert await emails(**empty | {"has_email": "false"}) == []
    assert await emails(found_since="2000-01-31") == ["anna@molar.fi"]
    assert await emails(verdict=["deliverable", "risky"], exported="true") == []
    wrong = await browser.get(f"{path}/leads.csv?min_rating=many")
    assert (wrong.status_code, "rating" in wrong.text) == (422, True)


async def test_rules_and_budget_of_a_search_can_be_changed(login, admin):
    browser = await login("curator")
    form = {"text": "dentists in Helsinki", "deep_scan": "off", "page_curation": "all"}
    path = (await browser.post("/console/searches", data=form)).headers["location"]
    page = Page((await browser.get(path)).text)
    assert "you choose: places whose details are read" in page.text
    assert "by curator of default" in page.text
    page = Page((await browser.get(f"{path}/change")).text)
    chosen = {
        one.within["name"] for one in page.all("option", value="off") if one.within and "selected" in one.attributes
    }
    assert chosen == {"deep_scan", "permanently_closed"}
    wrong = await browser.post(f"{path}/change", data={"budget": "much"})
    assert (wrong.status_code, "amount of money" in wrong.text) == (422, True)
    wrong = await browser.post(f"{path}/change", data={"deep_scan": "some", "budget": "3"})
    assert (wrong.status_code, 'value="3"' in wrong.text) == (422, True)
    assert (await browser.post(f"{path}/change", data={"deep_scan": "all", "budget": "3"})).status_code == 303
    row = await admin.fetchrow("SELECT rules::jsonb ->> 'deep_scan' AS rule, budget_cents FROM search")
    assert tuple(row) == ("all", 300)


async def add_bare_contact(admin, tenant, domain):
    """Add a profile without a name or an address."""
    profile = {"identity": "social:https://x.example/molar", "profiles": json.dumps({"x": "https://x.example/molar"})}
    await add(admin, "contact", tenant, domain_id=UUID(domain), **profile)


async def test_files_name_what_they_leave_out_and_why(login, admin, tenant):
    ids = await add_line(admin, tenant)
    viewer = await login("viewer")
    assert "Nothing is left out" in (await viewer.get(f"/console/searches/{ids['searches']}?tab=files")).text
    await admin.execute("UPDATE contact SET curation_status = 'Not a Fit'")
    await admin.execute("DELETE FROM search_progress")
    page = Page((await viewer.get(f"/console/searches/{ids['searches']}?tab=files")).text)
    assert "Left out: 1 turned down (Not a Fit or Archived)" in page.text
    await add_bare_contact(admin, tenant, ids["domains"])
    await admin.execute("DELETE FROM search_progress")
    page = Page((await viewer.get(f"/console/searches/{ids['searches']}?tab=files")).text)
    fact, _ = [one for one in page.all("a") if "1 bare number, profile or postal address" in one.text]
    assert "1–1 of 1" in Page((await viewer.get(fact["href"])).text).text


async def test_the_contacts_of_a_search_are_delivered_as_they_were_shown(login, admin, tenant):
    ids = await add_line(admin, tenant)
    operator = await login("operator")
    path = f"/console/searches/{ids['searches']}/deliver"
    assert "There is no destination yet" in (await operator.get(path)).text
    destination = await add(admin, "destination", tenant, name="crm", kind="webhook", url="https://x.example")
    await add_bare_contact(admin, tenant, ids["domains"])
    page = Page((await operator.get(path)).text)
    assert page.one("h1").text == "Deliver 1 contact"
    assert "1 has neither an email address nor a phone number." in page.text
    fields = {one["name"]: one["value"] for one in page.all("input") if one.get("name") in ("expected", "as_of")}
    assert (await operator.post(path, data={**fields, "destination_id": "no"})).status_code == 400
    sent = await operator.post(path, data={**fields, "destination_id": destination})
    assert sent.status_code == 303
    assert "1 contact is queued." in (await operator.get(sent.headers["location"])).text
    assert await admin.fetchval("SELECT count(*) FROM delivery") == 1
    changed = await operator.post(path, data={**fields, "expected": "40", "destination_id": destination})
    assert (changed.status_code, "were shown" in changed.text) == (409, True)


async def test_fifty_watchers_of_one_search_cost_one_snapshot_a_second_at_most(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute(
        "UPDATE search SET place_search_status = 'Queued', place_search_due_at = now() + '1 day'::interval"
    )
    await admin.execute("CREATE TABLE counted (at timestamptz NOT NULL)")
    await admin.execute(
        "CREATE FUNCTION note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "$$BEGIN INSERT INTO counted VALUES (clock_timestamp()); RETURN NULL; END$$"
    )
    await admin.execute(
        "CREATE TRIGGER note AFTER INSERT OR UPDATE ON search_progress FOR EACH ROW EXECUTE FUNCTION note()"
    )
    browser = await login("viewer")
    path, part = f"/console/searches/{ids['searches']}", {"Console-Part": "progress"}
    began = time.monotonic()
    for _ in range(4):
        answers = await asyncio.gather(*(browser.get(path, headers=part) for _ in range(50)))
        assert {answer.status_code for answer in answers} == {200}
    assert len({answer.headers["etag"] for answer in answers}) == 1
    same = await browser.get(path, headers={**part, "If-None-Match": answers[0].headers["etag"]})
    assert same.status_code in (200, 304)
    assert 1 <= await admin.fetchval("SELECT count(*) FROM counted") <= time.monotonic() - began + 1


def test_the_sandbox_has_businesses_for_every_example_of_a_new_search():
    seats = {(seat.trade.name, seat.city.name) for seat in World(7, 400).seats()}  # those of `scrapersky demo`
    assert {tuple(one.replace("s in ", " in ").split(" in ")) for one in EXAMPLES} <= seats


async def test_a_search_that_found_nothing_says_why_once_and_offers_to_change_it(login, admin, tenant):
    search = await add(
        admin, "search", tenant, text="hotels", area="Oulu", provider="openstreetmap", place_search_status="Completed"
    )
    for role, buttons in (("curator", 1), ("viewer", 0)):
        browser = await login(role)
        page = Page((await browser.get(f"/console/searches/{search}")).text)
        assert "OpenStreetMap has no place for “hotels” in Oulu." in page.text
        assert "nothing yet" not in page.text
        offered = [one["href"] for one in page.all("a", class_="button primary") if "text=" in one["href"]]
        assert offered == ["/console/searches/new?text=hotels+in+Oulu"] * buttons
    await admin.execute("UPDATE search SET place_search_status = 'Error', place_search_error = 'no answer in 5 s'")
    await admin.execute("DELETE FROM search_progress")
    page = Page((await browser.get(f"/console/searches/{search}")).text)
    assert "Nothing was found: no answer in 5 s" in page.text


async def test_a_search_says_which_step_stands_still_and_why(login, admin, tenant, app):
    ids = await add_line(admin, tenant)
    path = f"/console/searches/{ids['searches']}"
    await admin.execute("UPDATE sitemap_file SET sitemap_import_status = 'Queued'")
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    browser = await login("viewer")
    held = Page((await browser.get(path)).text).one("div", class_="held").text
    assert "lists of pages waits for a worker: none runs" in held
    assert "places waits" not in held  # it has nothing to do
    await admin.execute("INSERT INTO worker (id, host, pid, version) VALUES (gen_random_uuid(), 'one', 1, '1')")
    await admin.execute(
        "INSERT INTO workflow_control (workflow, paused_at, paused_by, pause_reason) "
        "VALUES ('sitemap_import', now(), 'ada', 'until the morning'), ('deep_scan', now(), 'ada', NULL) "
        "ON CONFLICT (workflow) DO UPDATE SET paused_at = now(), paused_by = 'ada', "
        "pause_reason = excluded.pause_reason"
    )
    app.state.fresh.clear()
    page = Page((await browser.get(path)).text)
    assert (
        " ".join(page.one("div", class_="held").text.split()) == "lists of pages was paused by ada: until the morning"
    )
    assert "left" not in page.one("p", class_="now").text
    await admin.execute("UPDATE workflow_control SET paused_at = NULL")
    app.state.fresh.clear()
    assert "was paused" not in (await browser.get(path)).text


async def test_the_latest_contact_of_a_search_shows_the_sentence_it_stood_in(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("viewer")
    path = f"/console/searches/{ids['searches']}"
    assert not Page((await browser.get(path)).text).all("p", class_="latest")
    await admin.execute(
        "UPDATE contact SET snippet = 'Anna Molar <b>leads</b> us', source_url = 'https://molar.fi/contact'"
    )
    latest = Page((await browser.get(path)).text).one("p", class_="latest")
    assert " ".join(latest.text.split()) == "latest Anna Molar “Anna Molar <b>leads</b> us” molar.fi/contact"


async def test_the_places_of_a_campaign_are_a_list_in_files_too(login, admin):
    browser = await login("curator")
    await browser.post("/console/searches", data={"text": "dentists in Helsinki\nbakers in Turku"})
    page = Page((await browser.get("/console/files")).text)
    [row] = [one for one in page.all("tr") if "2 searches" in one.text]
    [places] = [one for one in page.all("a") if one.is_in("td") and one.text == "list"]
    assert places["href"].startswith("/console/places?search_id=")
    assert row.text.split()[:2] == ["2", "searches"]
