"""Searches in the console: from the form to the file, as a browser without JavaScript does it."""

import csv
import io
from typing import Any

import pytest

from scrapersky.pipeline import build_pipeline
from tests.factories.console_browser import Page
from tests.factories.line_rows import add_line


class FreeProvider:
    """A provider whose searches cost nothing; the engine of these tests does not run."""

    name = "openstreetmap"

    async def estimate(self, query):
        from scrapersky.providers.base import Estimate

        return Estimate(calls=3, cents=0, explanation="OpenStreetMap: free, about 3 requests.")


@pytest.fixture
def app(database_url):
    from scrapersky.asgi import create_app
    from tests.factories.api_application import environment

    providers: Any = {"openstreetmap": FreeProvider()}
    return create_app(environment(database_url), run_engine=False, pipeline=build_pipeline({}), providers=providers)


async def test_a_search_is_estimated_started_stopped_and_started_again(login, admin):
    browser = await login("curator")
    page = Page((await browser.get("/console/searches/new?text=dentists+in+Helsinki")).text)
    assert "about 3 requests" in page.text
    assert page.one("input", name="text")["value"] == "dentists in Helsinki"
    form = {"text": "dentists in Helsinki", "provider": "openstreetmap", "limit": "25", "pages_per_site": "3"}
    started = await browser.post("/console/searches", data=form)
    assert started.status_code == 303
    row = await admin.fetchrow("SELECT * FROM search")
    assert started.headers["location"] == f"/console/searches/{row['id']}"
    assert (row["text"], row["area"], row["result_limit"]) == ("dentists", "Helsinki", 25)
    assert '"pages_per_site": 3' in row["rules"]
    page = Page((await browser.get(started.headers["location"])).text)
    assert "under way" in page.text
    assert page.one("div", id="progress")["data-live"] == "progress"
    assert (await browser.post(f"{started.headers['location']}/cancel")).status_code == 303
    assert "The search was stopped" in (await browser.get(started.headers["location"])).text
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
    assert page.one("input", name="text")["value"] == form["text"]
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_the_numbers_of_a_search_lead_to_lists_with_as_many_rows(login, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    await admin.execute(
        "UPDATE page SET page_processing_status = 'Skipped', page_processing_error = 'asks robots not to'"
    )
    browser = await login("viewer")
    page = Page((await browser.get(f"/console/searches/{ids['searches']}")).text)
    links = [one for one in page.all("a") if one.is_in("ol") and "_status=" in one["href"]]
    assert len(links) >= 2
    for link in links:
        rows = Page((await browser.get(link["href"])).text)
        assert rows.one("p", id="count").text.split()[-1] == link.text.split()[0]
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
