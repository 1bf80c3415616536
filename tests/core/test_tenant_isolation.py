"""The walls between tenants, held by the database itself."""

import asyncio
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import UniqueConstraint, text
from sqlalchemy.exc import DBAPIError

from scrapersky.core.database import Database
from scrapersky.models import Base
from tests.conftest import make_settings
from tests.factories.every_table import fill

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


class Interrupted(Exception):
    """A fault in the middle of a transaction."""


async def add_tenants(admin, count: int) -> list:
    """Tenants that have one place, two places, and so on."""
    tenants = [
        await admin.fetchval("INSERT INTO tenant (name) VALUES ($1) RETURNING id", f"t{n}") for n in range(count)
    ]
    for number, tenant in enumerate(tenants):
        await admin.execute(
            "INSERT INTO place (tenant_id, provider, provider_id, name) SELECT $1, 'test', n::text, 'n' "
            "FROM generate_series(1, $2) n",
            tenant,
            number + 1,
        )
    return tenants


@pytest.mark.parametrize("poll_only", ["false", "true"], ids=["direct", "behind a pooler"])
async def test_many_tasks_of_several_tenants_on_two_connections_never_leak(database_url, admin, poll_only):
    """Query, commit, query again in one session; between them faults, cancellations, the engine, and nobody."""
    settings = make_settings(database_url, SCRAPERSKY_DATABASE_POOL_SIZE="3", SCHEDULER_POLL_ONLY=poll_only)
    database = Database(database_url, settings)
    tenants = await add_tenants(admin, 7)
    seen: set[tuple[int, int]] = set()

    async def look(number: int) -> None:
        for turn in range(12):
            async with database.tenant_session(tenants[number]) as session:
                seen.add((number, await places(session)))
                await session.commit()
                seen.add((number, await places(session)))
                if turn % 4 == 1:
                    await session.rollback()
                    seen.add((number, await places(session)))

    async def interrupted(number: int) -> None:
        async with database.session(tenants[number]) as session:
            await session.execute(text(ADD), {"tenant": tenants[number], "number": "never kept"})
            raise Interrupted

    async def fail(number: int) -> None:
        for _ in range(8):
            with pytest.raises(Interrupted):
                await interrupted(number)
            with pytest.raises(DBAPIError):
                async with database.session(tenants[number]) as session:
                    await session.execute(text("SELECT 1/0"))

    async def be_cancelled(number: int) -> None:
        for _ in range(4):
            begun = asyncio.Event()

            async def sleep(begun: asyncio.Event = begun) -> None:
                async with database.session(tenants[number]) as session:
                    await places(session)
                    begun.set()
                    await session.execute(text("SELECT pg_sleep(30)"))

            task = asyncio.create_task(sleep())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    async def nobody() -> None:
        for _ in range(12):
            async with database.session(None) as session:
                seen.add((-1, await places(session)))

    async def engine() -> None:
        for _ in range(12):
            async with database.engine_session() as session:
                seen.add((-2, await places(session)))

    workers = [work(number) for number in range(7) for work in (look, fail, be_cancelled)]
    try:
        await asyncio.gather(*workers, nobody(), engine())
    finally:
        await database.close()
    all_rows = sum(range(1, 8))
    assert seen == {*((number, number + 1) for number in range(7)), (-1, 0), (-2, all_rows)}


def tenant_tables() -> list[str]:
    return sorted(name for name, table in Base.metadata.tables.items() if "tenant_id" in table.columns)


async def test_every_table_of_the_models_with_a_tenant_is_walled_by_both_policies(admin):
    for table in (*tenant_tables(), "tenant"):
        is_on, is_forced = await admin.fetchrow(
            "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid = $1::text::regclass", f'"{table}"'
        )
        assert (is_on, is_forced) == (True, True), table
        policies = await admin.fetch(
            "SELECT roles::text, qual, with_check FROM pg_policies WHERE tablename = $1", table
        )
        [mine] = [policy for policy in policies if policy["roles"] == "{scrapersky_app}"]
        assert "app.tenant_id" in mine["qual"], table
        assert {policy["roles"] for policy in policies} == {"{scrapersky_app}", "{scrapersky_engine}"}, table


async def test_every_table_without_a_tenant_is_known_to_be_everybodys(admin):
    assert set(Base.metadata.tables) - set(tenant_tables()) == {
        "tenant",  # its wall is its id
        "alarm",
        "run",
        "workflow_control",
        "worker",
        "maintenance",
        "host_limit",
        "rate_limit",
        "retention",
        "provider_cooldown",
        "provider_response",
        "fetched_body",
    }


async def test_without_a_tenant_no_table_shows_a_row(database, admin, tenant):
    """One row in each table, so that an open one would show it."""
    await fill(admin, tenant)
    for table in tenant_tables():
        assert await admin.fetchval(f'SELECT count(*) FROM "{table}"') > 0, f"fill {table}, or this proves nothing"
        async with database.session(None) as session:
            assert await session.scalar(text(f'SELECT count(*) FROM "{table}"')) == 0, table


async def rows_changed(database, tenant, statement: str) -> int:
    """How many rows the tenant changed; none, too, where nobody may."""
    try:
        async with database.session(tenant) as session:
            return (await session.execute(text(statement))).rowcount
    except DBAPIError as refused:
        if "permission denied" not in str(refused):
            raise
        return 0


async def test_another_tenant_changes_no_row_of_any_table(database, admin, tenant, other_tenant):
    await fill(admin, tenant)
    for table in tenant_tables():
        async with database.session(other_tenant) as session:
            assert await session.scalar(text(f'SELECT count(*) FROM "{table}"')) == 0, table
        for statement in (f'UPDATE "{table}" SET tenant_id = tenant_id', f'DELETE FROM "{table}"'):
            assert await rows_changed(database, other_tenant, statement) == 0, table


async def test_no_row_of_any_table_is_given_to_another_tenant(database, admin, tenant, other_tenant):
    await fill(admin, tenant)
    for table in tenant_tables():
        with pytest.raises(DBAPIError, match=r"row-level security|permission denied"):
            async with database.session(tenant) as session:
                await session.execute(text(f'UPDATE "{table}" SET tenant_id = :other'), {"other": other_tenant})


# Unique keys that do not name the tenant tell nobody what others have: they hang on a row of the tenant's own,
# or on letters nobody can guess.
TELL_NOTHING = {
    ("api_key", ("prefix",)): "random",
    ("session", ("token_hash",)): "random",
    ("session", ("family_hash",)): "random",
    ("session", ("browser_hash",)): "random",
    ("invitation", ("token_hash",)): "random",
    ("dead_letter", ("queue", "row_id")): "written by the engine, of a row of the tenant",
    ("delivery", ("destination_id", "contact_id")): "both are the tenant's",
}


def unique_keys():
    for table in (Base.metadata.tables[name] for name in tenant_tables()):
        keys = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
        indexes: list[Any] = [index for index in table.indexes if index.unique]
        for key in (*keys, *indexes):
            yield table, tuple(column.name for column in key.columns)


def test_unique_keys_name_the_tenant_or_tell_nothing():
    own_rows = {table.name for table in Base.metadata.tables.values() if "tenant_id" in table.columns}
    telling = [
        (table.name, columns)
        for table, columns in unique_keys()
        if "tenant_id" not in columns
        and (table.name, columns) not in TELL_NOTHING
        and not any(key.column.table.name in own_rows for name in columns for key in table.c[name].foreign_keys)
    ]
    assert telling == [("user", ("name",))]  # of system users, who have no tenant: WHERE tenant_id IS NULL


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
