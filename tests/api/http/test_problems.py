"""Every wrong request gets a problem document; none gets a stack, an exception's text or an echo."""

import asyncio
import json
from typing import Any
from unittest.mock import AsyncMock

import asyncpg
import structlog
from sqlalchemy.exc import TimeoutError as PoolTimeout

from scrapersky.api.http.body_limits import MAX_LIST_BYTES
from scrapersky.api.http.browser_cookie import host_name
from scrapersky.api.http.middleware import RequestGuard
from scrapersky.core import database
from scrapersky.store.operations import runs, workflow_status
from tests.conftest import make_settings
from tests.factories.api_application import LINE, is_problem, served

QUEUE = f"{LINE}/packing/queue"
JSON = {"content-type": "application/json"}
NOWHERE = make_settings("postgresql://x/y")
SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/",
    "scheme": "http",
    "headers": [(b"host", b"localhost")],
    "client": None,
}


async def test_an_unknown_path_and_a_wrong_method_are_problems(client):
    assert is_problem(await client.get("/nowhere"), 404)["title"] == "Not Found"
    answer = await client.delete(LINE)
    is_problem(answer, 405)
    assert answer.headers["allow"] == "HEAD, GET"


async def test_a_trailing_slash_is_another_path(client):
    is_problem(await client.get(f"{LINE}/"), 404)


async def test_an_unknown_workflow_is_reported_with_the_known_ones(client):
    problem = is_problem(await client.get(f"{LINE}/nonsense"), 404)
    assert problem["title"] == "There is no workflow of this name."
    assert problem["detail"] == "'nonsense' is not one of packing, weighing, shipping."
    assert problem["type"] == "urn:scrapersky:problem:unknown-workflow"


WRONG_BODIES = [
    ('{"ids": [NaN]}', "body.ids.0"),
    ('{"ids": ["0"], "priority": Infinity}', "body.priority"),
    ('{"ids": ["\\ud800"]}', "body.ids.0"),
    ('{"ids": ["\\u0000"]}', "body.ids.0"),
    ('{"ids": []}', "body.ids"),
    ('{"ids": "all"}', "body.ids"),
    ("{}", "body.ids"),
    ("[]", "body"),
    ("null", "body"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "tenant_id": "x"}', "body.tenant_id"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "\\ud800": "x"}', "body"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "priority": -1}', "body.priority"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "priority": 1e99}', "body.priority"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "priority": true}', "body.priority"),
    ('{"ids": ["00000000-0000-0000-0000-000000000000"], "priority": "1"}', "body.priority"),
]


async def test_a_wrong_field_is_named_and_not_repeated(client):
    for body, field in WRONG_BODIES:
        problem = is_problem(await client.post(QUEUE, content=body.encode(), headers=JSON), 422)
        assert any(wrong["field"].startswith(field) for wrong in problem["errors"]), problem
        assert all(wrong.keys() == {"field", "message"} for wrong in problem["errors"]), body


async def test_control_characters_and_surrogates_are_refused(client):
    for reason in ["a\0b", "a\ud800b", "\x1b[31m", "   ", "", "x" * 501]:
        body = json.dumps({"reason": reason})
        problem = is_problem(await client.post(f"{LINE}/packing/pause", content=body, headers=JSON), 422)
        assert problem["errors"][0]["field"] == "body.reason"


async def test_a_body_without_a_content_type_is_not_read_as_json(client):
    is_problem(await client.post(QUEUE, content=b'{"ids": []}'), 415)


async def test_deeply_nested_json_is_a_bad_request(client):
    for body in ["[" * 200_000, '{"ids": ' + "9" * 5000 + "}"]:
        problem = is_problem(await client.post(QUEUE, content=body, headers=JSON), 400)
        assert (problem["title"], "nested too deeply" in problem["detail"]) == ("The body is not valid JSON.", True)


async def test_a_wrong_parameter_is_named(client):
    for query in ["limit=0", "limit=201", "limit=-1", "limit=100000000000000000000", "limit=x", "status=Lost"]:
        problem = is_problem(await client.get(f"{LINE}/packing/items?{query}"), 422)
        assert problem["errors"][0]["field"].removesuffix(".0") == f"query.{query.split('=')[0]}"


async def test_more_ids_than_allowed_are_refused(client):
    ids = ["00000000-0000-0000-0000-000000000000"] * 10_001
    problem = is_problem(await client.post(QUEUE, json={"ids": ids}), 422)
    assert "10000" in problem["errors"][0]["message"]


async def test_thousands_of_wrong_fields_make_a_short_document(client):
    problem = is_problem(await client.post(QUEUE, json={"ids": ["x"] * 10_000}), 422)
    assert len(problem["errors"]) == 50


async def test_a_large_body_is_refused_by_its_length_and_by_its_bytes(client):
    async def endless():
        for _ in range(MAX_LIST_BYTES // 1000 + 2):
            yield b" " * 1000

    is_problem(await client.post(QUEUE, content=b" " * (MAX_LIST_BYTES + 1), headers=JSON), 413)
    is_problem(await client.post(QUEUE, content=endless(), headers=JSON), 413)


async def test_too_many_or_too_long_headers_are_refused(client):
    is_problem(await client.get(LINE, headers={f"x-{n}": "1" for n in range(200)}), 431)
    is_problem(await client.get(LINE, headers={"x-long": "1" * 40_000}), 431)


async def test_a_body_that_does_not_arrive_gets_408():
    async def never(*_):
        await asyncio.Event().wait()

    sent = []

    async def send(message):
        sent.append(message)

    scope = {**SCOPE}
    await RequestGuard(never, settings=NOWHERE, local_only=True, body_seconds=0.05)(scope, never, send)
    assert sent[0]["status"] == 408


async def test_an_unexpected_exception_is_a_500_without_its_text(client, monkeypatch):
    async def fail(*_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(workflow_status, "of_engine", fail)
    with structlog.testing.capture_logs() as lines:
        answer = await client.get(LINE, headers={"x-request-id": "given-1"})
    problem = is_problem(answer, 500)
    assert "secret" not in answer.text
    assert "RuntimeError" not in answer.text
    assert problem["request_id"] == "given-1"
    assert [line["exc_info"] for line in lines if line["event"] == "request_failed"]


async def test_an_unavailable_or_busy_database_is_a_503_with_retry_after(client, monkeypatch):
    for error in [PoolTimeout("pool"), ConnectionRefusedError("refused"), asyncpg.LockNotAvailableError("locked")]:
        monkeypatch.setattr(runs, "page", AsyncMock(side_effect=error))
        answer = await client.get("/api/v3/runs")
        problem = is_problem(answer, 503)
        assert answer.headers["retry-after"] == "2"
        assert str(error) not in problem["detail"]


async def test_a_row_that_stays_locked_is_a_503_and_changes_nothing(app, admin, tenant, monkeypatch):
    monkeypatch.setitem(database.APP_SETTINGS, "lock_timeout", "50ms")
    row = await admin.fetchval("INSERT INTO parcel (tenant_id) VALUES ($1) RETURNING id", tenant)
    async with served(app) as client, admin.transaction():
        await admin.execute("SELECT 1 FROM parcel WHERE id = $1 FOR UPDATE", row)
        is_problem(await client.post(QUEUE, json={"ids": [str(row)]}), 503)
    assert await admin.fetchval("SELECT packing_status FROM parcel WHERE id = $1", row) == "New"
    assert await admin.fetchval("SELECT count(*) FROM audit") == 0


async def test_the_request_id_is_in_every_response_and_in_the_log(client):
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        own = await client.get(LINE, headers={"x-request-id": "abc-1"})
        made = await client.get(LINE, headers={"x-request-id": "no good\tid"})
    assert own.headers["x-request-id"] == "abc-1"
    assert len(made.headers["x-request-id"]) == 32
    served = [line["request_id"] for line in lines if line["event"] == "request_served"]
    assert served == ["abc-1", made.headers["x-request-id"]]


async def test_responses_are_not_cached_or_sniffed(client):
    answer = await client.get(LINE)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_client_that_disconnects_is_no_error():
    async def gone(*_scope: Any) -> Any:
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError(message)

    scope = {**SCOPE}
    with structlog.testing.capture_logs() as lines:
        await RequestGuard(gone, settings=NOWHERE, local_only=True)(scope, gone, send)
    assert [line["event"] for line in lines] == ["client_disconnected", "request_served"]


def test_the_host_header_is_parsed_as_browsers_send_it():
    assert [host_name(host) for host in ("localhost:80", "[::1]:80", "A.b", None)] == [
        "localhost",
        "::1",
        "a.b",
        "",
    ]
