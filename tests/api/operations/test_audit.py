"""The audit as admins read it: filtered, page by page, as a file; each tenant its own."""

import csv
import io
import json
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from scrapersky.models import Audit
from scrapersky.store.audit import log as audit_log
from scrapersky.store.audit.log import AuditSelection
from tests.api.line.test_list_plans import rows_read
from tests.factories.api_application import client_with, is_problem

AUDIT = "/api/v3/audit"
ADD = (
    "INSERT INTO audit (tenant_id, at, actor, origin, action, subject, before, after) "
    "SELECT $1, now() - n * interval '1 second', $2, $3, $4, $5, NULL, jsonb_build_object('n', n) "
    "FROM generate_series(1, $6::int) n"
)


async def add(admin, tenant, count=1, actor="bob", origin="api 192.0.2.7", action="change", subject="contact 1"):
    await admin.execute(ADD, tenant, actor, origin, action, subject, count)


async def read(client, **query):
    answer = await client.get(AUDIT, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_entry_is_read_once_with_any_page_size(client, admin, tenant):
    await add(admin, tenant, 25)
    seen, cursor = [], None
    while True:
        page = await read(client, limit=4, **({"cursor": cursor} if cursor else {}))
        seen += [line["after"]["n"] for line in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == list(range(1, 26))


async def test_an_entry_has_actor_action_time_origin_and_values(client, admin, tenant):
    await client.post("/api/v3/workflows/packing/pause", json={"reason": "no tape"})
    [line] = (await read(client))["items"]
    assert (line["actor"], line["action"], line["subject"]) == ("ada", "pause", "packing")
    assert line["origin"].startswith("api 127.0.0.1 key ")
    assert line["before"] == {"paused": False, "breaker": "closed"}
    assert line["after"] == {"paused": True, "reason": "no tape"}
    assert line["actor_id"] == str(await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'ada'"))


@pytest.mark.parametrize(
    "query",
    [{"actor": "eve"}, {"action": "export"}, {"action": ["export", "never"]}, {"subject": "places"}, {"origin": "cli"}],
    ids=lambda query: next(iter(query)),
)
async def test_filters(client, admin, tenant, query):
    await add(admin, tenant, 3)
    await add(admin, tenant, 2, "eve", "cli", "export", "places")
    assert len((await read(client, **query))["items"]) == 2


async def test_from_and_until(client, admin, tenant):
    await add(admin, tenant, 5)
    lines = (await read(client))["items"]
    found = await read(client, **{"from": lines[3]["at"], "until": lines[0]["at"]})
    assert [line["after"]["n"] for line in found["items"]] == [2, 3, 4]


@pytest.mark.parametrize(
    "query", [{"origin": "elsewhere"}, {"limit": 0}, {"sort": "at"}, {"from": "yesterday"}, {"actor": "a\0b"}], ids=str
)
async def test_invalid_filters_are_refused(client, query):
    is_problem(await client.get(AUDIT, params=query), 422)


async def test_a_cursor_of_another_list_is_refused(client):
    is_problem(await client.get(AUDIT, params={"cursor": "WyJydW5zIl0"}), 400)


async def test_admins_read_the_entries_of_their_own_tenant_only(app, client, admin, tenant, other_tenant, key_for):
    await add(admin, tenant, 3, subject="of the operator")
    await add(admin, other_tenant, 2, subject="of the other")
    async with client_with(app, await key_for("admin", tenant="other")) as other:
        assert {line["subject"] for line in (await read(other))["items"]} == {"of the other"}
        foreign = (await read(client, limit=1))["next_cursor"]
        assert {line["subject"] for line in (await read(other, cursor=foreign))["items"]} <= {"of the other"}
        exported = (await other.get(f"{AUDIT}/export.jsonl")).text
        assert "of the operator" not in exported
    for role in ("viewer", "curator", "operator"):
        async with client_with(app, await key_for(role, tenant="other")) as lower:
            is_problem(await lower.get(AUDIT), 403)
            is_problem(await lower.get(f"{AUDIT}/export.csv"), 403)


async def test_a_file_has_every_entry_and_no_formula(client, admin, tenant):
    await add(admin, tenant, 450, subject='=HYPERLINK("x")')
    answer = await client.get(f"{AUDIT}/export.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert len(rows) == 451  # who took them out stands there, too
    assert {row["subject"] for row in rows} == {'\'=HYPERLINK("x")', "audit"}
    assert json.loads(rows[0]["after"]) == {"n": 450}
    lines = [json.loads(line) for line in (await client.get(f"{AUDIT}/export.jsonl?action=export")).text.splitlines()]
    assert [line["after"]["form"] for line in lines] == ["csv", "jsonl"]


async def test_entries_of_the_audit_log_cannot_be_changed(database, admin, tenant):
    await add(admin, tenant)
    for statement in ("UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"):
        with pytest.raises(DBAPIError, match="permission denied"):
            async with database.session(tenant) as session:
                await session.execute(text(statement))
    async with database.engine_connection() as connection:
        with pytest.raises(Exception, match="permission denied"):
            await connection.execute("UPDATE audit SET actor = 'nobody'")


PLANS = [
    (AuditSelection(), "audit_by_time"),
    (AuditSelection(actor="eve"), "audit_by_actor"),
    (AuditSelection(actions=["export"]), "audit_by_action"),
    (AuditSelection(subject="places"), "audit_by_subject"),
    (AuditSelection(channel="cli"), "audit_by_channel"),
]


async def test_each_filter_is_read_from_its_index(database, admin, tenant, other_tenant):
    await add(admin, tenant, 30_000)
    await add(admin, other_tenant, 10_000)
    await add(admin, tenant, 60, "eve", "cli", "export", "places")
    await admin.execute("UPDATE audit SET at = at - interval '30 days' WHERE actor = 'eve'")
    await admin.execute("VACUUM ANALYZE audit")
    for wanted, index in PLANS:
        both: Any = select(Audit.id, Audit.at)
        query = audit_log.matching(both, tenant, wanted)
        statement = (
            query.order_by(Audit.at.desc(), Audit.id.desc())
            .limit(51)
            .compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
        )
        async with database.session(tenant) as session:
            connection = await session.connection()
            lines = await connection.exec_driver_sql(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}")
            plan = "\n".join(line[0] for line in lines)
        assert index in plan, plan
        assert rows_read(plan) <= 60, plan
