"""The nouns over HTTP: listed by one convention, shown with their story, kept from other tenants."""

import asyncio
from uuid import UUID, uuid4

from tests.factories.api_application import is_problem
from tests.factories.line_rows import NOUNS, TABLES, add, add_line

API = "/api/v3"
LISTS = ("searches", *NOUNS, "jobs")


async def items(client, url):
    answer = await client.get(f"{API}/{url}")
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def test_a_list_shows_the_tenants_own_rows_and_no_others(client, admin, tenant, other_tenant):
    mine, others = await add_line(admin, tenant), await add_line(admin, other_tenant)
    for noun in ("searches", *NOUNS):
        answer = (await client.get(f"{API}/{noun}")).json()
        assert [row["id"] for row in answer["items"]] == [mine[noun]]
        assert (answer["total"], answer["more"], answer["next_cursor"]) == (1, False, None)
        assert (await client.get(f"{API}/{noun}/{mine[noun]}")).json()["id"] == mine[noun]
        problem = is_problem(await client.get(f"{API}/{noun}/{others[noun]}"), 404)
        stranger = is_problem(await client.get(f"{API}/{noun}/{uuid4()}"), 404)
        assert problem["title"] == stranger["title"]


async def test_invalid_queries_are_refused_by_field(client):
    wrong = ("limit=0", "limit=201", "limit=x", "sort=secret", "sort=created_at", "tenant_id=1", "offset=3", "kind=%00")
    for noun in LISTS:
        for query in wrong:
            problem = is_problem(await client.get(f"{API}/{noun}?{query}"), 422)
            assert problem["errors"][0]["field"].startswith(f"query.{query.partition('=')[0]}")
        is_problem(await client.get(f"{API}/{noun}?cursor=nonsense"), 400)
        is_problem(await client.get(f"{API}/{noun}/nonsense"), 422)


async def test_the_pages_together_are_the_whole_list_in_order(client, admin, tenant):
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name, updated_at) SELECT $1, 'fake', n::text, "
        "CASE n % 3 WHEN 0 THEN 'Ärzte' WHEN 1 THEN 'bäcker' ELSE 'Zoo ' || n END, now() - (n % 4) * interval '1 hour' "
        "FROM generate_series(1, 23) n",
        tenant,
    )
    for sort, order in [
        ("updated_at", "updated_at, id"),
        ("-updated_at", "updated_at DESC, id DESC"),
        ("name", 'lower(name) COLLATE "C", id'),
        ("-name", 'lower(name) COLLATE "C" DESC, id DESC'),
    ]:
        seen, totals = await read_pages(client, f"{API}/places?sort={sort}&limit=5")
        assert totals == [23, None, None, None, None]
        assert seen == [str(row["id"]) for row in await admin.fetch(f"SELECT id FROM place ORDER BY {order}")]


async def read_pages(client, url):
    """The ids of all pages, and the total that each page told."""
    seen, cursor, totals = [], "", []
    while cursor is not None:
        page = (await client.get(url + (f"&cursor={cursor}" if cursor else ""))).json()
        seen += [row["id"] for row in page["items"]]
        totals.append(page["total"])
        cursor = page["next_cursor"]
    return seen, totals


async def test_a_cursor_belongs_to_its_list_and_sort(client, admin, tenant):
    for name in ("a", "b"):
        await add_line(admin, tenant, name)
    cursor = (await client.get(f"{API}/places?limit=1")).json()["next_cursor"]
    for other in ("businesses?", "places?sort=name&", "places?sort=updated_at&"):
        is_problem(await client.get(f"{API}/{other}cursor={cursor}"), 400)


async def test_each_filter_returns_the_matching_rows(client, admin, tenant):
    ids = await add_line(admin, tenant)
    other = await add_line(admin, tenant, "zahn")
    await admin.execute("UPDATE place SET curation_status = 'Maybe', website = NULL WHERE id = $1", other["places"])
    await admin.execute("UPDATE domain SET sitemap_analysis_status = 'Error' WHERE id = $1", other["domains"])
    await admin.execute("UPDATE contact SET email = NULL, phone = '+3581234567' WHERE id = $1", other["contacts"])
    await admin.execute("UPDATE page SET kind = 'blog' WHERE id = $1", other["pages"])
    for url, wanted in [
        ("places?curation_status=Maybe", [other]),
        ("places?curation_status=Not a Fit", []),
        ("places?has_website=true", [ids]),
        ("places?has_website=false", [other]),
        (f"places?search_id={ids['searches']}", [ids]),
        ("places?text=MOLAR d", [ids]),
        ("places?text=mol_r", []),  # no wildcards
        ("places?text=Dental", []),  # the beginning, not the middle
        ("places?deep_scan_status=New&provider=fake", [ids, other]),
        ("businesses?text=zahn&has_phone=false", [other]),
        (f"businesses?search_id={other['searches']}", [other]),
        ("domains?sitemap_analysis_status=Error", [other]),
        ("domains?text=mol", [ids]),
        (f"sitemaps?domain_id={ids['domains']}", [ids]),
        (f"sitemaps?search_id={other['searches']}&kind=urlset", [other]),
        ("sitemaps?text=https://zahn.fi/site", [other]),
        ("pages?kind=contact", [ids]),
        (f"pages?sitemap_id={other['sitemaps']}", [other]),
        (f"pages?search_id={ids['searches']}&text=https://molar", [ids]),
        ("contacts?has_email=true", [ids]),
        ("contacts?has_phone=true&has_name=true", [other]),
        ("contacts?email=anna@m", [ids]),
        (f"contacts?page_id={ids['pages']}&business_id={ids['businesses']}", [ids]),
        ("contacts?text=anna", [ids, other]),
        (f"contacts?search_id={uuid4()}", []),
        ("searches?provider=fake&place_search_status=New", [ids, other]),
    ]:
        noun = url.partition("?")[0]
        assert {row["id"] for row in await items(client, url)} == {line[noun] for line in wanted}, url


async def test_a_row_has_its_provenance(client, admin, tenant, other_tenant):
    ids = await add_line(admin, tenant)
    await add_line(admin, other_tenant)
    for noun in NOUNS:
        story = (await client.get(f"{API}/{noun}/{ids[noun]}")).json()["provenance"]
        around = {name: [row["id"] for row in kin["items"]] for name, kin in story.items()}
        assert around == {name: [row_id] for name, row_id in ids.items() if name != noun}, noun
    contact = (await client.get(f"{API}/contacts/{ids['contacts']}")).json()
    [domain] = contact["provenance"]["domains"]["items"]
    assert domain == {"id": ids["domains"], "name": "molar.fi", "link": f"{API}/domains/{ids['domains']}"}
    assert contact["provenance"]["searches"]["items"][0]["name"] == "dentists in Helsinki"
    assert (await client.get(domain["link"])).json()["name"] == "molar.fi"


async def test_a_contact_has_both_businesses_of_its_domain(client, admin, tenant):
    ids = await add_line(admin, tenant)
    second = await add(admin, "local_business", tenant, name="Branch")
    await admin.execute(
        "INSERT INTO business_domain (business_id, domain_id, tenant_id) VALUES ($1, $2, $3)",
        UUID(second),
        UUID(ids["domains"]),
        tenant,
    )
    story = (await client.get(f"{API}/contacts/{ids['contacts']}")).json()["provenance"]
    assert {row["id"] for row in story["businesses"]["items"]} == {ids["businesses"], second}


async def test_more_related_rows_than_shown_are_indicated(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url) SELECT $1, $2, 'https://molar.fi/' || n "
        "FROM generate_series(1, 30) n",
        tenant,
        UUID(ids["domains"]),
    )
    pages = (await client.get(f"{API}/domains/{ids['domains']}")).json()["provenance"]["pages"]
    assert len(pages["items"]) == 20
    assert pages["more"] is True


async def test_a_row_shows_its_queues(client, admin, tenant):
    ids = await add_line(admin, tenant)
    await admin.execute(
        "UPDATE domain SET domain_metadata_status = 'Error', domain_metadata_error = 'it is gone', "
        "domain_metadata_attempts = 3"
    )
    queues = (await client.get(f"{API}/domains/{ids['domains']}")).json()["queues"]
    assert queues["domain_metadata"] == {
        "status": "Error",
        "error": "it is gone",
        "attempts": 3,
        "due_at": None,
        "revert_to": None,
    }
    assert queues["sitemap_analysis"]["status"] == "New"


async def test_counts_stop_at_ten_thousand(client, admin, tenant):
    await admin.execute(
        "INSERT INTO page (tenant_id, domain_id, url) SELECT $1, $2, 'https://molar.fi/' || n "
        "FROM generate_series(1, 10001) n",
        tenant,
        UUID((await add_line(admin, tenant))["domains"]),
    )
    answer = (await client.get(f"{API}/pages?limit=1")).json()
    assert (answer["total"], answer["more"]) == (10_000, True)


async def test_a_row_that_changes_between_pages_is_no_error(client, admin, tenant):
    for number in range(6):
        await add_line(admin, tenant, f"n{number}")
    first = (await client.get(f"{API}/places?limit=3")).json()
    await asyncio.gather(
        admin.execute("DELETE FROM place WHERE id = $1", UUID(first["items"][-1]["id"])),
        client.get(f"{API}/places"),
    )
    rest = (await client.get(f"{API}/places?limit=3&cursor={first['next_cursor']}")).json()
    assert len(rest["items"]) == 3


async def test_every_resource_has_its_table():
    assert set(TABLES) == set(LISTS)


async def found(client, noun, **filters):
    answer = await client.get(f"/api/v3/{noun}", params=filters)
    assert answer.status_code == 200, answer.text
    return sorted(row["name"] for row in answer.json()["items"])


async def test_a_filter_takes_several_values(client, admin, tenant):
    for name, status in (("a", "New"), ("b", "Maybe"), ("c", "Archived")):
        await add(
            admin, "place", tenant, provider="fake", provider_id=name, name=name, curation_status=status, rating=4.0
        )
    assert await found(client, "places", curation_status="New") == ["a"]
    assert await found(client, "places", curation_status=["New", "Archived"]) == ["a", "c"]
    assert await found(client, "places", curation_status=["New", "Maybe"], provider=["fake", "other"]) == ["a", "b"]
    is_problem(await client.get("/api/v3/places", params={"curation_status": ["New", "Lost"]}), 422)
    is_problem(await client.get("/api/v3/places", params={"text": ["a", "b"]}), 422)
    is_problem(await client.get("/api/v3/places", params={"provider": ["x"] * 21}), 422)
    body = {"filter": {"curation_status": ["Maybe", "Archived"]}, "curation_status": "New"}
    assert (await client.post("/api/v3/places/curation", json=body)).json()["updated"] == 2
    body = {"filter": {"curation_status": "New"}, "curation_status": "Maybe"}
    assert (await client.post("/api/v3/places/curation", json=body)).json()["updated"] == 3


async def test_a_cursor_goes_on_with_several_values_in_any_order(client, admin, tenant):
    for name in "abc":
        await add(admin, "place", tenant, provider="fake", provider_id=name, name=name)
    first = await client.get("/api/v3/places", params={"curation_status": ["New", "Maybe"], "limit": 1})
    asked = {"curation_status": ["Maybe", "New", "New"], "cursor": first.json()["next_cursor"]}
    assert len(await found(client, "places", **asked)) == 2


async def test_businesses_are_filtered_by_city_country_rating_and_change(client, admin, tenant):
    rows = (("a", "Helsinki", "FI", 4.5), ("b", "Espoo", "FI", 3.0), ("c", "Stockholm", "SE", None))
    for name, city, country, rating in rows:
        await add(admin, "local_business", tenant, name=name, city=city, country=country, rating=rating)
    assert await found(client, "businesses", city="helsinki") == ["a"]
    assert await found(client, "businesses", city=["ESPOO", "Stockholm"]) == ["b", "c"]
    assert await found(client, "businesses", country="fi") == ["a", "b"]
    assert await found(client, "businesses", country=["SE", "NO"]) == ["c"]
    assert await found(client, "businesses", min_rating="3") == ["a", "b"]
    assert await found(client, "businesses", min_rating="4.5", country="FI") == ["a"]
    await admin.execute("UPDATE local_business SET updated_at = '2026-01-01Z' WHERE name <> 'c'")
    assert await found(client, "businesses", updated_since="2026-02-01T00:00:00Z") == ["c"]
    assert await found(client, "businesses", updated_since="2026-01-01T00:00:00Z") == ["a", "b", "c"]
    for wrong in ({"min_rating": "6"}, {"country": "Finland"}, {"updated_since": "yesterday"}):
        is_problem(await client.get("/api/v3/businesses", params=wrong), 422)
