"""The application logs in as a role that owns nothing; only migrations need the owner."""

import tempfile
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import make_url, text
from structlog.testing import capture_logs

from scrapersky.core.database import EMBEDDED_LOGIN, Database, check_server
from scrapersky.core.errors import BadSetting
from scrapersky.core.schema.migrations import SchemaTooOld, check_schema, current_revision, head_revision, migrate
from scrapersky.core.settings import Environment, load
from tests.cli.conftest import Command, command
from tests.conftest import make_settings, numbers
from tests.factories.login_role import admitted_url

__all__ = ["command"]  # a fixture


@pytest.fixture
async def unprivileged(server, template):
    """An empty database whose owner may create roles but is not a superuser; the URLs of the owner and of a login."""
    name = f"owned_{next(numbers)}"
    await server.execute(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD 'owner'")
    await server.execute(f"GRANT scrapersky_app, scrapersky_engine TO {name} WITH ADMIN OPTION")
    await server.execute(f"CREATE DATABASE {name} OWNER {name}")
    owner = make_url(server.url(name)).set(username=name)
    login = owner.set(username=f"{name}_login", password="it's 100% @/secret")
    yield [url.render_as_string(hide_password=False) for url in (owner, login)]
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await server.execute(f"DROP ROLE IF EXISTS {name}_login")
    await server.execute(f"DROP OWNED BY {name}")
    await server.execute(f"DROP ROLE {name}")


async def test_migrating_with_two_urls_creates_a_login_that_can_only_become_the_two_roles(server, unprivileged):
    owner_url, url = unprivileged
    database = Database(url, make_settings(url), owner_url=owner_url)
    assert (await migrate(database))[-1] == head_revision()
    await check_server(database)
    await check_schema(database)
    connection = await asyncpg.connect(url)
    role = await connection.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
    assert [role[f"rol{name}"] for name in ("super", "inherit", "createrole", "createdb", "bypassrls")] == [False] * 5
    assert await connection.fetchval("SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole") == 0
    refused = (
        "SELECT FROM contact",  # it has no privileges but those of the role it becomes
        "CREATE TABLE mine (id int)",
        "ALTER TABLE contact DISABLE ROW LEVEL SECURITY",
        f"SET ROLE {make_url(owner_url).username}",
    )
    for statement in refused:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    for role in ("scrapersky_app", "scrapersky_engine"):
        await connection.execute(f"SET ROLE {role}")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("DROP TABLE contact")
        await connection.execute("RESET ROLE")
    await connection.close()
    async with database.engine_session() as session:
        assert await session.scalar(text("SELECT count(*) FROM tenant")) == 1
    await database.close()


async def test_the_password_of_the_url_is_that_of_the_login(server, unprivileged):
    owner_url, url = unprivileged
    database = Database(url, make_settings(url), owner_url=owner_url)
    await migrate(database)
    await database.close()
    admin = await asyncpg.connect(server.url("postgres"))
    stored = await admin.fetchval("SELECT rolpassword FROM pg_authid WHERE rolname = $1", make_url(url).username)
    await admin.close()
    assert stored.startswith("SCRAM-SHA-256$")


async def test_a_login_on_an_empty_database_is_told_to_migrate(unprivileged):
    owner_url, url = unprivileged
    connection = await asyncpg.connect(owner_url)
    await connection.execute(f"CREATE ROLE {make_url(url).username} LOGIN")
    await connection.close()
    database = Database(url, make_settings(url))
    with pytest.raises(SchemaTooOld, match="scrapersky migrate"):
        await check_schema(database)
    with pytest.raises(BadSetting, match="MIGRATION_DATABASE_URL"):
        await migrate(database)
    await database.close()


async def test_a_login_that_was_not_admitted_is_told_the_cure(server, database_url):
    name = f"stranger_{next(numbers)}"
    await server.execute(f"CREATE ROLE {name} LOGIN")
    url = make_url(database_url).set(username=name).render_as_string(hide_password=False)
    database = Database(url, make_settings(url))
    with pytest.raises(BadSetting, match=rf"The user {name} of DATABASE_URL may not act as scrapersky_engine"):
        await check_schema(database)
    await database.close()
    await admitted_url(database_url, name)
    database = Database(url, make_settings(url))
    await check_schema(database)
    await database.close()
    await server.execute(f"DROP ROLE {name}")


async def test_an_owner_that_may_not_admit_the_login_names_what_the_administrator_does(server, template):
    name = f"plain_{next(numbers)}"
    await server.execute(f"CREATE ROLE {name} LOGIN; GRANT scrapersky_app, scrapersky_engine TO {name}")
    await server.execute(f"CREATE DATABASE {name} OWNER {name}")
    owner = make_url(server.url(name)).set(username=name)
    url = owner.set(username=f"{name}_login").render_as_string(hide_password=False)
    database = Database(url, make_settings(url), owner_url=owner.render_as_string(hide_password=False))
    with pytest.raises(BadSetting, match=r"administrator create it with LOGIN NOINHERIT, and grant it scrapersky_app"):
        await migrate(database)
    assert await current_revision(database) is None
    await database.close()
    await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await server.execute(f"DROP ROLE {name}")


async def test_in_production_a_login_that_owns_the_tables_is_warned_of(database_url):
    for url, events in ((database_url, ["database_login_privileged"]), (await admitted_url(database_url), [])):
        database = Database(url, make_settings(url, SCRAPERSKY_ENVIRONMENT="production"))
        with capture_logs() as logs:
            await check_schema(database)
        await database.close()
        assert [entry["event"] for entry in logs] == events


async def test_the_command_migrates_as_the_owner_and_writes_the_audit_as_the_login(command: Command, unprivileged):
    owner_url, url = unprivileged
    said = await command("migrate", DATABASE_URL=url, MIGRATION_DATABASE_URL=owner_url)
    assert (said.code, said.out.splitlines()[0]) == (0, "applied initial")
    assert (await command("audit", "--action", "migrate", DATABASE_URL=url)).code == 0
    said = await command("status", MIGRATION_DATABASE_URL="")
    assert said.code == 0


async def test_the_embedded_server_is_used_as_the_login_too():
    with tempfile.TemporaryDirectory(prefix="ss-") as home:
        Path(home).chmod(0o755)  # the server may run as a user of its own
        database = Database.from_settings(load(Environment({"SCRAPERSKY_DATA_DIR": home}, None)))
        await check_server(database)
        await check_schema(database)
        async with database.engine_session() as session:
            assert await session.scalar(text("SELECT session_user")) == EMBEDDED_LOGIN
        await database.close()
        assert database.embedded is not None
        database.embedded.release()
