"""The schema comes from migrations alone, by one process at a time, and is checked before anything starts."""

import asyncio

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.core.database import Database, check_server
from scrapersky.core.errors import BadSetting, Unavailable
from scrapersky.core.migrate import SchemaTooNew, SchemaTooOld, check_schema, current_revision, migrate
from scrapersky.models import Base
from tests.conftest import make_settings, numbers


@pytest.fixture
async def empty(server):
    name = f"empty_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    database = Database(server.url(name), make_settings(server.url(name)))
    yield database
    await database.close()
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_two_hosts_may_migrate_at_once(empty):
    applied = await asyncio.gather(migrate(empty), migrate(empty))
    first, second = sorted(applied, key=len)
    assert first == []
    assert second[0] == "2026_11_15_first_house"
    await check_schema(empty)


async def test_the_models_and_the_migrations_agree(database):
    engine = create_async_engine(database.url)
    own = set(Base.metadata.tables)

    def differences(connection):
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, kind, _parents: kind != "table" or name in own, "compare_type": True},
        )
        return compare_metadata(context, Base.metadata)

    async with engine.connect() as connection:
        found = await connection.run_sync(differences)
    await engine.dispose()
    assert found == []


async def test_a_database_that_was_not_migrated_names_the_command(empty):
    with pytest.raises(SchemaTooOld, match="scrapersky migrate"):
        await check_schema(empty)


async def test_a_migration_from_the_future_is_refused(database, admin):
    await admin.execute("UPDATE alembic_version SET version_num = '2099_01_01_flying_house'")
    with pytest.raises(SchemaTooNew, match="2099_01_01_flying_house"):
        await check_schema(database)
    with pytest.raises(SchemaTooNew, match="Upgrade scrapersky"):
        await migrate(database)


async def test_a_migration_does_not_wait_for_ever_for_a_busy_table(database, admin, monkeypatch):
    monkeypatch.setattr("scrapersky.core.migrate.LOCK_TIMEOUT", "100ms")
    await admin.execute("DELETE FROM alembic_version")  # so that there is something to apply
    transaction = admin.transaction()
    await transaction.start()
    await admin.execute("LOCK TABLE alembic_version")
    with pytest.raises(Unavailable, match="quieter moment"):
        await migrate(database)
    await transaction.rollback()


async def test_migrating_again_changes_nothing(database):
    before = await current_revision(database)
    assert await migrate(database) == []
    assert await current_revision(database) == before


async def test_an_unreachable_server_is_named_without_its_password():
    url = "postgresql://somebody:topsecret@127.0.0.1:1/x"
    database = Database(url, make_settings(url))
    with pytest.raises(Unavailable, match="does not answer") as caught:
        await check_server(database)
    assert "topsecret" not in str(caught.value)
    await database.close()


@pytest.mark.parametrize("url", ["mysql://a/b", "nonsense", "://"])
def test_a_url_of_something_else_is_refused(url):
    with pytest.raises(BadSetting, match="DATABASE_URL"):
        Database(url, make_settings(url))
