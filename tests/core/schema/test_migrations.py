"""The schema is made by migrations alone, by one process at a time, and is checked before anything starts."""

import asyncio
import re

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.core.database import Database, check_server
from scrapersky.core.errors import BadSetting, Unavailable
from scrapersky.core.schema.migrations import (
    SchemaTooNew,
    SchemaTooOld,
    alembic_config,
    check_schema,
    current_revision,
    head_revision,
    migrate,
    migrations_folder,
)
from scrapersky.engine.queue_sql import CHANNEL, PRIORITY_WORTH
from scrapersky.models import Base
from tests.conftest import make_settings, numbers
from tests.factories.pooler import pooler


@pytest.fixture
async def empty(server):
    name = f"empty_{next(numbers)}"
    await server.execute(f"CREATE DATABASE {name}")
    database = Database(server.url(name), make_settings(server.url(name)))
    yield database
    await database.close()
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_revision_is_named_by_its_time_and_imports_no_live_code():
    for path in (migrations_folder() / "versions").glob("*.py"):
        words = re.fullmatch(r"\d{4}-\d\d-\d\d-\d{4}_(\w+)\.py", path.name)
        source = path.read_text()
        assert words, path.name
        assert f'revision = "{words[1]}"' in source
        assert not re.search(r"^\s*(from|import) scrapersky", source, re.MULTILINE), path.name


def test_every_sql_file_belongs_to_a_revision():
    revisions = "".join(path.read_text() for path in (migrations_folder() / "versions").glob("*.py"))
    unused = [path.name for path in (migrations_folder() / "sql").glob("*.sql") if f'"{path.name}"' not in revisions]
    assert unused == []


async def test_two_hosts_may_migrate_at_once(empty):
    applied = await asyncio.gather(migrate(empty), migrate(empty))
    first, second = sorted(applied, key=len)
    assert first == []
    assert second[0] == "initial"
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


async def test_the_error_of_an_empty_database_names_the_command(empty):
    with pytest.raises(SchemaTooOld, match="scrapersky migrate"):
        await check_schema(empty)


async def test_a_revision_of_a_later_version_is_refused(database, admin):
    await admin.execute("UPDATE alembic_version SET version_num = 'of_a_later_version'")
    with pytest.raises(SchemaTooNew, match="of_a_later_version"):
        await check_schema(database)
    with pytest.raises(SchemaTooNew, match="Upgrade scrapersky"):
        await migrate(database)
    with pytest.raises(SchemaTooNew, match="of the newer version"):
        await migrate(database, head_revision())


async def test_a_migration_does_not_wait_without_end_for_a_busy_table(database, admin, monkeypatch):
    monkeypatch.setattr("scrapersky.core.schema.migrations.LOCK_TIMEOUT", "100ms")
    await admin.execute("DELETE FROM alembic_version")  # so that there is something to apply
    transaction = admin.transaction()
    await transaction.start()
    await admin.execute("LOCK TABLE alembic_version")
    with pytest.raises(Unavailable, match="less load"):
        await migrate(database)
    await transaction.rollback()


@pytest.fixture
async def plain_owner(server, template):
    """The URL of an empty database whose owner is not a superuser and may create no roles."""
    name = f"plain_{next(numbers)}"
    await server.execute(f"CREATE ROLE {name} LOGIN")
    await server.execute(f"CREATE DATABASE {name} OWNER {name}")
    yield make_url(server.url(name)).set(username=name).render_as_string(hide_password=False)
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await server.execute(f"DROP ROLE {name}")


async def test_the_downgrade_drops_everything(empty):
    """Except the roles, which belong to the whole server, and the table of Alembic itself."""
    await migrate(empty)
    engine = create_async_engine(empty.url)
    async with engine.begin() as connection:
        await connection.run_sync(lambda own: command.downgrade(alembic_config(own), "base"))
        left = await connection.scalars(
            text(
                "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
                "UNION SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
            )
        )
        assert set(left) == {"alembic_version", "alembic_version_pkc"}
    await engine.dispose()
    assert (await migrate(empty))[0] == "initial"
    await check_schema(empty)


async def test_the_queues_of_the_database_rank_priorities_like_the_engine(admin):
    source = await admin.fetchval("SELECT prosrc FROM pg_proc WHERE proname = 'add_queue_triggers'")
    assert f"priority * {PRIORITY_WORTH}::bigint" in source
    assert f"pg_notify('{CHANNEL}'," in source


async def test_an_owner_with_the_two_roles_need_not_be_a_superuser(server, plain_owner):
    await server.execute(f"GRANT scrapersky_app, scrapersky_engine TO {make_url(plain_owner).username}")
    database = Database(plain_owner, make_settings(plain_owner))
    await migrate(database)
    async with database.engine_session() as session:
        tenant = await session.scalar(text("SELECT id FROM tenant"))
    add = (
        "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
        "VALUES (:tenant, 'test', '1', 'n', 'Queued')"
    )
    async with database.session(tenant) as session:
        await session.execute(text(add), {"tenant": tenant})
    async with database.session(None) as session:
        assert await session.scalar(text("SELECT count(*) FROM place")) == 0
    async with database.engine_session() as session:
        assert await session.scalar(text("SELECT deep_scan_order > 0 FROM place"))
    await database.close()


async def test_an_owner_without_the_two_roles_gets_the_cure(plain_owner):
    database = Database(plain_owner, make_settings(plain_owner))
    with pytest.raises(BadSetting, match=r"permission denied.*granted scrapersky_app and scrapersky_engine"):
        await migrate(database)
    assert await current_revision(database) is None
    await database.close()


async def test_behind_a_transaction_pooler_no_statement_gets_a_name(server, database_url, tenant):
    limits = {"SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS": "30"}
    database = Database(database_url, make_settings(database_url, SCHEDULER_POLL_ONLY="true", **limits))
    names = "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"
    async with database.session(tenant) as session:
        await session.execute(text("SELECT name FROM tenant WHERE id = :id"), {"id": tenant})
        assert await session.scalar(text(names)) == 0
    async with database.engine_session() as session:
        assert await session.scalar(text(names)) == 0
    async with database.engine_connection() as connection:
        await connection.fetchval("SELECT count(*) FROM tenant WHERE id = $1", tenant)
        assert await connection.fetchval(names) == 0
        assert await connection.fetchval("SELECT current_setting('statement_timeout')") == "30s"
    await database.close()


async def test_migrating_again_changes_nothing(database):
    before = await current_revision(database)
    assert await migrate(database) == []
    assert await current_revision(database) == before


@pytest.mark.parametrize("url", ["somebody:topsecret@127.0.0.1:1/x", "somebody@127.0.0.1:1/x?password=topsecret"])
async def test_an_unreachable_server_is_named_without_its_password(url):
    url = f"postgresql://{url}"
    database = Database(url, make_settings(url))
    with pytest.raises(Unavailable, match="does not respond") as caught:
        await check_server(database)
    assert "topsecret" not in str(caught.value)
    await database.close()


async def test_a_pooler_that_refuses_our_settings_is_named_with_the_cure(database_url):
    async with pooler(database_url) as url:
        database = Database(url, make_settings(url))
        with pytest.raises(BadSetting, match="SCHEDULER_POLL_ONLY=true"):
            await check_server(database)
        await database.close()
        database = Database(url, make_settings(url, SCHEDULER_POLL_ONLY="true"))
        await check_server(database)
        await database.close()


async def test_a_url_may_carry_connection_options(database_url, tenant):
    url = f"{database_url}&sslmode=prefer&application_name=me"  # as hosted databases hand it out
    database = Database(url, make_settings(url))
    await check_server(database)
    await check_schema(database)
    async with database.session(tenant) as session:
        assert await session.scalar(text("SELECT count(*) FROM tenant")) == 1
    async with database.engine_connection() as connection:
        assert await connection.fetchval("SELECT current_setting('plan_cache_mode')") == "force_generic_plan"
    await database.close()


@pytest.mark.parametrize("url", ["mysql://a/b", "nonsense", "://", "postgresql://a:b@c:port/d", "postgresql://[::1/d"])
def test_a_url_of_another_kind_is_refused(url):
    with pytest.raises(BadSetting, match="DATABASE_URL"):
        Database(url, make_settings(url))


async def test_functions_that_act_as_their_owner_look_into_the_temporary_schema_last(admin):
    found = await admin.fetch(
        "SELECT p.proname, n.nspname, p.proconfig FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    )
    paths = {
        row["proname"]: [schema.strip() for schema in setting.removeprefix("search_path=").split(",")]
        for row in found
        for setting in (row["proconfig"] or ["search_path="])
        if setting.startswith("search_path=")
    }
    assert len(paths) > 20
    unsafe = [name for name, path in paths.items() if path != ["public", "pg_temp"]]
    assert unsafe == [], "write `SET search_path FROM CURRENT` in the definition of the function"


async def test_a_temporary_table_of_the_right_name_changes_nothing_for_the_functions(database, admin, tenant):
    await admin.execute("UPDATE tenant SET pages_per_day = 0 WHERE id = $1", tenant)
    async with database.session(tenant) as session:
        await session.execute(
            text("CREATE TEMPORARY TABLE tenant AS SELECT id, 9 AS pages_per_day, disabled_at FROM tenant")
        )
        await session.execute(
            text("INSERT INTO domain (tenant_id, name, domain_metadata_status) VALUES (:tenant, 'a.fi', 'Queued')"),
            {"tenant": tenant},
        )
        await session.execute(
            text(
                "INSERT INTO page (tenant_id, domain_id, url, page_processing_status) "
                "SELECT :tenant, id, 'https://a.fi/', 'Queued' FROM domain"
            ),
            {"tenant": tenant},
        )
        await session.execute(text("DROP TABLE pg_temp.tenant"))
    assert await admin.fetchval("SELECT page_processing_due_at FROM page") is not None
