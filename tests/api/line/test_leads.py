"""Leads over HTTP: typed rows with the ids of their rows, and the files that the commands write."""

import csv
import io
import json
from uuid import UUID, uuid4

import pyarrow.parquet
import pytest
from openpyxl import load_workbook

from scrapersky.api.downloads import stream_written_file
from scrapersky.destinations.files.lead_file import LeadFile
from scrapersky.store.leads.columns import BUSINESS_COLUMNS
from scrapersky.store.leads.read import columns_of, leads
from tests.factories.api_application import client_with, is_problem, make_key
from tests.factories.line_rows import add, add_line

SEARCHES = "/api/v3/searches"


@pytest.fixture
async def line(admin, tenant):
    return await add_line(admin, tenant)


async def written(database, tenant, search, path, per):
    """The file that `scrapersky export leads` writes."""
    async with database.session(tenant) as session:
        with LeadFile(path, list(columns_of(per))) as file:
            await file.write(leads(session, UUID(search), per))
    return path


@pytest.mark.parametrize("per", ["business", "contact"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "xlsx", "parquet"])
async def test_a_file_is_the_one_that_the_commands_write(client, database, tenant, line, tmp_path, per, ending):
    path = await written(database, tenant, line["searches"], tmp_path / f"leads.{ending}", per)
    answer = await client.get(f"{SEARCHES}/{line['searches']}/leads.{ending}", params={"per": per})
    assert answer.status_code == 200, answer.text
    assert f".{ending}" in answer.headers["content-disposition"]
    if ending == "parquet":
        tables = [pyarrow.parquet.read_table(file) for file in (io.BytesIO(answer.content), path)]
        assert tables[0].equals(tables[1])
        assert tables[0].num_rows == 1
    elif ending == "xlsx":
        cells = [list(load_workbook(file).active.values) for file in (io.BytesIO(answer.content), path)]
        assert cells[0] == cells[1]
        assert len(cells[0]) == 2
    else:
        assert answer.content == path.read_bytes()
        assert len(answer.text.splitlines()) == {"csv": 2, "tsv": 2, "json": 3, "jsonl": 1}[ending]


async def test_an_empty_search_gives_a_file_without_rows(client, admin, tenant):
    search = await add(admin, "search", tenant, text="dentists", provider="fake")
    table = (await client.get(f"{SEARCHES}/{search}/leads.csv")).text
    assert next(csv.reader(io.StringIO(table.removeprefix("\ufeff")))) == list(BUSINESS_COLUMNS)
    assert (await client.get(f"{SEARCHES}/{search}/leads.jsonl")).content == b""
    workbook = await client.get(f"{SEARCHES}/{search}/leads.xlsx")
    assert len(list(load_workbook(io.BytesIO(workbook.content)).active.values)) == 1


async def test_the_leads_of_a_campaign_say_which_of_its_searches_found_them(client, line, admin, tenant):
    campaign = await add(admin, "search", tenant, text="2 searches", provider="campaign")
    await admin.execute("UPDATE search SET text = 'dentists', area = 'Turku' WHERE id = $1", UUID(line["searches"]))
    await admin.execute(
        "INSERT INTO campaign_search (campaign_id, search_id, tenant_id, position) VALUES ($1, $2, $3, 0)",
        UUID(campaign),
        UUID(line["searches"]),
        tenant,
    )
    url = f"/api/v3/campaigns/{campaign}"
    [lead] = (await client.get(f"{url}/results")).json()["items"]
    assert (lead["email"], lead["queries"]) == ("anna@molar.fi", ["dentists in Turku"])
    for per in ("business", "contact"):
        file = await client.get(f"{url}/leads.jsonl", params={"per": per, "columns": "email,queries"})
        assert file.json() == {"email": "anna@molar.fi", "queries": "dentists in Turku"}
    for ending in ("csv", "tsv", "json", "xlsx", "parquet"):
        assert (await client.get(f"{url}/leads.{ending}")).status_code == 200
    assert is_problem(await client.get(f"/api/v3/campaigns/{line['searches']}/leads.csv"), 404)


async def test_rows_columns_and_their_order_are_chosen_by_the_query(client, line, admin, tenant):
    url = f"{SEARCHES}/{line['searches']}"
    file = await client.get(f"{url}/leads.csv", params={"columns": "email,business", "sort": "-rating,city"})
    assert file.text.splitlines() == ["\ufeffemail,business", "anna@molar.fi,Molar Dental"]
    for path in ("leads.jsonl", "results"):
        found = await client.get(f"{url}/{path}", params={"verdict": ["risky", "unknown"]})
        assert "anna@molar.fi" not in found.text
        assert "anna@molar.fi" in (await client.get(f"{url}/{path}", params={"person": "anna"})).text
    assert (await client.get(f"{url}/leads.jsonl", params={"exported": "false"})).content == b""
    assert len((await client.get(f"{url}/leads.jsonl", params={"exported": "true"})).text.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"columns": "email,nothing"}, "'nothing' is not one of the columns of leads per business: business, website"),
        ({"sort": "why"}, "'why' is not one of the columns that leads per business can be sorted by"),
        ({"verdict": "perfect"}, "deliverable"),
        ({"country": "Finland"}, "pattern"),
    ],
)
async def test_an_unknown_column_sort_key_or_value_is_refused_with_the_choices(client, line, given, told):
    answer = await client.get(f"{SEARCHES}/{line['searches']}/leads.csv", params=given)
    assert is_problem(answer, 422)
    assert told in answer.text


async def test_phones_are_written_as_asked(client, line, admin):
    await admin.execute("UPDATE local_business SET phone = '+358912345678'")
    url = f"{SEARCHES}/{line['searches']}/leads.csv"
    assert "+358 9 12345678" in (await client.get(url)).text
    assert "+358912345678" in (await client.get(url, params={"phone_format": "e164"})).text


async def test_a_preferred_function_decides_the_best_contact(client, line, admin, tenant):
    for number, title in enumerate(("CEO", "Marketing Manager")):
        address = f"{number}@molar.fi"
        values = {"domain_id": line["domains"], "identity": address, "email": address, "title": title}
        await add(admin, "contact", tenant, name=f"P {number}", **values)
    url = f"{SEARCHES}/{line['searches']}"
    [lead] = (await client.get(f"{url}/results")).json()["items"]
    assert (lead["email"], lead["why"]) == ("0@molar.fi", "Head of the business (CEO), own domain, not verified.")
    [lead] = (await client.get(f"{url}/results", params={"prefer": "legal, Marketing"})).json()["items"]
    assert lead["email"] == "1@molar.fi"
    assert lead["why"] == "Marketing as preferred (Marketing Manager), own domain, not verified."
    file = (await client.get(f"{url}/leads.jsonl", params={"prefer": "marketing"})).json()
    assert (file["email"], file["why"]) == (lead["email"], lead["why"])


@pytest.mark.parametrize("path", ["results", "leads.csv"])
async def test_an_unknown_function_is_refused_with_the_choices(client, line, path):
    answer = await client.get(f"{SEARCHES}/{line['searches']}/{path}", params={"prefer": "magic"})
    assert is_problem(answer, 422)
    assert "'magic'" in answer.json()["detail"]
    assert "marketing, sales, it, finance" in answer.json()["detail"]


async def test_what_is_suppressed_is_in_no_file_and_in_no_row(client, line):
    url = f"{SEARCHES}/{line['searches']}"
    assert "anna@molar.fi" in (await client.get(f"{url}/leads.csv")).text
    await client.post("/api/v3/suppressions", json={"values": ["anna@molar.fi"]})
    for path in ("leads.csv", "leads.jsonl", "results", "leads.csv?per=contact", "results?per=contact"):
        assert "anna@molar.fi" not in (await client.get(f"{url}/{path}")).text, path


async def test_rows_are_typed_and_have_the_ids_of_their_rows(client, line):
    url = f"{SEARCHES}/{line['searches']}/results"
    [lead] = (await client.get(url)).json()["items"]
    ids = {name: lead[name] for name in ("business_id", "place_id", "domain_id", "contact_id")}
    nouns = {"business_id": "businesses", "place_id": "places", "domain_id": "domains", "contact_id": "contacts"}
    assert ids == {name: line[noun] for name, noun in nouns.items()}
    assert (lead["per"], lead["other_emails"], lead["socials"]) == ("business", [], [])
    [contact] = (await client.get(url, params={"per": "contact"})).json()["items"]
    assert (contact["per"], contact["contact_id"], contact["page_id"]) == ("contact", line["contacts"], line["pages"])


async def test_several_values_are_lists_and_values_of_parts_are_objects(client, line, admin, tenant):
    values = {"domain_id": line["domains"], "identity": "person:pia; puro", "email": "pia@molar.fi"}
    await add(admin, "contact", tenant, name="Pia; Puro", title="Cook; baker", **values)
    await admin.execute("UPDATE contact SET name = 'Anna Molar', title = 'CEO' WHERE email = 'anna@molar.fi'")
    await admin.execute("UPDATE local_business SET categories = '{amenity=dentist,shop=wine}'")
    await admin.execute("""UPDATE contact SET verification = '{"reasons": ["own domain", "receives mail"]}'""")
    url = f"{SEARCHES}/{line['searches']}"
    [lead] = (await client.get(f"{url}/results")).json()["items"]
    assert lead["categories"] == ["dentist", "wine shop"]
    assert lead["verdict_reasons"] == ["own domain", "receives mail"]
    assert (lead["shared_with"], lead["technologies"]) == ([], [])
    provider, _, provider_id = lead["provider"].partition(":")
    assert lead["sources"] == [{"provider": provider, "id": provider_id}]
    assert lead["other_people"] == [{"name": "Pia; Puro", "title": "Cook; baker", "email": "pia@molar.fi"}]
    file = (await client.get(f"{url}/leads.jsonl")).json()
    assert file["categories"] == "dentist, wine shop"
    assert file["other_people"] == "Pia; Puro (Cook; baker) <pia@molar.fi>"


async def test_a_download_is_recorded_and_only_of_your_own_search(app, client, admin, database, line, other_tenant):
    url = f"{SEARCHES}/{line['searches']}/leads.csv"
    await client.get(url, params={"per": "contact"})
    row = await admin.fetchrow("SELECT * FROM audit WHERE action = 'export'")
    assert row["subject"] == f"leads of search {line['searches']}"
    assert json.loads(row["after"]) == {"filter": {"per": "contact"}, "form": "csv"}
    is_problem(await client.get(f"{SEARCHES}/{uuid4()}/leads.csv"), 404)
    is_problem(await client.get(f"{SEARCHES}/{line['searches']}/leads.odt"), 422)
    async with client_with(app, await make_key(database, tenant="other", name="eve")) as stranger:
        is_problem(await stranger.get(url), 404)


async def test_a_file_is_sent_while_it_is_written():
    read = 0

    async def rows():
        nonlocal read
        for number in range(20_000):
            read = number
            yield {"business": f"business {number}"}

    response = await stream_written_file("leads", "csv", ["business"], rows())
    assert read < 2_000
    blocks = [block async for block in response.body_iterator]
    assert max(map(len, blocks)) <= 65_536
    assert b"".join(block for block in blocks if isinstance(block, bytes)).count(b"\n") == 20_001
