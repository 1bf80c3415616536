"""Imports over HTTP: a table or objects go in, a report comes out, and nothing is lost or stored twice."""

import json

import pytest

from tests.factories.api_application import is_problem

CSV = {"Content-Type": "text/csv"}


async def sent(client, noun, body, headers=CSV, **query):
    return await client.post(f"/api/v3/imports/{noun}", content=body, headers=headers, params=query)


async def test_a_table_is_imported_and_reported(client, admin):
    body = "website,country\nhttps://molar.fi/,FI\n127.0.0.1,FI\n"
    answer = await sent(client, "domains", body, auto_queue="true", name="sites.csv")
    report = answer.json()
    search_id = str(await admin.fetchval("SELECT id FROM search WHERE text = 'domains of sites.csv'"))
    assert answer.status_code == 200
    assert report == {
        "noun": "domains",
        "dry_run": False,
        "search_id": search_id,
        "rows": 2,
        "created": 1,
        "updated": 0,
        "unchanged": 0,
        "queued": 1,
        "failed": 1,
        "errors": [{"line": 3, "message": "no web address: 127.0.0.1 is an IP address, not a host name"}],
        "incomplete": 0,
        "cells": [],
        "ignored_columns": [],
        "job_id": str(await admin.fetchval("SELECT id FROM job WHERE kind = 'import'")),
    }
    job = (await client.get(f"/api/v3/jobs/{report['job_id']}")).json()
    assert (job["state"], job["parameters"]["name"]) == ("completed", "sites.csv")
    assert {name: job["result"][name] for name in ("created", "errors", "search_id")} == {
        name: report[name] for name in ("created", "errors", "search_id")
    }
    again = (await sent(client, "domains", body, auto_queue="true", name="sites.csv")).json()
    assert (again["created"], again["unchanged"], again["queued"], again["search_id"]) == (0, 1, 0, search_id)
    listed = (await client.get("/api/v3/domains", params={"search_id": search_id})).json()
    assert [(row["name"], row["domain_metadata_status"]) for row in listed["items"]] == [("molar.fi", "Queued")]
    assert await admin.fetchval("SELECT actor FROM audit WHERE action = 'import'") == "ada"


async def test_a_look_names_the_columns_what_they_are_taken_for_and_five_rows(client, admin):
    body = "Firma;Telefon;Notiz\n" + "".join(f"Molar {number};0912345{number};\n" for number in range(9))
    query = {"map": ["Firma=name", "Telefon=-"]}
    answer = await client.post("/api/v3/imports/places/look", content=body, headers=CSV, params=query)
    seen = answer.json()
    assert answer.status_code == 200
    assert seen["columns"] == [
        {"name": "Firma", "field": "name"},
        {"name": "Telefon", "field": None},
        {"name": "Notiz", "field": None},
    ]
    assert [row["line"] for row in seen["rows"]] == [2, 3, 4, 5, 6]
    assert seen["rows"][0]["cells"] == ["Molar 0", "09123450", ""]
    assert seen["problem"] == ""
    assert {"name": "name", "is_needed": True}.items() <= seen["fields"][0].items()
    unmapped = (await client.post("/api/v3/imports/domains/look", content=body, headers=CSV)).json()
    assert "Domains need a column for domain" in unmapped["problem"]
    nothing = await client.post("/api/v3/imports/places/look", content="Firma\n", headers=CSV)
    is_problem(nothing, 400)
    assert await admin.fetchval("SELECT count(*) FROM place") == 0
    left_out = await sent(client, "places", body, **query, dry_run="true")
    assert (left_out.json()["created"], left_out.json()["ignored_columns"]) == (9, ["Telefon", "Notiz"])
    assert left_out.json()["job_id"] is None


async def test_a_list_of_values_is_imported_as_plain_text(client, admin):
    answer = await sent(client, "domains", "molar.fi\n\nkallio.fi\n127.0.0.1\n", {"Content-Type": "text/plain"})
    assert (answer.json()["created"], [error["line"] for error in answer.json()["errors"]]) == (2, [4])
    assert await admin.fetchval("SELECT array_agg(name ORDER BY name) FROM domain") == ["kallio.fi", "molar.fi"]


async def test_json_objects_are_imported_like_table_rows(client, admin):
    rows = [{"Name": "Molar", "lat": 60.17, "lon": 24.94, "types": ["dentist", "doctor"]}, {"name": ""}]
    answer = await client.post("/api/v3/imports/places", json={"rows": rows})
    assert (answer.json()["created"], answer.json()["errors"]) == (1, [{"line": 2, "message": "it has no name"}])
    row = await admin.fetchrow("SELECT name, latitude, categories, provider FROM place")
    assert tuple(row) == ("Molar", 60.17, ["dentist", "doctor"], "import")


async def test_only_the_object_with_a_duplicate_member_fails(client, admin):
    rows = '{"domain": "a-site.fi", "domain": "b-site.fi"}, {"domain": "c-site.fi"}'
    answer = await sent(client, "domains", f'{{"rows": [{rows}]}}', {"Content-Type": "application/json"})
    why = "has the key 'domain' twice in one object; keep one"
    assert (answer.json()["created"], answer.json()["errors"]) == (1, [{"line": 1, "message": why}])
    assert await admin.fetchval("SELECT array_agg(name) FROM domain") == ["c-site.fi"]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("email,e-mail,note,note\nno@molar.fi,anna@molar.fi,1,2\n", {"map": "E_mail=email"}),
        ("email,url,website\nanna@molar.fi,,molar.fi\n", {"map": "website=domain"}),
    ],
)
async def test_a_mapped_column_has_precedence_over_one_of_the_same_field(client, admin, body, query):
    answer = (await sent(client, "contacts", body, **query)).json()
    assert (answer["created"], answer["failed"]) == (1, 0)
    assert await admin.fetchval("SELECT array_agg(email) FROM contact") == ["anna@molar.fi"]


async def test_only_the_object_with_two_names_of_a_field_fails(client, admin):
    rows = [{"email": "a@a.fi", "mail": "b@a.fi"}, {"mail": "c@a.fi"}, {"email": "d@a.fi"}]
    answer = (await client.post("/api/v3/imports/contacts", json={"rows": rows})).json()
    assert (answer["created"], [error["line"] for error in answer["errors"]]) == (2, [1])
    assert answer["errors"][0]["message"].startswith("'email' and 'mail' both hold email; remove one")


async def test_a_spare_column_name_counts_only_without_another(client, admin):
    await sent(client, "places", "id,provider_id,name\nours,theirs,Molar\n")
    await sent(client, "places", "id,name\nalone,Molar\n")
    assert await admin.fetchval("SELECT array_agg(provider_id ORDER BY provider_id) FROM place") == ["alone", "theirs"]


async def results_of(client, search_id):
    answer = (await client.get(f"/api/v3/searches/{search_id}/results", params={"per": "contact"})).json()
    return sorted(row["email"] for row in answer["items"])


async def test_contacts_without_a_website_belong_to_the_search_of_their_file(client, admin):
    body = "email\nlone@gmail.com\nanna@molar.fi\n"
    report = (await sent(client, "contacts", body, auto_queue="true", name="people.csv")).json()
    search_id = report["search_id"]
    found = {"search_id": search_id}
    listed = (await client.get("/api/v3/contacts", params=found)).json()["items"]
    assert sorted(row["email"] for row in listed) == ["anna@molar.fi", "lone@gmail.com"]
    assert await results_of(client, search_id) == ["anna@molar.fi", "lone@gmail.com"]
    search = (await client.get(f"/api/v3/searches/{search_id}")).json()
    assert (search["result_count"], report["queued"]) == (2, 2)
    (lone,) = [row["id"] for row in listed if row["email"] == "lone@gmail.com"]
    kin = (await client.get(f"/api/v3/contacts/{lone}")).json()
    assert search_id in json.dumps(kin)
    cancelled = await client.post(f"/api/v3/searches/{search_id}/cancel")
    assert cancelled.status_code == 200, cancelled.text
    assert await admin.fetchval("SELECT count(*) FROM contact WHERE contact_verification_status = 'Queued'") == 0


@pytest.mark.parametrize(
    ("noun", "body"),
    [("domains", "domain\nmolar.fi\n"), ("places", "provider,provider_id,name\nmine,1,Molar\n")],
)
async def test_existing_rows_are_results_of_a_second_file_too(client, admin, noun, body):
    first = (await sent(client, noun, body, name="one.csv")).json()["search_id"]
    second = (await sent(client, noun, body, name="two.csv")).json()
    assert (second["unchanged"], second["search_id"] == first) == (1, False)
    for search_id in (first, second["search_id"]):
        assert len((await client.get(f"/api/v3/{noun}", params={"search_id": search_id})).json()["items"]) == 1


async def test_the_results_of_a_search_are_counted_over_all_its_files(client):
    await sent(client, "domains", "domain\na-site.fi\nb-site.fi\n", name="mine")
    search_id = (await sent(client, "domains", "domain\nb-site.fi\nc-site.fi\n", name="mine")).json()["search_id"]
    assert (await client.get(f"/api/v3/searches/{search_id}")).json()["result_count"] == 3


@pytest.mark.parametrize(
    ("columns", "cells", "why"),
    [
        ("country", "Finlandish", "'Finlandish' is not a country"),
        ("rating", "11", "'11' is not a rating; it lies between 0 and 10"),
        ("rating", "-1", "'-1' is not a rating"),
        ("rating", "nan", "'nan' is not a rating"),
        ("rating_count", "-5", "'-5' is not a rating_count; it lies between 0 and"),
        ("rating_count", "1.5", "'1.5' is not a rating_count"),
        ("rating_count", "99999999999", "'99999999999' is not a rating_count"),
        ("email", "info@molar.fi; nobody", "'nobody' is not an email address"),
        ("latitude,longitude", "91,24", "'91' is not a latitude"),
        ("longitude,latitude", "181,60", "'181' is not a longitude"),
        ("latitude", "60", "there is no longitude beside it"),
        ("phone", "abc", "'abc' is not a phone number"),
        ("website", "x" * 2_049, "it has more than 2,048 characters"),
    ],
)
async def test_a_place_is_kept_without_its_wrong_cell_and_the_cell_is_named(client, admin, columns, cells, why):
    report = (
        await sent(client, "places", f"name,{columns}\nMolar,{cells}\nFine{',' * len(columns.split(','))}\n")
    ).json()
    assert (report["created"], report["failed"], report["incomplete"]) == (2, 0, 1), report
    cell = report["cells"][0]
    assert (cell["line"], cell["column"], why in cell["message"]) == (2, columns.partition(",")[0], True), cell
    row = await admin.fetchrow("SELECT phone, rating, rating_count, latitude, website FROM place WHERE name = 'Molar'")
    assert set(row.values()) == {None}


async def test_places_whose_terms_forbid_it_are_not_imported(client, admin):
    report = (await sent(client, "places", "name,provider\nMolar,Google_Places\nFine,\n")).json()
    assert (report["created"], report["failed"]) == (1, 1)
    assert "its terms limit how long they may be kept" in report["errors"][0]["message"]


async def test_wrong_cells_of_a_contact_cost_the_row_only_where_nothing_is_left(client, admin):
    body = "name,Phone Number,country\nAnna,abc,Finland\nBen,09 6123 4567,Suomi\n,abc,FI\nCai,09 6123 4567,Mars\n"
    report = (await sent(client, "contacts", body)).json()
    assert (report["created"], report["incomplete"], report["failed"]) == (3, 2, 1)
    assert [(cell["line"], cell["column"]) for cell in report["cells"]] == [
        (2, "Phone Number"),
        (5, "country"),
        (5, "Phone Number"),
    ]
    assert "Phone Number: 'abc' is not a phone number" in report["errors"][0]["message"]
    assert await admin.fetchval("SELECT phone FROM contact WHERE name = 'Ben'") == "+358961234567"


async def test_rows_without_a_country_have_the_given_one_and_unread_columns_are_listed(client, admin):
    body = "name,phone,country,Shoe size,Mood\nAnna,09 6123 4567,,38,\nBo,08 5050 0000,Sweden,,good\n"
    report = (await sent(client, "contacts", body, country="Finland")).json()
    assert (report["created"], report["cells"], report["ignored_columns"]) == (2, [], ["Shoe size", "Mood"])
    assert await admin.fetchval("SELECT array_agg(phone ORDER BY name) FROM contact") == [
        "+358961234567",
        "+46850500000",
    ]
    problem = is_problem(await sent(client, "contacts", body, country="Mars"), 400)
    assert "'Mars' is unknown" in problem["detail"]


async def test_email_addresses_and_ratings_of_a_place_are_normalized(client, admin):
    await sent(client, "places", 'name,email,rating\nMolar,Info@Molar.fi;anna@molar.fi,"4,5"\n')
    row = await admin.fetchrow("SELECT details->'extra'->'emails' AS emails, rating FROM place")
    assert (json.loads(row["emails"]), row["rating"]) == (["info@molar.fi", "anna@molar.fi"], 4.5)


async def test_json_lines_with_a_mapping_as_a_dry_run(client, admin):
    body = json.dumps({"Work mail": "anna@molar.fi"})
    headers = {"Content-Type": "application/x-ndjson; charset=utf-8"}
    answer = await sent(client, "contacts", body, headers, map="work mail=email", dry_run="true")
    assert (answer.json()["created"], answer.json()["search_id"]) == (1, None)
    assert (
        await admin.fetchval("SELECT count(*) FROM contact") + await admin.fetchval("SELECT count(*) FROM search") == 0
    )


async def test_an_import_does_not_change_rows_of_another_tenant(client, admin, other_tenant):
    await admin.execute("INSERT INTO domain (tenant_id, name) VALUES ($1, 'molar.fi')", other_tenant)
    assert (await sent(client, "domains", "domain,country\nmolar.fi,FI\n")).json()["created"] == 1
    rows = await admin.fetch("SELECT country FROM domain WHERE tenant_id = $1", other_tenant)
    assert [row["country"] for row in rows] == [None]


@pytest.mark.parametrize(
    ("noun", "body", "headers", "query", "status", "sentence"),
    [
        ("domains", b"", CSV, {}, 400, "It is empty."),
        ("domains", b"PK\x03\x04\0\0", CSV, {}, 400, "It is not text."),
        ("domains", b"colour\nred\n", CSV, {}, 400, "Domains need a column for domain"),
        ("domains", b"domain\na.fi\n", CSV, {"map": "x=y"}, 400, "'y' is not a field of domains"),
        (
            "contacts",
            b"email,e-mail\na@a.fi,b@a.fi\n",
            CSV,
            {},
            400,
            "'email' and 'e-mail' both hold email; remove",
        ),
        ("contacts", b"Email,note,Email\na@a.fi,,b@a.fi\n", CSV, {}, 400, "Two columns are called 'Email'; remove"),
        ("domains", b"a,b\na.fi,b.fi\n", CSV, {"map": ["a=domain", "b=domain"]}, 400, "'a' and 'b' both hold domain"),
        ("animals", b"name\nx\n", CSV, {}, 422, "path.noun"),
        ("domains", b"domain\na.fi\n", CSV, {"dry_run": "perhaps"}, 422, "query.dry_run"),
        ("domains", b"<xml/>", {"Content-Type": "application/xml"}, {}, 415, "Send the rows as text/csv"),
        ("domains", b'{"rows": []}', {"Content-Type": "application/json"}, {}, 422, "body.rows"),
        (
            "domains",
            b'{"rows": [{}], "rows": [{}]}',
            {"Content-Type": "application/json"},
            {},
            422,
            "'rows' occurs twice",
        ),
        ("domains", b"{", {"Content-Type": "application/json"}, {}, 400, "Check the brackets"),
        ("domains", b"x" * 10_000_001, CSV, {}, 413, "10,000,000 bytes"),
    ],
)
async def test_an_invalid_import_is_a_problem(client, admin, noun, body, headers, query, status, sentence):
    problem = is_problem(await sent(client, noun, body, headers, **query), status)
    assert sentence in problem["detail"]
    assert await admin.fetchval("SELECT count(*) FROM search") == 0


async def test_an_explicit_scheme_given_later_wins_and_a_bare_name_does_not(client, admin):
    stored = []
    for website in ("molar.fi", "http://molar.fi/", "molar.fi", "https://www.molar.fi/"):
        await sent(client, "domains", f"domain\n{website}\n")
        stored.append(await admin.fetchval("SELECT start_url FROM domain"))
    assert stored == [None, "http://molar.fi/", "http://molar.fi/", "https://www.molar.fi/"]


async def test_only_imports_may_be_large(client):
    assert (await sent(client, "domains", "domain,note\n" + f"a.fi,{'x' * 90_000}\n" * 100)).json()["created"] == 1
    is_problem(await client.post("/api/v3/contacts", content=b"x" * 1_000_001), 413)


async def test_a_json_import_has_at_most_a_thousand_objects(client):
    answer = await client.post("/api/v3/imports/domains", json={"rows": [{"domain": "a.fi"}] * 1_001})
    assert "body.rows" in is_problem(answer, 422)["detail"]
