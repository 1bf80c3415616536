"""One row of a tenant in every table that has tenants."""

from typing import Any
from uuid import UUID, uuid4

from tests.api.line_rows import add, add_line

TEXT = {
    "user": {"name": "eve", "role": "viewer"},
    "quota_book": {"kind": "pages", "used": 1},
    "remembered_answer": {"key": "k", "request_hash": "h", "status_code": 200, "answer": "{}"},
    "audit": {"actor": "eve", "origin": "test", "action": "change", "subject": "x"},
    "job": {"kind": "curation", "parameters": "{}"},
    "destination": {"name": "hook", "kind": "webhook"},
    "suppression": {"kind": "email", "value_hash": "h"},
    "invitation": {"role": "viewer", "token_hash": "h"},
}


async def fill(admin: Any, tenant: UUID) -> None:
    """A line, somebody with a login and a key, and a row of everything else."""
    ids = await add_line(admin, tenant)
    made = {table: await _insert(admin, table, tenant, **columns) for table, columns in TEXT.items()}
    user = made["user"]
    await add(admin, "api_key", tenant, user_id=user, name="k", prefix="p", secret_hash="h")
    await admin.execute(
        "INSERT INTO session (tenant_id, user_id, token_hash, expires_at, seen_at, origin) "
        "VALUES ($1, $2, 'h', now(), now(), 'test')",
        tenant,
        user,
    )
    await admin.execute(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "VALUES ($1, 'place.deep_scan', $2, 3, 'x', 'x')",
        tenant,
        UUID(ids["places"]),
    )
    contact = UUID(ids["contacts"])
    await add(admin, "delivery", tenant, destination_id=made["destination"], contact_id=contact)
    await admin.execute(
        "INSERT INTO search_journal (search_id, question, place, tenant_id, page) VALUES ($1, 'q', 'p', $2, '{}')",
        UUID(ids["searches"]),
        tenant,
    )


async def _insert(admin: Any, table: str, tenant: UUID, **columns: Any) -> Any:
    columns = {"tenant_id": tenant, **columns}
    names, places = ", ".join(columns), ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    if table == "quota_book":
        names, places = f"{names}, day", f"{places}, now()::date"
    if table == "invitation":
        names, places = f"{names}, expires_at", f"{places}, now()"
    has_id = table not in ("quota_book", "remembered_answer")
    returning = "RETURNING id" if has_id else f"RETURNING '{uuid4()}'::uuid"
    return await admin.fetchval(f'INSERT INTO "{table}" ({names}) VALUES ({places}) {returning}', *columns.values())
