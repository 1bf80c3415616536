"""A query is read whole or refused: fields that nobody knows, fields said twice, words of no vocabulary."""

import pytest

from tests.factories.api_application import is_problem

API = "/api/v3"
NOBODY = "0198c0de-0000-7000-8000-000000000001"  # an id of no row
LISTS = ("searches", "places", "businesses", "domains", "sitemaps", "pages", "contacts", "jobs", "suppressions")
OTHERS = (
    "runs",
    "dead-letters",
    "workflows",
    "workflows/packing",
    "workflows/packing/items",
    "contacts/duplicates",
    f"searches/{NOBODY}/results",
    f"places/{NOBODY}",
    "audit",
    "users",
    "quotas",
    "auth/me",
    "exports/contacts.csv",
    "openapi.json",
)


@pytest.mark.parametrize("path", [*LISTS, *OTHERS])
async def test_an_unknown_query_field_is_refused(client, path):
    problem = is_problem(await client.get(f"{API}/{path}", params={"bogus": "1"}), 422)
    assert problem["errors"][0]["field"] == "query.bogus"
    assert "is not a field of this query" in problem["errors"][0]["message"]


async def test_an_unknown_query_field_of_a_changing_request_is_refused(client):
    asked = {"ids": [NOBODY], "curation_status": "Maybe"}
    problem = is_problem(await client.post(f"{API}/places/curation", params={"x": "1"}, json=asked), 422)
    assert problem["errors"] == [
        {"field": "query.x", "message": "is not a field of this query; the query has no fields"}
    ]


@pytest.mark.parametrize(
    ("path", "name", "values"),
    [("places", "text", ["a", "b"]), ("runs", "limit", ["1", "2"]), ("pages", "sort", ["id"] * 2)],
)
async def test_a_repeated_query_field_is_refused(client, path, name, values):
    problem = is_problem(await client.get(f"{API}/{path}", params={name: values}), 422)
    assert problem["errors"] == [{"field": f"query.{name}", "message": "must be given once"}]


@pytest.mark.parametrize(
    ("path", "name", "a_word"),
    [
        ("jobs", "state", "cancelled"),
        ("jobs", "kind", "sitemap_scan"),
        ("pages", "kind", "imprint"),
        ("sitemaps", "kind", "urlset"),
        ("contacts", "email_kind", "free-mail"),
        ("suppressions", "origin", "erasure"),
    ],
)
async def test_an_unknown_word_is_refused_with_the_allowed_words(client, path, name, a_word):
    problem = is_problem(await client.get(f"{API}/{path}", params={name: "zzz"}), 422)
    assert problem["errors"][0]["field"] == f"query.{name}.0"
    assert a_word in problem["errors"][0]["message"]
    assert (await client.get(f"{API}/{path}", params={name: a_word})).status_code == 200


@pytest.mark.parametrize("path", ["places", "runs", "dead-letters", "workflows/packing/items", "audit"])
async def test_an_empty_cursor_is_refused(client, path):
    problem = is_problem(await client.get(f"{API}/{path}", params={"cursor": ""}), 422)
    assert problem["errors"][0]["field"] == "query.cursor"


async def test_without_a_credential_fields_are_not_validated(client, app):
    del client.headers["Authorization"]
    is_problem(await client.get(f"{API}/places", params={"bogus": "1"}), 401)


async def test_a_probe_may_send_any_query(client):
    assert (await client.get("/health/live", params={"at": "1"})).status_code == 200
