"""The places that a name may mean, and what a geocoder that refuses or a wrong question is answered with."""

import pytest

from tests.factories.api_application import app_over, served
from tests.factories.http_server import Reply


@pytest.fixture
async def ask(database_url, nominatim):
    """Ask for areas of an application with the geocoder of the tests."""
    async with served(app_over(database_url, **nominatim)) as client:

        async def get(**query):
            return await client.get("/api/v3/areas", params=query)

        yield get


async def test_a_known_name_is_chosen(ask):
    found = (await ask(text="Turku")).json()
    assert [(item["name"], item["chosen"]) for item in found["items"]] == [("Turku", True)]
    assert found["is_ambiguous"] is False


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (Reply("<html>Access blocked", 403), 502, "set CRAWL_CONTACT_URL"),
        (Reply({"error": "Nothing to search for"}, 400), 502, "Nothing to search for"),
        (Reply({}, 429), 503, "accepts the request later"),
    ],
)
async def test_a_geocoder_that_refuses_is_no_fault_of_ours(ask, geocoder, reply, status, words):
    geocoder.replies["/search"] = [reply]
    response = await ask(text="Turku")
    assert (response.status_code, words in response.json()["detail"]) == (status, True), response.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"text": "Turku", "country": "Atlantis"}, "query.country"),
        ({"text": "Turku", "language": "?"}, "query.language"),
        ({"text": ";"}, "query.text"),
    ],
)
async def test_a_wrong_question_names_its_own_field(ask, query, field):
    response = await ask(**query)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


async def test_a_wrong_country_of_a_search_names_its_own_field(client):
    wish = {"text": "dentists", "where": {"names": ["Turku"], "country": "Atlantis"}}
    response = await client.post("/api/v3/searches", json=wish)
    assert [error["field"] for error in response.json()["errors"]] == ["body.where.country"]
