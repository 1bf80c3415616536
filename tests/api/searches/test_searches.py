"""Searches over HTTP: asked for with an estimate, watched step by step, read, stopped."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from scrapersky.api.schemas.cursors import Cursors
from scrapersky.asgi import create_app
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.uuid7 import new_id
from scrapersky.providers.base import Estimate, ProviderBusy
from tests.factories.api_application import SECRET, environment, is_problem, served
from tests.factories.line_rows import add, add_line

SEARCHES = "/api/v3/searches"
DENTISTS = {"text": "dentists", "area": "Helsinki", "provider": "fake", "limit": 60, "budget": 2.5}


class FakeProvider:
    """Knows what a search costs, unless it is busy."""

    name = "fake"

    async def estimate(self, query):
        if query.text == "busy":
            raise ProviderBusy("The quota of this minute is used up.", timedelta(minutes=1))
        return Estimate(3, 12, f"3 calls for {query.limit} places in {query.where.words}")


@pytest.fixture
async def client(database_url):
    fake: Any = {"fake": FakeProvider()}
    app = create_app(environment(database_url), run_engine=False, providers=fake)
    async with served(app) as client:
        yield client


async def test_a_search_is_queued_once_with_its_estimate(client, admin):
    answer = await client.post(SEARCHES, json=DENTISTS)
    assert answer.status_code == 201
    asked = answer.json()
    assert asked["estimate"] == {"calls": 3, "cents": 12, "explanation": "3 calls for 60 places in Helsinki"}
    search = asked["search"]
    assert (search["budget_cents"], search["result_limit"], search["place_search_status"]) == (250, 60, "Queued")
    assert answer.headers["location"] == f"{SEARCHES}/{search['id']}"
    again = await client.post(SEARCHES, json={**DENTISTS, "rules": {"deep_scan": "off", "page_kinds": ["team"]}})
    assert (again.status_code, again.json()["known"], again.json()["search"]["id"]) == (200, True, search["id"])
    detail = (await client.get(f"{SEARCHES}/{search['id']}")).json()
    assert (detail["rules"]["deep_scan"], detail["rules"]["page_kinds"]) == ("off", ["team"])
    assert await admin.fetchval("SELECT count(*) FROM search") == 1
    assert await admin.fetch("SELECT action FROM audit ORDER BY id") == [("create",), ("request again",)]


async def test_eight_simultaneous_requests_create_one_search(client, admin):
    words = [("dentists", "Helsinki"), ("Dentists", "HELSINKI")] * 4
    asked = [client.post(SEARCHES, json={**DENTISTS, "text": text, "area": area}) for text, area in words]
    answers = [answer.json() for answer in await asyncio.gather(*asked)]
    assert sorted(answer["known"] for answer in answers) == [False, *[True] * 7]
    assert (
        len({answer["search"]["id"] for answer in answers}) == await admin.fetchval("SELECT count(*) FROM search") == 1
    )


async def test_a_search_without_a_budget_may_cost_twice_its_estimate_as_with_the_command(client):
    answer = await client.post(SEARCHES, json={name: value for name, value in DENTISTS.items() if name != "budget"})
    assert answer.json()["search"]["budget_cents"] == 2 * 12


async def test_an_estimate_creates_nothing_and_a_busy_provider_does_not_prevent_a_search(client, admin):
    answer = await client.post(SEARCHES, json={**DENTISTS, "estimate_only": True})
    assert (answer.status_code, answer.json()["search"], answer.json()["estimate"]["cents"]) == (200, None, 12)
    assert await admin.fetchval("SELECT count(*) FROM search") == 0
    answer = await client.post(SEARCHES, json={"text": "busy", "provider": "fake"})
    assert answer.status_code == 201
    estimate = answer.json()["estimate"]
    assert estimate["cents"] is None
    assert estimate["explanation"] == "There is no estimate now: The quota of this minute is used up."


async def test_an_estimate_says_how_the_text_was_read_and_whether_the_search_is_known(client, admin):
    asked = {"text": "Dentists in Turku", "provider": "fake", "estimate_only": True}
    answer = (await client.post(SEARCHES, json=asked)).json()
    assert (answer["text"], answer["area"], answer["known"], answer["search"]) == ("Dentists", "Turku", False, None)
    started = (await client.post(SEARCHES, json={**asked, "estimate_only": False})).json()["search"]
    answer = (await client.post(SEARCHES, json=asked)).json()
    assert (answer["known"], answer["search"]["id"]) == (True, started["id"])


async def test_a_cancelled_search_goes_on_with_the_rules_from_before(client, admin):
    rules = {"deep_scan": "off", "pages_per_site": 3}
    path = f"{SEARCHES}/{(await client.post(SEARCHES, json={**DENTISTS, 'rules': rules})).json()['search']['id']}"
    before = (await client.get(path)).json()
    assert before["requested_by"] == "ada"
    await client.post(f"{path}/cancel")
    assert (await client.get(path)).json()["rules"]["pages_per_site"] == 5
    answer = await client.post(f"{path}/continue", json={})
    assert (answer.status_code, answer.json()["known"]) == (200, True)
    after = (await client.get(path)).json()
    assert (after["rules"], after["cancelled_by"]) == (before["rules"], None)
    assert (after["place_search_status"], after["budget_cents"]) == ("Queued", before["budget_cents"])
    changed = await client.post(f"{path}/continue", json={"budget": 9, "rules": {"pages_per_site": 8}})
    assert changed.json()["search"]["budget_cents"] == 900
    assert (await client.get(path)).json()["rules"]["pages_per_site"] == 8
    assert (await client.post(f"{SEARCHES}/{uuid4()}/continue", json={})).status_code == 404


async def test_an_invalid_search_request_is_refused_by_field(client, admin):
    wrong: Any
    problem = is_problem(await client.post(SEARCHES, json={**DENTISTS, "provider": "nobody"}), 422)
    assert problem["detail"] == "'nobody' is not one of fake."
    for wrong, field in [
        ({"text": " "}, "body.text"),
        ({"text": "a\u0000b"}, "body.text"),
        ({"limit": 0}, "body.limit"),
        ({"limit": "60"}, "body.limit"),
        ({"budget": -1}, "body.budget"),
        ({"rules": {"deep_scan": "some"}}, "body.rules.deep_scan"),
        ({"rules": {"page_kinds": ["secret"]}}, "body.rules.page_kinds"),
        ({"rules": {"pages_per_site": True}}, "body.rules.pages_per_site"),
        ({"tenant_id": str(uuid4())}, "body.tenant_id"),
    ]:
        problem = is_problem(await client.post(SEARCHES, json={**DENTISTS, **wrong}), 422)
        assert problem["errors"][0]["field"].startswith(field)
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_a_search_has_the_progress_of_each_step(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute("UPDATE place SET deep_scan_status = 'Completed'")
    await admin.execute("UPDATE domain SET domain_metadata_status = 'Queued'")
    await admin.execute("UPDATE page SET page_processing_status = 'Skipped', page_processing_error = 'no contact'")
    detail = (await client.get(f"{SEARCHES}/{ids['searches']}")).json()
    steps = {step["workflow"]: step for step in detail["steps"]}
    assert steps["deep_scan"]["completed"] == steps["domain_metadata"]["waiting"] == 1
    assert detail["is_done"] is False
    skipped = {"workflow": "page_curation", "status": "Skipped", "reason": "no contact", "rows": 1, "until": None}
    assert detail["reasons"] == [skipped]
    assert (detail["found"]["contacts"], detail["found"]["emails"]) == (1, 1)
    assert detail["queues"]["place_search"]["status"] == "New"


async def test_results_are_listed_in_pages(client, admin, tenant, other_tenant):
    ids = await add_line(admin, tenant)
    await add_line(admin, other_tenant)
    url = f"{SEARCHES}/{ids['searches']}/results"
    [lead] = (await client.get(url)).json()["items"]
    assert (lead["business"], lead["email"], lead["person"]) == ("Molar Dental", "anna@molar.fi", "Anna Molar")
    await admin.execute(
        "INSERT INTO contact (tenant_id, domain_id, identity, email) SELECT $1, $2, 'email:' || n, n || '@molar.fi' "
        "FROM generate_series(1, 6) n",
        tenant,
        UUID(ids["domains"]),
    )
    seen, cursor = [], ""
    while cursor is not None:
        page = (await client.get(f"{url}?per=contact&limit=3{cursor and f'&cursor={cursor}'}")).json()
        seen += [row["email"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(seen) == sorted([*(f"{n}@molar.fi" for n in range(1, 7)), "anna@molar.fi"])
    assert seen == list(dict.fromkeys(seen))
    is_problem(await client.get(f"{url}?cursor=nonsense"), 400)
    is_problem(await client.get(f"{url}?per=page"), 422)
    is_problem(await client.get(f"{SEARCHES}/{uuid4()}/results"), 404)


async def test_a_later_search_takes_no_results_from_an_earlier_one(client, admin, tenant):
    ids = await add_line(admin, tenant)
    later = await add(admin, "search", tenant, text="dentist", area="Helsinki", provider="fake")
    for table in ("place", "local_business", "domain"):
        await admin.execute(f"UPDATE {table} SET search_id = $1", UUID(later))
    for search in (ids["searches"], later):
        for per, name in (("business", "business"), ("contact", "email")):
            found = (await client.get(f"{SEARCHES}/{search}/results?per={per}")).json()["items"]
            assert [row[name] for row in found] == ["Molar Dental" if per == "business" else "anna@molar.fi"]
        for noun in ("businesses", "domains", "sitemaps", "pages", "contacts"):
            [row] = (await client.get(f"/api/v3/{noun}?search_id={search}")).json()["items"]
            assert row["id"] == ids[noun]
    story = (await client.get(f"/api/v3/domains/{ids['domains']}")).json()["provenance"]
    assert {row["id"] for row in story["searches"]["items"]} == {ids["searches"], later}


async def test_no_result_occurs_twice_while_the_search_runs(client, admin, tenant):
    ids = await add_line(admin, tenant)
    search, url = UUID(ids["searches"]), f"{SEARCHES}/{ids['searches']}/results"

    async def find_more(names: str) -> None:
        for name in names:
            await admin.execute(
                "INSERT INTO local_business (id, tenant_id, search_id, name) VALUES ($1, $2, $3, $4)",
                *(new_id(), tenant, search, name),
            )

    await find_more("dcba")
    await admin.execute(
        "INSERT INTO domain (tenant_id, search_id, name) SELECT $1, $2, n || '.fi' FROM generate_series(1, 3) n",
        *(tenant, search),
    )
    first = (await client.get(f"{url}?limit=2")).json()
    await find_more("AB")  # before what was shown, were it sorted by name
    seen, cursor = [row["business"] for row in first["items"]], first["next_cursor"]
    while cursor is not None:
        page = (await client.get(f"{url}?limit=2&cursor={cursor}")).json()
        assert len(page["items"]) == 2 or page["next_cursor"] is None
        seen += [row["business"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(seen[:7]) == sorted(["Molar Dental", *"abcdAB"])
    assert sorted(seen[7:]) == ["1.fi", "2.fi", "3.fi"]


async def test_a_forged_cursor_is_refused(client, admin, tenant):
    ids = await add_line(admin, tenant)
    url, here = f"{SEARCHES}/{ids['searches']}/results", f"results/{ids['searches']}/business"
    cursors = Cursors(Vault(SECRET.encode()).cursor_key)
    zero = str(UUID(int=0))
    forged = [(2, zero, zero), (-1, zero, zero), (10**30, zero, zero), (0, zero), (0, "x", zero)]
    for name, place in [*((here, place) for place in forged), (f"{here}x", (0, zero, zero))]:
        problem = is_problem(await client.get(url, params={"cursor": cursors.encode(name, place)}), 400)
        assert "next_cursor" in problem["detail"]


async def test_a_cancelled_search_withdraws_its_queued_work_and_queues_no_more(client, admin, tenant, other_tenant):
    ids, theirs = await add_line(admin, tenant), await add_line(admin, other_tenant)
    elsewhere = await add_line(admin, tenant, "zahn")
    await admin.execute("UPDATE place SET deep_scan_status = 'Queued'")
    await admin.execute("UPDATE page SET page_processing_status = 'Queued'")
    await admin.execute(
        "UPDATE domain SET domain_metadata_status = 'Processing', domain_metadata_due_at = now() + interval '1 minute'"
    )
    answer = await client.post(f"{SEARCHES}/{ids['searches']}/cancel")
    taken = answer.json()["withdrawn"]
    assert (taken["deep_scan"], taken["page_curation"], taken["domain_metadata"]) == (1, 1, 0)
    states = dict(await admin.fetch("SELECT id::text, deep_scan_status FROM place"))
    assert states == {ids["places"]: "New", elsewhere["places"]: "Queued", theirs["places"]: "Queued"}
    assert set(dict(await admin.fetch("SELECT domain_metadata_status, 1 FROM domain"))) == {"Processing"}
    detail = (await client.get(f"{SEARCHES}/{ids['searches']}")).json()
    assert detail["cancelled_by"] == "ada"
    rules = {name: value for name, value in detail["rules"].items() if isinstance(value, str)}
    # How a page is read is not a step: one that a person selects afterwards is still read as before.
    assert rules == dict.fromkeys(rules, "off") | {"browser": "needed"}
    is_problem(await client.post(f"{SEARCHES}/{theirs['searches']}/cancel"), 404)


async def test_a_larger_budget_or_refresh_queues_a_completed_search(client, admin):
    await client.post(SEARCHES, json=DENTISTS)

    async def after(stopped_by_budget: bool, **asked: object) -> str:
        await admin.execute(
            "UPDATE search SET place_search_status = 'Completed', stopped_by_budget = $1", stopped_by_budget
        )
        answer = await client.post(SEARCHES, json={**DENTISTS, **asked})
        await admin.execute("UPDATE search SET budget_cents = 250")
        return str(answer.json()["search"]["place_search_status"])

    assert await after(True) == "Completed"
    assert await after(True, budget=2) == "Completed"
    assert await after(False, budget=5) == "Completed", "it lacks nothing"
    assert await after(True, budget=5) == "Queued"
    assert await after(True, budget=None) == "Completed", "twice the estimate is less than the budget it had"
    assert await after(False, refresh=True) == "Queued"


async def test_text_and_area_may_be_one_text(client, admin):
    apart = await client.post(SEARCHES, json=DENTISTS)
    together = await client.post(SEARCHES, json={**DENTISTS, "text": " dentists in  Helsinki", "area": None})
    assert together.json()["search"]["id"] == apart.json()["search"]["id"]
    assert together.json()["search"]["area"] == "Helsinki"
    problem = is_problem(await client.post(SEARCHES, json={"text": "dentists", "provider": "openstreetmap"}), 422)
    cure = 'write "dentists in Helsinki", or give a place, a point, a box or a polygon.'
    assert problem["detail"] == f"The area is missing: {cure}"
    where = {"polygon": {"type": "Point", "coordinates": [24, 60]}}
    problem = is_problem(await client.post(SEARCHES, json={"text": "dentists", "where": where}), 422)
    assert [one["field"] for one in problem["errors"]] == ["body.where.polygon"]
    assert await admin.fetchval("SELECT count(*) FROM search") == 1
