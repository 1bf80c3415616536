"""Saved views: one's own and shared ones, checked against the list they belong to."""

import pytest

from scrapersky.asgi import create_app
from tests.factories.api_application import environment, is_problem

VIEWS = "/api/v3/views"


@pytest.fixture
def app(database_url):
    return create_app(environment(database_url), run_engine=False)


async def test_a_view_is_saved_replaced_listed_and_deleted(client):
    body = {"noun": "contacts", "name": "To write", "query": "curation_status=New&curation_status=Maybe&sort=name"}
    made = (await client.post(VIEWS, json=body)).json()
    again = (await client.post(VIEWS, json={**body, "query": "verdict=risky", "shared": True})).json()
    assert again["id"] == made["id"]
    await client.post(VIEWS, json={"noun": "places", "name": "All", "query": ""})
    found = (await client.get(VIEWS, params={"noun": "contacts"})).json()["items"]
    assert [(one["name"], one["query"], one["shared"]) for one in found] == [("To write", "verdict=risky", True)]
    assert len((await client.get(VIEWS)).json()["items"]) == 2
    assert (await client.delete(f"{VIEWS}/{made['id']}")).status_code == 204
    is_problem(await client.delete(f"{VIEWS}/{made['id']}"), 404)


async def test_views_for_all_are_made_and_deleted_by_curators(client, key_for):
    viewer = {"Authorization": f"Bearer {await key_for('viewer')}"}
    curator = {"Authorization": f"Bearer {await key_for('curator')}"}
    body = {"noun": "contacts", "name": "mine", "query": "verdict=risky"}
    is_problem(await client.post(VIEWS, json={**body, "shared": True}, headers=viewer), 403)
    mine = (await client.post(VIEWS, json=body, headers=viewer)).json()
    shared = (await client.post(VIEWS, json={**body, "name": "ours", "shared": True}, headers=curator)).json()
    seen = {one["name"] for one in (await client.get(VIEWS, headers=viewer)).json()["items"]}
    assert seen == {"mine", "ours"}
    assert {one["name"] for one in (await client.get(VIEWS, headers=curator)).json()["items"]} == {"ours"}
    is_problem(await client.delete(f"{VIEWS}/{mine['id']}", headers=curator), 404)
    is_problem(await client.delete(f"{VIEWS}/{shared['id']}", headers=viewer), 404)
    assert (await client.delete(f"{VIEWS}/{shared['id']}")).status_code == 204  # an admin is a curator


@pytest.mark.parametrize("query", ["nothing=1", "verdict=blue", "sort=email_kind", "cursor=x", "min_rating=4"])
async def test_a_view_that_its_list_cannot_show_is_refused(client, query):
    is_problem(await client.post(VIEWS, json={"noun": "contacts", "name": "x", "query": query}), 422)
