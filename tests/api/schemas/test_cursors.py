"""A cursor goes on with the list it is from, with the same filters and order, or is refused."""

import pytest

from scrapersky.api.schemas import cursors
from tests.factories.api_application import SECRET, add_dead, app_over, is_problem, served
from tests.factories.line_rows import add

API = "/api/v3"


@pytest.fixture
async def cursor(client, admin, tenant):
    for number in range(3):
        await add(admin, "place", tenant, provider="fake", provider_id=str(number), name=f"Place {number}")
    page = (await client.get(f"{API}/places", params={"curation_status": "New", "limit": 1})).json()
    return page["next_cursor"]


@pytest.mark.parametrize(
    "asked", [{}, {"curation_status": "Maybe"}, {"curation_status": "New", "provider": "fake"}, {"provider": "fake"}]
)
async def test_a_cursor_is_refused_with_other_filters(client, cursor, asked):
    problem = is_problem(await client.get(f"{API}/places", params={"cursor": cursor, **asked}), 400)
    assert "with the same filters" in problem["detail"]


async def test_a_cursor_that_was_altered_is_refused(client, cursor):
    for place, letter in enumerate(cursor):
        altered = cursor[:place] + ("A" if letter != "A" else "B") + cursor[place + 1 :]
        is_problem(await client.get(f"{API}/places", params={"cursor": altered, "curation_status": "New"}), 400)


async def test_a_cursor_is_valid_on_another_host_and_not_in_another_installation(database_url, cursor):
    asked = {"cursor": cursor, "curation_status": "New"}
    async with served(app_over(database_url)) as elsewhere:
        assert (await elsewhere.get(f"{API}/places", params=asked)).status_code == 200
    async with served(app_over(database_url, SCRAPERSKY_SECRET_KEY=SECRET[::-1])) as foreign:
        is_problem(await foreign.get(f"{API}/places", params=asked), 400)


async def test_a_cursor_is_refused_with_another_sort(client, cursor):
    asked = {"cursor": cursor, "curation_status": "New", "sort": "name"}
    is_problem(await client.get(f"{API}/places", params=asked), 400)


async def test_a_cursor_is_accepted_with_another_limit(client, cursor):
    asked = {"cursor": cursor, "curation_status": "New", "limit": 200}
    assert len((await client.get(f"{API}/places", params=asked)).json()["items"]) == 2


async def test_a_cursor_of_dead_letters_is_refused_with_other_filters(client, admin, tenant):
    await add_dead(admin, tenant, 3)
    page = (await client.get(f"{API}/dead-letters", params={"workflow": "packing", "limit": 1})).json()
    going_on = {"cursor": page["next_cursor"], "workflow": "packing"}
    assert len((await client.get(f"{API}/dead-letters", params=going_on)).json()["items"]) == 2
    is_problem(await client.get(f"{API}/dead-letters", params={"cursor": page["next_cursor"]}), 400)


def test_the_list_name_is_independent_of_the_order_of_filters():
    one, two = {"kind": "team", "text": None, "id": 1}, {"id": 1, "kind": "team"}
    assert cursors.list_name("pages", one) == cursors.list_name("pages", two) != cursors.list_name("pages", {"id": 1})
    assert cursors.list_name("pages", {"text": None}) == "pages"


async def test_sorted_by_id_every_row_is_read_once_while_rows_change(client, admin, tenant):
    lists = ("searches", "places", "businesses", "domains", "sitemaps", "pages", "contacts", "jobs", "suppressions")
    for noun in lists:
        assert (await client.get(f"{API}/{noun}", params={"sort": "id"})).status_code == 200
    made = [
        await add(admin, "place", tenant, provider="fake", provider_id=str(number), name=f"Place {number}")
        for number in range(7)
    ]
    read: list[str] = []
    asked = {"sort": "id", "limit": "2"}
    while asked:
        page = (await client.get(f"{API}/places", params=asked)).json()
        read += [row["id"] for row in page["items"]]
        await admin.execute("UPDATE place SET updated_at = now() WHERE id = (SELECT max(id::text)::uuid FROM place)")
        asked = {**asked, "cursor": page["next_cursor"]} if page["next_cursor"] else {}
    assert read == sorted(made)
