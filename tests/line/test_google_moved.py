"""Google's ids live: a business that moved is followed, an obsolete id says so, an old one is looked at again."""

import pytest

from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance.refresh_place_ids import RefreshPlaceIds
from scrapersky.providers.google.provider import GooglePlaces
from scrapersky.sandbox.google.place import place_id
from scrapersky.sandbox.sandbox import Sandbox
from tests.conftest import processors_of

SEED = 7


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=SEED, businesses=30) as little_internet:
        yield little_internet


async def add(admin, tenant, number: int, months: int = 0, state: str = "Queued") -> str:
    """A place that was found so many months ago; its id at Google."""
    identity = place_id(SEED, number)
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status, fetched_at) "
        "VALUES ($1, 'google_places', $2, 'n', $4, now() - $3 * interval '1 month')",
        *(tenant, identity, months, state),
    )
    return identity


async def scan(application) -> None:
    await run_job_loop(processors_of(application.pipeline, application.database, application.settings)["deep_scan"])


async def refresh(application, admin) -> str:
    [job] = [one for one in application.runtime.maintenance if isinstance(one, RefreshPlaceIds)]
    await admin.execute("DELETE FROM maintenance WHERE name = 'refresh_place_ids'")
    assert await run_periodic(job, application.database)
    return await admin.fetchval("SELECT result FROM maintenance WHERE name = 'refresh_place_ids'")


async def test_a_business_that_moved_is_followed_and_the_old_place_says_where_to(application, sandbox, admin, tenant):
    old, new = await add(admin, tenant, 0), place_id(SEED, 1)
    sandbox.google.move(old, new)
    search = await admin.fetchval(
        "INSERT INTO search (tenant_id, text, provider) VALUES ($1, 'x', 'google_places') RETURNING id", tenant
    )
    await admin.execute("UPDATE place SET search_id = $1", search)

    await scan(application)
    await scan(application)

    rows = await admin.fetch(
        "SELECT p.provider_id, p.deep_scan_status AS state, p.business_status, b.name, "
        "p.details->'extra'->>'moved_to' AS moved_to, "
        "b.domain_extraction_error AS why FROM place p JOIN local_business b ON b.place_id = p.id"
    )
    places = {row["provider_id"]: row for row in rows}
    assert set(places) == {old, new}
    assert (places[old]["moved_to"], places[old]["why"]) == (new, "permanently closed")
    assert places[old]["business_status"] == "CLOSED_PERMANENTLY"
    assert (places[new]["state"], places[new]["name"]) == ("Completed", sandbox.world[1].legal_name)
    assert await admin.fetchval("SELECT count(*) FROM search_place WHERE search_id = $1", search) == 1


async def test_two_that_moved_to_each_other_end_and_what_was_turned_down_is_not_followed(
    application, sandbox, admin, tenant
):
    here, there, unwanted = await add(admin, tenant, 0), place_id(SEED, 1), await add(admin, tenant, 2)
    for old, new in ((here, there), (there, here), (unwanted, place_id(SEED, 3))):
        sandbox.google.move(old, new)
    await admin.execute("UPDATE place SET curation_status = 'Not a Fit' WHERE provider_id = $1", unwanted)
    for _ in range(3):
        await scan(application)
    known = {row["provider_id"] for row in await admin.fetch("SELECT provider_id FROM place")}
    assert known == {here, there, unwanted}


async def test_an_obsolete_id_says_why_and_what_to_do(application, sandbox, admin, tenant):
    sandbox.google.forget(await add(admin, tenant, 0))
    await scan(application)
    row = await admin.fetchrow("SELECT deep_scan_status AS state, deep_scan_error AS why FROM place")
    assert row["state"] == "Error"
    assert "no longer valid; repeat its search" in row["why"]


async def test_ids_are_looked_at_once_a_year_for_nothing(application, sandbox, admin, tenant, other_tenant):
    gone = await add(admin, tenant, 0, 13, "Completed")
    await add(admin, tenant, 1, 13, "Completed")
    await add(admin, tenant, 2, 11, "Completed")
    await add(admin, tenant, 3, 13, "Queued")
    await add(admin, other_tenant, 4, 30, "New")
    sandbox.google.forget(gone)

    assert await refresh(application, admin) == "2 ids refreshed, 1 stale"

    assert sandbox.google.bill.calls == {"Place Details Essentials (IDs Only)": 2}
    assert sandbox.google.bill.cents == 0
    rows = await admin.fetch("SELECT provider_id, deep_scan_status AS state, deep_scan_error AS why FROM place")
    marked = [(row["provider_id"], row["why"]) for row in rows if row["state"] == "Error"]
    assert [identity for identity, _ in marked] == [gone]
    assert "repeat its search" in marked[0][1]
    assert await refresh(application, admin) == "0 ids refreshed, 0 stale"


async def test_a_google_that_refuses_is_told_and_asked_again_later(application, sandbox, admin, tenant):
    await add(admin, tenant, 0, 13, "Completed")
    sandbox.google.fail("per_day")
    assert "quota of the day is used up" in await refresh(application, admin)
    assert await admin.fetchval("SELECT fetched_at < now() - interval '12 months' FROM place")


class Renamed(GooglePlaces):
    """A Google that has given every place another id."""

    def __init__(self) -> None:
        pass

    async def current_id(self, provider_id: str) -> str:
        return place_id(SEED, 9)


async def test_a_new_id_is_taken_over_unless_it_is_here_already(application, admin, tenant):
    await add(admin, tenant, 0, 14, "Completed")
    await add(admin, tenant, 1, 13, "Completed")
    assert await run_periodic(RefreshPlaceIds(application.database, [Renamed()]), application.database)
    rows = await admin.fetch(
        "SELECT provider_id, deep_scan_error AS why FROM place ORDER BY deep_scan_error NULLS FIRST"
    )
    assert [row["provider_id"] for row in rows] == [place_id(SEED, 9), place_id(SEED, 1)]
    assert "archive this one" in rows[1]["why"]
