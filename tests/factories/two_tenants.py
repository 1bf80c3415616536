"""Two tenants side by side, one row of everything each: what the one must never see of the other."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories.api_application import add_dead, add_parcels
from tests.factories.line_rows import add, add_line

WATCHED = (  # tables of rows that nobody else may change
    *("search", "place", "local_business", "domain", "sitemap_file", "page", "contact", "job", "dead_letter"),
    *("destination", "delivery", "schedule", "suppression", "parcel", "invitation", "audit", '"user"'),
)


@dataclass(frozen=True)
class Household:
    """A tenant and the ids of its rows, by noun."""

    tenant: UUID
    name: str
    ids: dict[str, str]


async def furnish(admin: Any, tenant: UUID, name: str) -> Household:
    """One row of every noun, called after the tenant."""
    ids = await add_line(admin, tenant, name)
    contact, domain = UUID(ids["contacts"]), UUID(ids["domains"])
    ids["jobs"] = await add(
        admin, "job", tenant, kind="sitemap_scan", parameters=f'{{"site": "{name}.fi"}}', subject_id=domain
    )
    ids["sitemap/status"] = ids["jobs"]
    ids["parcels"] = (await add_parcels(admin, tenant, 1, "Error", packing_error=f"{name} tore"))[0]
    ids["dead-letters"] = (await add_dead(admin, tenant, 2, f"RuntimeError: {name} tore"))[0]
    ids["destinations"] = await add(
        admin, "destination", tenant, name=name, kind="webhook", url=f"https://{name}.example/hook"
    )
    ids["deliveries"] = await add(
        admin, "delivery", tenant, destination_id=UUID(ids["destinations"]), contact_id=contact
    )
    ids["schedules"] = await add(
        admin,
        "schedule",
        tenant,
        search_id=UUID(ids["searches"]),
        every_seconds=86_400,
        next_run_at=datetime.now(UTC) + timedelta(days=1),
    )
    ids["suppressions"] = await add(
        admin, "suppression", tenant, kind="email", value=f"never@{name}.fi", value_hash=name
    )
    ids["invitations"] = await admin.fetchval(
        "INSERT INTO invitation (tenant_id, role, token_hash, expires_at) "
        "VALUES ($1, 'viewer', $2, now() + interval '1 day') RETURNING id::text",
        tenant,
        name,
    )
    for noun in ("users", "auth/sessions", "api-keys"):
        ids[noun] = await _person(admin, tenant, name, noun)
    ids["views"] = await add(
        admin, "saved_view", tenant, user_id=UUID(ids["users"]), noun="contacts", name=name, query="", shared=True
    )
    ids["tenants"] = str(tenant)
    return Household(tenant, name, ids)


async def _person(admin: Any, tenant: UUID, name: str, noun: str) -> str:
    user = await admin.fetchval(
        'INSERT INTO "user" (tenant_id, name, role) VALUES ($1, $2, $3) RETURNING id', tenant, f"{name} {noun}", "admin"
    )
    if noun == "auth/sessions":
        return await add_session(admin, tenant, user, f"{name} token")
    if noun == "api-keys":
        return await add(admin, "api_key", tenant, user_id=user, name=name, prefix=name, secret_hash="")
    return str(user)


async def add_session(admin: Any, tenant: UUID, user: UUID, token_hash: str) -> str:
    """A login of somebody, as a password would have made it."""
    return str(
        await admin.fetchval(
            "INSERT INTO session (tenant_id, user_id, token_hash, family_hash, expires_at, seen_at, origin) "
            "VALUES ($1, $2, $3, $3, now() + interval '1 day', now(), 'tests') RETURNING id",
            tenant,
            user,
            token_hash,
        )
    )


async def fingerprint(admin: Any, tenant: UUID) -> dict[str, str]:
    """All rows of a tenant, in short: whatever changes one of them changes this."""
    return {
        table: await admin.fetchval(
            f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {table} t WHERE tenant_id = $1",
            tenant,
        )
        for table in WATCHED
    }
