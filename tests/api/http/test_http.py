"""HTTP as its standards have it: HEAD, Allow, If-Match, kinds of bodies; and problems that name the field."""

import pytest

from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

API = "/api/v3"
NOBODY = "0198c0de-0000-7000-8000-000000000001"  # an id of no row
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("path", ["places", "workflows", "exports/contacts.csv", "openapi.json"])
async def test_head_is_get_without_its_body(client, admin, tenant, path):
    await add_line(admin, tenant)
    got, head = await client.get(f"{API}/{path}"), await client.head(f"{API}/{path}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers.get("content-length") == got.headers.get("content-length")


async def test_head_has_the_authentication_and_the_problems_of_get(client):
    assert (await client.head("/health/live")).status_code == 200
    assert (await client.head(f"{API}/places/{NOBODY}")).status_code == 404
    assert (await client.head(f"{API}/places/curation")).status_code == 422  # to GET it is not an id
    del client.headers["Authorization"]
    assert (await client.head(f"{API}/places")).status_code == 401


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        (f"contacts/{NOBODY}", {"HEAD", "GET", "PATCH", "DELETE"}),
        ("contacts", {"HEAD", "GET", "POST"}),
        ("contacts/merge", {"POST", "HEAD", "GET", "PATCH", "DELETE"}),  # an id might be so called
        ("runs", {"HEAD", "GET"}),
    ],
)
async def test_405_names_every_method_of_the_path(client, path, methods):
    answer = await client.put(f"{API}/{path}", json={})
    is_problem(answer, 405)
    assert set(answer.headers["allow"].split(", ")) == methods


async def test_if_match_star_accepts_any_version(client, admin, tenant):
    contact_id = (await add_line(admin, tenant))["contacts"]
    any_tag = {"If-Match": "*"}
    changed = await client.patch(f"{API}/contacts/{contact_id}", json={"title": "CEO"}, headers=any_tag)
    assert changed.json()["title"] == "CEO"
    is_problem(await client.patch(f"{API}/contacts/{NOBODY}", json={"title": "x"}, headers=any_tag), 404)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_without_the_json_media_type_is_415(client, kind):
    headers = {"content-type": kind} if kind else {}
    problem = is_problem(await client.post(f"{API}/contacts", content=b'{"name": "x"}', headers=headers), 415)
    assert "application/json" in problem["detail"]


async def test_invalid_json_is_400(client):
    problem = is_problem(await client.post(f"{API}/contacts", content=b'{"name": ', headers=JSON), 400)
    assert problem["title"] == "The body is not valid JSON."


@pytest.mark.parametrize(
    ("path", "asked", "fields"),
    [
        ("searches", {"text": "dentists in Espoo", "provider": "nobody"}, ["body.provider"]),
        ("searches", {"text": "dentists"}, ["body.text", "body.area"]),
        ("sitemap/scan", {"base_url": "https://facebook.com/x"}, ["body.base_url"]),
        ("contacts", {"title": "x"}, ["body.email", "body.name", "body.phone", "body.address"]),
        ("contacts", {"name": "x", "page_id": NOBODY}, ["body.page_id"]),
        ("contacts/curation", {"filter": {"bogus": 1}, "curation_status": "Maybe"}, ["body.filter.bogus"]),
        ("contacts/curation", {"ids": ["x"], "curation_status": "Maybe"}, ["body.ids.0"]),
        ("dead-letters/retry", {"filter": {"bogus": 1}}, ["body.filter.bogus"]),
    ],
)
async def test_a_problem_names_the_field(client, path, asked, fields):
    problem = is_problem(await client.post(f"{API}/{path}", json=asked), 422)
    assert [one["field"] for one in problem["errors"]] == fields


async def test_a_duplicate_member_is_named(client):
    problem = is_problem(await client.post(f"{API}/contacts", content=b'{"name": "x", "name": "y"}', headers=JSON), 422)
    assert [one["field"] for one in problem["errors"]] == ["body.name"]


async def test_a_page_that_the_client_has_is_not_sent_again(client, admin, tenant):
    await add(admin, "place", tenant, provider="fake", provider_id="1", name="a")
    first = await client.get("/api/v3/places")
    again = await client.get("/api/v3/places", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    await admin.execute("UPDATE place SET name = 'b'")
    changed = await client.get("/api/v3/places", headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, changed.json()["items"][0]["name"]) == (200, "b")


async def test_large_responses_are_compressed_for_clients_that_accept_it(client):
    packed = await client.get("/api/v3/openapi.json")
    plain = await client.get("/api/v3/openapi.json", headers={"Accept-Encoding": "identity"})
    assert (packed.headers["content-encoding"], plain.headers.get("content-encoding")) == ("gzip", None)
    assert packed.json() == plain.json()
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 5
