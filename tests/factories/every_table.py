"""One row of a tenant in every table that has tenants."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories.line_rows import add_line

# What a column must hold besides something of its type.
WORDS = {
    "user": {"role": "viewer"},
    "invitation": {"role": "viewer"},
    "destination": {"kind": "webhook"},
    "suppression": {"kind": "email"},
    "quota_usage": {"kind": "pages"},
    "quota_reschedule": {"kind": "pages"},
}
ANYTHING = {
    "text": "'x'",
    "timestamp with time zone": "now()",
    "date": "now()::date",
    "integer": "1",
    "bigint": "1",
    "smallint": "200",
    "double precision": "1",
    "boolean": "false",
    "jsonb": "'{}'",
}
REQUIRED = (
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 "
    "AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER'"
)


async def fill(admin: Any, tenant: UUID) -> None:
    """A line, somebody with a login and a key, and a row of everything else."""
    ids = {noun: UUID(row_id) for noun, row_id in (await add_line(admin, tenant)).items()}
    user = await put(admin, "user", tenant)
    for table in (
        "job",
        "idempotency_key",
        "quota_usage",
        "quota_reschedule",
        "spending",
        "unanswered_call",
        "suppression",
        "invitation",
    ):
        await put(admin, table, tenant)
    await put(admin, "audit", tenant)
    action = await put(admin, "curation_action", tenant, id=uuid4())
    await put(admin, "curation_change", tenant, action_id=action, row_id=ids["places"])
    for table in ("api_key", "session", "saved_view"):
        await put(admin, table, tenant, user_id=user)
    await put(admin, "dead_letter", tenant, row_id=ids["places"])
    destination = await put(admin, "destination", tenant)
    await put(admin, "delivery", tenant, destination_id=destination, contact_id=ids["contacts"])
    await put(admin, "search_run", tenant, search_id=ids["searches"], number=7)
    await put(admin, "schedule", tenant, search_id=ids["searches"], every_seconds=86_400)
    for table in ("search_journal", "search_progress"):
        await put(admin, table, tenant, search_id=ids["searches"])
    await put(admin, "search_contact", tenant, search_id=ids["searches"], contact_id=ids["contacts"])
    await put(admin, "campaign_search", tenant, campaign_id=ids["searches"], search_id=ids["searches"])
    await put(admin, "exported_lead", tenant, lead_id=ids["businesses"])
    await put(admin, "match_key", tenant, business_id=ids["businesses"])


async def put(admin: Any, table: str, tenant: UUID, **columns: Any) -> Any:
    """A row with these columns and something in every other that must not be empty; its id, if it has one."""
    given = {"tenant_id": tenant, **WORDS.get(table, {}), **columns}
    rest = {name: ANYTHING[kind] for name, kind in await admin.fetch(REQUIRED, table) if name not in given}
    places = [*(f"${number}" for number in range(1, len(given) + 1)), *rest.values()]
    row = await admin.fetchrow(
        f'INSERT INTO "{table}" ({", ".join([*given, *rest])}) VALUES ({", ".join(places)}) RETURNING *',
        *given.values(),
    )
    return row.get("id")
