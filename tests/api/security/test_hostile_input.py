"""Abuse by what is sent: foreign fields, SQL in parameters, JSON made to break parsers, bombs in tables."""

import asyncio
import csv
import io
import json
from uuid import uuid4

import httpx
import pytest

from tests.factories.api_application import LINE, app_over, client_with, is_problem, served
from tests.factories.line_rows import NOUNS, add_line

API = "/api/v3"
JSON = {"content-type": "application/json"}
NOBODY = "00000000-0000-0000-0000-000000000000"


# -- fields ------------------------------------------------------------------------------------------------------------

FOREIGN = ["tenant_id", "id", "status", "role", "attempts", "created_at", "merged_into_id", "is_operator", "__proto__"]


@pytest.mark.parametrize("name", FOREIGN)
async def test_fields_that_clients_may_not_set_are_refused_by_name(client, admin, tenant, name):
    contact = (await add_line(admin, tenant))["contacts"]
    before = await admin.fetchrow("SELECT * FROM contact WHERE id = $1", contact)
    requests = [
        ("POST", f"{API}/contacts", {"name": "Ada", name: NOBODY}),
        ("PATCH", f"{API}/contacts/{contact}", {"title": "Countess", name: NOBODY}),
        ("POST", f"{API}/contacts/curation", {"ids": [contact], "curation_status": "Selected", name: NOBODY}),
        ("POST", f"{API}/searches", {"text": "dentists", "area": "Helsinki", name: NOBODY}),
        ("POST", f"{LINE}/packing/pause", {"reason": "tea", name: NOBODY}),
    ]
    for method, path, body in requests:
        problem = is_problem(await client.request(method, path, json=body), 422)
        assert name in str(problem["errors"]), path
    assert await admin.fetchrow("SELECT * FROM contact WHERE id = $1", contact) == before
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action NOT LIKE '%key%' AND actor = 'ada'") == 0


# -- sort, filter, search ----------------------------------------------------------------------------------------------

INJECTIONS = [
    "name;drop table place",
    "id desc nulls first,(select pg_sleep(9))",
    "(select 1)",
    "name--",
    "1",
    "-",
    "created_at",
]


@pytest.mark.parametrize("noun", NOUNS)
async def test_sort_keys_and_filters_are_allow_listed(client, noun):
    for wrong in INJECTIONS:
        is_problem(await client.get(f"{API}/{noun}", params={"sort": wrong}), 422)
    for name in ("id; drop table place", "tenant_id", "1=1", "fields"):
        is_problem(await client.get(f"{API}/{noun}", params={name: "x"}), 422)


async def test_sql_in_a_value_is_text(client, admin, tenant):
    await add_line(admin, tenant)
    for text in (
        "' OR 1=1 --",
        "'; DROP TABLE place; --",
        "\\'",
        "$1",
        ":name",
        "%(name)s",
        "{0}",
        "a'||pg_sleep(9)||'",
    ):
        answer = await client.get(f"{API}/places", params={"text": text})
        assert (answer.status_code, answer.json()["items"]) == (200, [])
    assert await admin.fetchval("SELECT count(*) FROM place") == 1


async def test_like_wildcards_are_literal_characters(client, admin, tenant):
    await add_line(admin, tenant, "molar")
    for text in ("%", "_", "%olar%", "M_lar", "\\", "Molar%"):
        assert (await client.get(f"{API}/places", params={"text": text})).json()["items"] == [], text
    for wild in ("%@molar.fi", "anna_molar.fi", "an%"):
        assert (await client.get(f"{API}/contacts", params={"email": wild})).json()["items"] == [], wild
    assert len((await client.get(f"{API}/places", params={"text": "molar"})).json()["items"]) == 1


async def test_a_slow_statement_is_cancelled(database_url, admin, tenant):
    """A trigger that sleeps stands for the worst plan there is; also behind a pooler, which keeps no settings."""
    await admin.execute(
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';"
        "CREATE TRIGGER dawdle BEFORE INSERT ON contact FOR EACH ROW EXECUTE FUNCTION dawdle()"
    )
    for poll_only in ("false", "true"):
        app = app_over(database_url, SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS="0.2", SCHEDULER_POLL_ONLY=poll_only)
        async with served(app) as client:
            answer = await client.post(f"{API}/contacts", json={"name": "Ada"})
            problem = is_problem(answer, 503)
            assert problem["type"] == "urn:scrapersky:problem:too-slow"
            assert "SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS" in problem["detail"]
            assert (await client.get(f"{API}/contacts")).status_code == 200
    assert await admin.fetchval("SELECT count(*) FROM contact") == 0


async def test_a_request_that_waits_for_locks_ends_in_time(database_url, admin, tenant):
    """No statement is slow for itself: the whole is, and the connection it had is free again."""
    app = app_over(database_url, SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS="0.2", SCRAPERSKY_DATABASE_POOL_SIZE="3")
    async with served(app) as client:
        row = (await add_line(admin, tenant))["contacts"]
        for _ in range(3):
            async with admin.transaction():
                await admin.execute("SELECT 1 FROM contact WHERE id = $1 FOR UPDATE", row)
                answer = await client.patch(f"{API}/contacts/{row}", json={"title": "Countess"})
                assert "longer than 0.2 seconds" in is_problem(answer, 503)["detail"]
        async with asyncio.timeout(120):  # a busy machine is late, too; a lost connection is so for good
            while (await client.get(f"{API}/contacts")).status_code != 200:
                pass


@pytest.mark.parametrize("limit", ["-1", "0", "201", "100000000000000000000", "1e3", "1.5", "NaN", "0x10", "٣٤٥", ""])
async def test_the_limit_of_a_list_is_bounded(client, limit):
    for path in (f"{API}/places", f"{LINE}/packing/items", f"{API}/runs", f"{API}/dead-letters"):
        problem = is_problem(await client.get(f"{path}?limit={limit}"), 422)
        assert problem["errors"][0]["field"] == "query.limit"


async def test_lists_have_no_offset(client):
    for name in ("offset", "page", "skip"):
        is_problem(await client.get(f"{API}/places?{name}=1000000000"), 422)


async def test_a_forged_cursor_is_400(client):
    forged = ["x", "AAAA", "W10", "bnVsbA", "=" * 100, "../../etc/passwd", "WyJwbGFjZXMvLXVwZGF0ZWRfYXQiXQ", "٣"]
    deep = "W1tb" * 400
    for cursor in [*forged, deep]:
        is_problem(await client.get(f"{API}/places", params={"cursor": cursor}), 400)
    is_problem(await client.get(f"{API}/places", params={"cursor": "W" * 5000}), 422)


# -- JSON --------------------------------------------------------------------------------------------------------------

BROKEN = {
    "nan": ('{"reason": NaN}', 422),
    "infinity": ('{"reason": -Infinity}', 422),
    "deep": ('{"reason": ' + "[" * 30_000 + "]" * 30_000 + "}", 400),
    "huge integer": ('{"reason": ' + "9" * 5_000 + "}", 400),
    "huge exponent": ('{"reason": 1e99999}', 422),
    "surrogate": ('{"reason": "\\ud800"}', 422),
    "nul": ('{"reason": "a\\u0000b"}', 422),
    "twice": ('{"reason": "tea", "reason": "coffee"}', 422),
    "twice by escape": ('{"reason": "tea", "\\u0072eason": "coffee"}', 422),
    "twice deep inside": ('{"reason": "tea", "x": [{"a": {"b": 1, "b": 2}}]}', 422),
    "cut short": ('{"reason": "te', 400),
    "two values": ('{"reason": "tea"} {}', 400),
    "no object": ('"tea"', 422),
    "comment": ('{"reason": "tea" /* x */}', 400),
    "trailing comma": ('{"reason": "tea",}', 400),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_hostile_json_is_refused(client, name):
    body, status = BROKEN[name]
    is_problem(await client.post(f"{LINE}/packing/pause", content=body.encode(), headers=JSON), status)
    assert (await client.get(f"{LINE}/packing")).json()["paused"] is False


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\x00", b'{"reason": "\xff"}', '{"reason": "tea"}'.encode("utf-16")])
async def test_bytes_that_are_no_text_are_a_bad_request(client, body):
    answer = await client.post(f"{LINE}/packing/pause", content=body, headers=JSON)
    if answer.status_code != 200:  # UTF-16 is JSON by some readings
        assert is_problem(answer, answer.status_code)["status"] in (400, 422)


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", ""],
)
async def test_a_body_of_another_media_type_is_not_parsed_as_json(client, kind):
    answer = await client.post(f"{LINE}/packing/pause", content=b'{"reason": "tea"}', headers={"content-type": kind})
    is_problem(answer, 415)


async def test_the_name_of_a_duplicate_member_is_escaped(client):
    body = '{"a\\u001b[31m\\ud800": 1, "a\\u001b[31m\\ud800": 2}'
    problem = is_problem(await client.post(f"{LINE}/packing/pause", content=body, headers=JSON), 422)
    assert problem["detail"] == "'a\\x1b[31m\\ud800' occurs twice in one object. Send it once."


async def test_a_large_body_is_refused_before_it_is_read(client):
    headers = {**JSON, "content-length": "400000000"}
    request = httpx.Request("POST", f"http://localhost:8000{LINE}/packing/pause", headers=headers, content=b"")
    request.headers["authorization"] = client.headers["authorization"]
    is_problem(await client.send(request), 413)


# -- tables ------------------------------------------------------------------------------------------------------------


async def imports(client, body, kind="text/csv"):
    return await client.post(f"{API}/imports/domains", content=body, headers={"content-type": kind})


async def test_an_endless_import_is_refused_by_its_size(client):
    is_problem(await imports(client, b"name\n" + b"a.fi\n" * 2_500_000), 413)


@pytest.mark.parametrize(
    "body",
    [
        b",".join(b"c%d" % number for number in range(1_000_000)) + b"\n",  # a million columns
        b"PK\x03\x04" + b"\x00" * 100,  # a workbook
        b"\x1f\x8b\x08\x00" + b"\x00" * 100,  # a packed file
    ],
)
async def test_an_import_that_is_no_table_is_400(client, body):
    is_problem(await imports(client, body), 400)


async def test_an_invalid_row_does_not_affect_others(client, admin):
    rows = [
        b"good.fi,fine",
        b"a.fi," + b"x" * 200_000,  # a field of 200 kB
        b"nul.fi,a\x00b",
        b"also-good.fi,fine",
    ]
    answer = await imports(client, b"name,title\n" + b"\n".join(rows) + b"\n")
    assert answer.status_code == 200
    report = answer.json()
    assert (report["created"], report["failed"]) == (2, 2), report
    assert [error["line"] for error in report["errors"]] == [3, 4]
    assert await admin.fetchval("SELECT count(*) FROM domain") == 2


async def test_an_unclosed_quote_affects_its_own_row_only(client):
    answer = await imports(client, b'name\ngood.fi\n"never closed' + b"\nb.fi" * 1000)
    assert answer.status_code == 200
    assert answer.json()["created"] >= 1
    assert answer.json()["failed"] >= 1


async def test_utf_16_is_read_or_refused_with_a_message(client):
    answer = await imports(client, "name\nmolar.fi\n".encode("utf-16"))
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert answer.json()["created"] == 1


async def test_a_million_ids_are_refused(client):
    ids = "[" + ",".join([f'"{NOBODY}"'] * 25_000) + "]"
    body = '{"curation_status": "Selected", "ids": ' + ids + "}"
    is_problem(await client.post(f"{API}/contacts/curation", content=body, headers=JSON), 422)
    many = '{"curation_status": "Selected", "ids": [' + ",".join([f'"{NOBODY}"'] * 1_000_000) + "]}"
    is_problem(await client.post(f"{API}/contacts/curation", content=many, headers=JSON), 413)


FORMULAS = ["=1+1", "+1+cmd|' /C calc'!A0", "-1+1|cmd", "@SUM(1)", "\t=1", "\r=1", '=HYPERLINK("http://evil.example")']


async def test_no_cell_of_an_export_is_a_formula(client, admin, tenant):
    for number, formula in enumerate(FORMULAS):
        await admin.execute(
            "INSERT INTO contact (tenant_id, identity, name) VALUES ($1, $2, $3)", tenant, f"name:{number}", formula
        )
    text = (await client.get(f"{API}/exports/contacts.csv")).text
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert sorted(row["name"] for row in rows) == sorted(f"'{formula}" for formula in FORMULAS)
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


async def test_the_name_of_an_exported_file_is_fixed(client):
    answer = await client.get(f"{API}/exports/contacts.csv", params={"text": 'x"; filename="evil.exe\r\nX: y'})
    assert answer.status_code == 422
    named = (await client.get(f"{API}/exports/contacts.csv")).headers["content-disposition"]
    assert named.startswith("attachment; filename*=UTF-8''contacts-")
    answer = await client.get(f"{API}/exports/contacts.csv%0d%0aX-Evil:%20yes")
    assert "x-evil" not in answer.headers
    made = await client.get(LINE, headers={"x-request-id": "a\r\nX-Evil: yes".replace("\r\n", "%0d%0a")})
    assert "%0d" not in made.headers["x-request-id"]


# -- twice and at once -------------------------------------------------------------------------------------------------


async def test_of_two_simultaneous_changes_one_is_a_conflict(client, admin, tenant):
    row = (await add_line(admin, tenant))["contacts"]
    tag = (await client.get(f"{API}/contacts/{row}")).headers["etag"]
    answers = await asyncio.gather(
        *(
            client.patch(f"{API}/contacts/{row}", json={"title": f"Countess {n}"}, headers={"if-match": tag})
            for n in range(5)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]


async def test_an_idempotency_key_belongs_to_one_request_of_one_tenant(app, client, admin, tenant, key_for):
    row = (await add_line(admin, tenant))["contacts"]
    asked = {"curation_status": "Selected", "ids": [row]}
    key = {"idempotency-key": str(uuid4())}
    first = await client.post(f"{API}/contacts/curation", json=asked, headers=key)
    again = await client.post(f"{API}/contacts/curation", json=asked, headers=key)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    other = {**asked, "curation_status": "Archived"}
    is_problem(await client.post(f"{API}/contacts/curation", json=other, headers=key), 422)
    async with client_with(app, await key_for("admin", tenant="other")) as stranger:
        answer = await stranger.post(f"{API}/contacts/curation", json=other, headers=key)
        assert (answer.status_code, answer.json()["unknown"]) == (200, 1)


async def test_twenty_simultaneous_requests_with_one_key_have_one_effect(client, admin, tenant):
    row = (await add_line(admin, tenant))["places"]
    asked, key = {"curation_status": "Selected", "ids": [row]}, {"idempotency-key": "twenty"}
    answers = await asyncio.gather(*(client.post(f"{API}/places/curation", json=asked, headers=key) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({json.dumps(answer.json(), sort_keys=True) for answer in answers}) == 1
    assert await admin.fetchval("SELECT count(*) FROM audit WHERE action LIKE 'curate%'") == 1


# -- what is not for everybody -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["development", "production"])
async def test_description_metrics_and_dev_tools_need_a_credential(database_url, kind):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT=kind)
    async with app.router.lifespan_context(app), client_with(app, None) as stranger:
        for path in (f"{API}/openapi.json", "/metrics", f"{API}/dev-tools/scheduler_status"):
            is_problem(await stranger.get(path), 401)
        for path in ("/docs", "/redoc", "/openapi.json", "/debug", "/.env", "/server-status"):
            assert (await stranger.get(path)).status_code in (401, 404)


async def test_no_response_contains_a_stack_trace_or_an_error_text(client, admin, tenant):
    await admin.execute("ALTER TABLE contact RENAME COLUMN title TO title_hidden")
    answer = await client.get(f"{API}/contacts")
    is_problem(answer, 500)
    assert not [word for word in ("column", "asyncpg", "SELECT", "sqlalchemy", ".py") if word in answer.text]


# -- size --------------------------------------------------------------------------------------------------------------

UNDECLARED = json.dumps({f"m{n}": 1 for n in range(5_000)}).encode()
WITHOUT_LIST = ("auth/login", "contacts", "workflows/packing/pause", "places/x", "nowhere")
WITH_LIST = (
    "searches",  # the corners of an area
    *("places/curation", "places/submit", "suppressions", "suppressions/contacts", "suppressions/check"),
    *("deliveries", "deliveries/cancel", "workflows/packing/queue", "workflows/packing/retry", "dead-letters/retry"),
)


async def test_a_body_without_a_list_is_limited_to_64_kilobytes(client):
    for path in WITHOUT_LIST:
        is_problem(await client.post(f"{API}/{path}", content=b" " * 65_537, headers=JSON), 413)
        fits = await client.post(f"{API}/{path}", content=b'{"x": 1}' + b" " * 65_000, headers=JSON)
        assert fits.status_code in (404, 405, 422), path


async def test_a_body_with_a_list_may_be_larger(client):
    for path in WITH_LIST:
        assert (await client.post(f"{API}/{path}", content=b" " * 900_000, headers=JSON)).status_code != 413, path
        is_problem(await client.post(f"{API}/{path}", content=b" " * 1_000_001, headers=JSON), 413)


async def test_an_object_of_hundreds_of_members_is_refused_before_it_is_validated(client, monkeypatch):
    def validated(*_):
        raise AssertionError("the body was validated")

    monkeypatch.setattr("fastapi.dependencies.utils.request_body_to_args", validated)
    for path in ("searches", "places/curation", "deliveries", "places/submit"):
        for body in (UNDECLARED, b'{"filter": ' + UNDECLARED + b"}", b'{"items": [' + UNDECLARED + b"]}"):
            problem = is_problem(await client.post(f"{API}/{path}", content=body, headers=JSON), 422)
            assert "at most 200 members" in problem["detail"]


async def test_an_object_of_thousands_of_members_is_not_imported(client):
    for body in (UNDECLARED, b'{"rows": [' + UNDECLARED + b"]}"):
        for path in ("imports/places", "imports/places/look"):
            problem = is_problem(await client.post(f"{API}/{path}", content=body, headers=JSON), 422)
            assert problem["detail"] == "An object may have at most 1,000 members."
