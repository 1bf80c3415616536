"""Pages of lists forwards and backwards, by every sort key; names of related rows; counts by value."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from scrapersky.models import Contact
from scrapersky.store.listing import counts, paginate
from scrapersky.store.listing.resources import CONTACTS, PLACES, RESOURCES
from tests.api.line.test_list_plans import rows_read
from tests.factories.api_application import is_problem
from tests.factories.line_rows import add, add_line

API = "/api/v3"
PEOPLE = """
INSERT INTO contact (tenant_id, identity, email, name, first_name, last_name, updated_at)
SELECT $1, n::text, CASE WHEN n % 3 <> 0 THEN 'e' || n % 5 || '@x.fi' END, CASE WHEN n % 4 <> 0 THEN 'N' || n % 6 END,
    'First' || n, 'Last' || n, now() - n * interval '1 second'
FROM generate_series(1, 23) n"""


async def get(client, path):
    answer = await client.get(f"{API}/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("sort", ["name", "-name", "email", "-email", "-updated_at", "updated_at", "id", "-id"])
async def test_a_list_is_read_backwards_as_forwards(client, admin, tenant, other_tenant, sort):
    await admin.execute(PEOPLE, tenant)
    await admin.execute(PEOPLE, other_tenant)
    page = await get(client, f"contacts?sort={sort}&limit=5")
    assert page["previous_cursor"] is None
    assert page["total"] == 23
    pages = [page]
    while page["next_cursor"]:
        page = await get(client, f"contacts?sort={sort}&limit=5&cursor={page['next_cursor']}")
        pages.append(page)
    assert len({row["id"] for one in pages for row in one["items"]}) == 23
    key = sort.removeprefix("-")
    values = [row[key].lower() for one in pages for row in one["items"] if row[key]]
    assert values == sorted(values, reverse=sort.startswith("-"))
    keys = [row[key] is None for one in pages for row in one["items"]]
    assert keys == sorted(keys)  # rows without a value come last
    for before in reversed(pages[:-1]):
        page = await get(client, f"contacts?sort={sort}&limit=5&before={page['previous_cursor']}")
        assert [row["id"] for row in page["items"]] == [row["id"] for row in before["items"]]
        assert bool(page["previous_cursor"]) == (before is not pages[0])
        again = await get(client, f"contacts?sort={sort}&limit=5&cursor={page['next_cursor']}")
        assert again["items"]


async def test_two_positions_or_a_position_of_another_list_are_refused(client, admin, tenant):
    await admin.execute(PEOPLE, tenant)
    cursor = (await get(client, "contacts?limit=5&sort=name"))["next_cursor"]
    is_problem(await client.get(f"{API}/contacts?sort=name&cursor={cursor}&before={cursor}"), 400)
    is_problem(await client.get(f"{API}/contacts?sort=email&before={cursor}"), 400)
    assert (await get(client, "contacts?count=false"))["total"] is None


async def test_lines_have_the_names_of_their_domain_and_business(client, admin, tenant):
    ids = await add_line(admin, tenant)
    named = {"sitemaps": ["domain"], "pages": ["domain"], "contacts": ["domain", "business"]}
    names = {"domain": "molar.fi", "business": "Molar Dental"}
    for noun, fields in named.items():
        [line] = (await get(client, noun))["items"]
        detail = await get(client, f"{noun}/{ids[noun]}")
        for field in fields:
            assert line[field] == detail[field] == names[field]


async def test_contacts_are_found_by_name_or_last_name(client, admin, tenant):
    await admin.execute(PEOPLE, tenant)
    assert [row["last_name"] for row in (await get(client, "contacts?text=last17"))["items"]] == ["Last17"]
    assert (await get(client, "contacts?text=n5"))["total"] == len([n for n in range(1, 24) if n % 6 == 5 and n % 4])


async def test_rows_created_since_a_moment(client, admin, tenant):
    await add_line(admin, tenant)
    await admin.execute("UPDATE place SET created_at = now() - interval '2 days', updated_at = now()")
    moment = (await admin.fetchval("SELECT now() - interval '1 day'")).isoformat().replace("+00:00", "Z")
    assert (await get(client, f"places?updated_since={moment}"))["total"] == 1
    assert (await get(client, f"places?created_since={moment}"))["total"] == 0


async def test_rows_are_counted_by_value_without_those_of_others(client, admin, tenant, other_tenant):
    await admin.execute(PEOPLE, tenant)
    await admin.execute(PEOPLE, other_tenant)
    await admin.execute("UPDATE contact SET curation_status = 'Maybe' WHERE email IS NULL")
    counted = await get(client, "contacts/counts?by=curation_status&curation_status=Selected")
    by_value = {one["value"]: one["rows"] for one in counted["items"]}
    assert by_value == {"New": 16, "Selected": 0, "Maybe": 7, "Not a Fit": 0, "Archived": 0}
    counted = await get(client, "contacts/counts?by=curation_status&has_email=true")
    assert {one["value"]: one["rows"] for one in counted["items"]}["Maybe"] == 0
    counted = await get(client, "contacts/counts?by=has_email")
    assert [(one["value"], one["rows"]) for one in counted["items"]] == [(True, 16), (False, 7)]
    for wrong in ("", "?by=email", "?by=curation_status&curation_status=x", "?by=curation_status&other=1"):
        is_problem(await client.get(f"{API}/contacts/counts{wrong}"), 422)


async def test_every_curated_resource_counts_by_its_queues():
    for resource in RESOURCES.values():
        fields = counts.countable(resource)
        assert all(f"{queue}_status" in fields for queue in resource.queues)


MANY = """
INSERT INTO place (tenant_id, provider, provider_id, name, updated_at)
SELECT $1, 'fake', n::text, 'n', now() - n * interval '1 second' FROM generate_series(1, 30000) n"""


async def explain(session, statement):
    written = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
    connection = await session.connection()
    rows = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {written}".replace("%%", "%"))
    return "\n".join(row[0] for row in rows)


async def test_counts_stop_at_the_cap(client, admin, tenant, database):
    await admin.execute(MANY, tenant)
    await admin.execute("VACUUM ANALYZE place")
    counted = await get(client, "places/counts?by=curation_status")
    assert counted["items"][0] == {"value": "New", "rows": 10_000, "more": True}
    async with database.session(tenant) as session:
        plan = await explain(session, counts.statement(PLACES, tenant, "curation_status", {}))
    assert "place_by_curation" in plan, plan
    assert "Seq Scan" not in plan, plan
    assert rows_read(plan) < 10_100, plan


FOUND = """
WITH site AS (
    INSERT INTO domain (tenant_id, search_id, name) SELECT $1, $2, 's' || n || '.fi' FROM generate_series(1, 200) n
    RETURNING id
)
INSERT INTO contact (tenant_id, domain_id, identity, email, updated_at)
SELECT $1, id, n::text, n || '@x.fi', now() - n * interval '1 second' FROM site, generate_series(1, 100) n"""


async def test_the_latest_contacts_of_a_search_are_read_out_of_the_latest_changes(client, admin, tenant, database):
    search = await add(admin, "search", tenant, text="dentists", provider="fake")
    older = await add(admin, "search", tenant, text="bakers", provider="fake")
    await admin.execute(FOUND, tenant, UUID(search))
    await admin.execute(FOUND.replace("'s'", "'o'").replace("- n *", "- 999 * n *"), tenant, UUID(older))
    await admin.execute("VACUUM ANALYZE contact, domain, search_domain")
    for wanted, name in ((search, "s%"), (older, "o%")):  # the older ones are not among the latest changes
        listed = await get(client, f"contacts?search_id={wanted}")
        expected = await admin.fetch(
            "SELECT c.id FROM contact c JOIN domain d ON d.id = c.domain_id WHERE d.name LIKE $1 "
            "ORDER BY c.updated_at DESC, c.id DESC LIMIT 50",
            name,
        )
        assert [row["id"] for row in listed["items"]] == [str(row["id"]) for row in expected]
    chosen: Any = select(Contact.id, Contact.updated_at)
    filters = {"search_id": search}
    async with database.session(tenant) as session:
        plan = await explain(session, paginate.latest_rows(CONTACTS, tenant, chosen, filters).limit(51))
    assert "contact_by_update" in plan, plan
    assert "Seq Scan on contact" not in plan, plan
    assert rows_read(plan) < 1_000, plan
