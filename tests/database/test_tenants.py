"""The walls between tenants, held by the database itself."""

import asyncio
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from scrapersky.core.database import Database, TenantSession
from tests.conftest import make_settings

ADD = "INSERT INTO place (tenant_id, provider, provider_id, name) VALUES (:tenant, 'test', :number, 'n')"


async def places(session) -> int:
    return await session.scalar(text("SELECT count(*) FROM place"))


async def test_without_a_tenant_there_are_no_rows(database, tenant):
    async with database.session(tenant) as session:
        await session.execute(text(ADD), {"tenant": tenant, "number": "1"})
    async with database.session(None) as session:
        assert await places(session) == 0


async def test_a_tenant_sees_and_changes_only_its_own(database, tenant, other_tenant):
    async with database.session(tenant) as session:
        await session.execute(text(ADD), {"tenant": tenant, "number": "1"})
    async with database.session(other_tenant) as session:
        assert await places(session) == 0
        changed = await session.execute(text("UPDATE place SET name = 'mine'"))
        assert changed.rowcount == 0


async def test_a_row_cannot_be_moved_to_another_tenant(database, tenant, other_tenant):
    async with database.session(tenant) as session:
        await session.execute(text(ADD), {"tenant": tenant, "number": "1"})
    with pytest.raises(DBAPIError, match="row-level security"):
        async with database.session(tenant) as session:
            await session.execute(text("UPDATE place SET tenant_id = :other"), {"other": other_tenant})


async def test_many_tasks_of_several_tenants_on_two_connections_never_leak(server, database_url, admin):
    database = Database(database_url, make_settings(database_url, SCRAPERSKY_DATABASE_POOL_SIZE="2"))
    tenants = [await admin.fetchval("INSERT INTO tenant (name) VALUES ($1) RETURNING id", f"t{n}") for n in range(5)]
    for number, tenant in enumerate(tenants):
        await admin.execute(
            "INSERT INTO place (tenant_id, provider, provider_id, name) SELECT $1, 'test', n::text, 'n' "
            "FROM generate_series(1, $2) n",
            tenant,
            number + 1,
        )
    seen: list[tuple[int, int]] = []

    async def look(number: int) -> None:
        for _ in range(20):
            async with TenantSession(database.app, tenants[number]) as session:
                seen.append((number, await places(session)))
                await session.commit()
                seen.append((number, await places(session)))

    try:
        await asyncio.gather(*(look(number) for number in range(5)))
    finally:
        await database.close()
    assert len(seen) == 200
    assert {(number, number + 1) for number in range(5)} == set(seen)


async def test_unique_keys_are_per_tenant(database, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        async with database.session(owner) as session:
            await session.execute(text(ADD), {"tenant": owner, "number": "same"})
    with pytest.raises(DBAPIError, match="unique"):
        async with database.session(tenant) as session:
            await session.execute(text(ADD), {"tenant": tenant, "number": "same"})


async def test_every_table_with_a_tenant_has_its_wall(admin):
    open_tables = await admin.fetch(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' "
        "WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace "
        "AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"
    )
    assert [row[0] for row in open_tables] == []


async def test_the_roles_are_not_superusers_and_own_no_table(admin):
    roles = await admin.fetch("SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname ~ '^scrapersky_'")
    assert {tuple(role) for role in roles} == {(False, False, False)}
    owned = await admin.fetchval(
        "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner "
        "WHERE r.rolname ~ '^scrapersky_' AND c.relkind = 'r'"
    )
    assert owned == 0


async def test_the_engine_may_change_queue_columns_and_nothing_else(database, admin, tenant):
    await admin.execute(
        "INSERT INTO place (tenant_id, provider, provider_id, name) VALUES ($1, 'test', '1', 'n')", tenant
    )
    async with database.engine_connection() as connection:
        await connection.execute("UPDATE place SET deep_scan_status = 'Queued'")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("UPDATE place SET name = 'changed'")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("DELETE FROM place")


async def test_an_unknown_tenant_cannot_own_rows(database):
    stranger = uuid4()
    with pytest.raises(DBAPIError):
        async with database.session(stranger) as session:
            await session.execute(text(ADD), {"tenant": stranger, "number": "1"})
