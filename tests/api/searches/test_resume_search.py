"""A cancelled search is asked for again: it goes on where it was stopped, and says so."""

from typing import Any

import pytest

from scrapersky.asgi import create_app
from tests.api.searches.test_searches import DENTISTS, SEARCHES, FakeProvider
from tests.factories.api_application import environment, served
from tests.factories.line_rows import add_line

WISH = {"text": "dentists", "area": "Helsinki", "provider": "fake"}
QUEUES = {
    "place": "deep_scan",
    "local_business": "domain_extraction",
    "domain": "sitemap_analysis",
    "sitemap_file": "sitemap_import",
    "page": "page_processing",
    "contact": "contact_verification",
}


@pytest.fixture
async def client(database_url):
    fake: Any = {"fake": FakeProvider()}
    app = create_app(environment(database_url), run_engine=False, providers=fake)
    async with served(app) as client:
        yield client


async def detail_of(client, search_id):
    return (await client.get(f"{SEARCHES}/{search_id}")).json()


async def add_waiting_line(admin, tenant):
    """A search that is through with its places, with a row waiting before every step."""
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE search SET place_search_status = 'Completed', result_count = 1")
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Completed', http_status = 200")
    await admin.execute("UPDATE page SET kind_score = 0.9")
    await set_all(admin, "Queued")
    return ids


async def set_all(admin, status):
    for table, queue in QUEUES.items():
        await admin.execute(f"UPDATE {table} SET {queue}_status = $1", status)


async def states(admin):
    return {table: await admin.fetchval(f"SELECT {queue}_status FROM {table}") for table, queue in QUEUES.items()}


async def test_a_search_that_never_ran_is_queued_again(client):
    search = (await client.post(SEARCHES, json=DENTISTS)).json()["search"]
    await client.post(f"{SEARCHES}/{search['id']}/cancel")
    stopped = await detail_of(client, search["id"])
    assert (stopped["place_search_status"], stopped["cancelled_by"]) == ("New", "ada")
    again = (await client.post(SEARCHES, json=DENTISTS)).json()["search"]
    assert (again["id"], again["place_search_status"]) == (search["id"], "Queued")
    resumed = await detail_of(client, search["id"])
    assert (resumed["cancelled_by"], resumed["is_done"]) == (None, False)


async def test_withdrawn_rows_continue_when_the_search_is_requested_again(client, admin, tenant):
    ids = await add_waiting_line(admin, tenant)
    await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    assert set((await states(admin)).values()) == {"New"}
    assert (await client.post(SEARCHES, json=WISH)).json()["known"]
    assert set((await states(admin)).values()) == {"Queued"}
    assert (await detail_of(client, ids["searches"]))["place_search_status"] == "Completed"


async def test_rows_continue_by_the_new_rules_and_if_they_were_selected(client, admin, tenant):
    ids = await add_waiting_line(admin, tenant)
    await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    await admin.execute("UPDATE sitemap_file SET curation_status = 'Selected'")
    await admin.execute("UPDATE place SET curation_status = 'Not a Fit'")
    rules = {"sitemap_import": "off", "page_curation": "off", "contact_verification": "off"}
    await client.post(SEARCHES, json={**WISH, "rules": rules})
    assert await states(admin) == {
        "place": "New",
        "local_business": "Queued",
        "domain": "Queued",
        "sitemap_file": "Queued",
        "page": "New",
        "contact": "New",
    }


async def test_cancelling_keeps_the_reason_of_an_incomplete_search(client, admin, tenant):
    ids = await add_waiting_line(admin, tenant)
    await admin.execute("UPDATE search SET notes = 'One box has more places.'")
    await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    stopped = await detail_of(client, ids["searches"])
    assert (stopped["notes"], stopped["cancelled_by"]) == ("One box has more places.", "ada")
    await client.post(SEARCHES, json=WISH)
    resumed = await detail_of(client, ids["searches"])
    assert (resumed["notes"], resumed["cancelled_by"]) == ("One box has more places.", None)
    await set_all(admin, "Completed")
    await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    assert (await detail_of(client, ids["searches"]))["cancelled_by"] is None


async def test_a_row_in_flight_is_retried_only_when_the_search_continues(client, admin, tenant):
    ids = await add_waiting_line(admin, tenant)
    await admin.execute(
        "UPDATE place SET deep_scan_status = 'Processing', deep_scan_due_at = now() + interval '1 minute'"
    )
    await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    row = await admin.fetchrow("SELECT deep_scan_status, deep_scan_revert_to FROM place")
    assert tuple(row) == ("Processing", "New")
    await client.post(SEARCHES, json=WISH)
    row = await admin.fetchrow("SELECT deep_scan_status, deep_scan_revert_to FROM place")
    assert tuple(row) == ("Processing", None)
