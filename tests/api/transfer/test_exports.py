"""Exports over HTTP: every row that matches, as a stream that no spreadsheet runs."""

import csv
import io
import json

import pytest

from tests.factories.api_application import is_problem
from tests.factories.line_rows import NOUNS, add_line


@pytest.mark.parametrize("noun", NOUNS)
async def test_every_resource_is_exported_in_both_formats(client, admin, tenant, other_tenant, noun):
    known = await add_line(admin, tenant)
    await add_line(admin, other_tenant, "foreign")
    table = await client.get(f"/api/v3/exports/{noun}.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"))))
    assert [row["id"] for row in rows] == [known[noun]]
    lines = (await client.get(f"/api/v3/exports/{noun}.jsonl")).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [known[noun]]
    assert set(json.loads(lines[0])) == set(rows[0])


async def test_the_file_has_a_fixed_name_and_no_formula(client, admin, tenant):
    await add_line(admin, tenant)
    await admin.execute("UPDATE contact SET name = '=cmd|x', title = E'@a\\r\\nb', phone = '+358961234567'")
    answer = await client.get("/api/v3/exports/contacts.csv", params={"has_email": "true"})
    assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''contacts-20")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    assert (row["name"], row["title"], row["phone"]) == ("'=cmd|x", "'@a\r\nb", "+358 9 61234567")


async def test_exports_have_the_filters_of_lists(client, admin, tenant):
    known = await add_line(admin, tenant)
    assert len((await client.get("/api/v3/exports/places.jsonl?has_website=false")).text) == 0
    one = await client.get("/api/v3/exports/places.jsonl", params={"search_id": known["searches"]})
    assert json.loads(one.text)["id"] == known["places"]
    for wrong in ("curation_status=Red", "has_website=perhaps", "colour=red"):
        is_problem(await client.get(f"/api/v3/exports/places.csv?{wrong}"), 422)


async def test_thousands_of_rows_are_exported_in_order(client, admin, tenant):
    await admin.execute(
        "INSERT INTO domain (tenant_id, name) SELECT $1, 'site' || n || '.fi' FROM generate_series(1, 2500) n", tenant
    )
    ids = [json.loads(line)["id"] for line in (await client.get("/api/v3/exports/domains.jsonl")).text.splitlines()]
    assert len(set(ids)) == 2_500
    assert ids == sorted(ids)


async def test_an_invalid_export_is_a_problem(client):
    is_problem(await client.get("/api/v3/exports/animals.csv"), 404)
    is_problem(await client.get("/api/v3/exports/places.doc"), 422)
