"""What somebody who had been let in, or never was, could do about who they are here."""

from uuid import UUID

import pytest

from scrapersky.core.database import Database
from scrapersky.core.errors import NotAuthenticated
from scrapersky.store.accounts import invitations, sessions
from scrapersky.store.audit.record import Actor
from tests.api.accounts.test_auth import PASSWORD, add_user, hashed, log_in, me, renew, stranger  # noqa: F401 - fixtures
from tests.factories.api_application import client_with, is_problem
from tests.factories.forged_tokens import true_token
from tests.factories.two_tenants import add_session

ACCEPT = "/api/v3/invitations/accept"
BACK = {"name": "eve", "password": PASSWORD}


async def test_the_link_for_the_first_admin_is_refused_once_a_user_exists(stranger, database, admin, add_user):  # noqa: F811
    await admin.execute('DELETE FROM "user" WHERE NOT is_system')
    token = await invitations.for_first_admin(database)
    assert (await stranger.get(ACCEPT, params={"token": token})).status_code == 200
    await add_user("ada", role="admin")
    is_problem(await stranger.get(ACCEPT, params={"token": token}), 404)
    is_problem(await stranger.post(ACCEPT, json={**BACK, "token": token}), 404)


@pytest.mark.parametrize("lost", ["disabled_at = now()", "role = 'operator'"])
async def test_a_removed_admin_cannot_return_by_an_own_invitation(
    stranger,  # noqa: F811
    app,
    admin,
    tenant,
    key_for,
    lost,
):
    await key_for("admin", name="eve before")
    user_id = await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'eve before'")
    session = await add_session(admin, tenant, user_id, "eve")
    async with client_with(app, true_token(app.state.application.signing_key, str(user_id), session)) as eve:
        token = (await eve.post("/api/v3/invitations", json={"role": "admin"})).json()["token"]
    await admin.execute(f"UPDATE \"user\" SET {lost} WHERE name = 'eve before'")
    is_problem(await stranger.get(ACCEPT, params={"token": token}), 404)
    is_problem(await stranger.post(ACCEPT, json={**BACK, "token": token}), 404)


async def test_a_stolen_refresh_token_is_ended_by_the_owners_next_refresh(stranger, add_user, admin):  # noqa: F811
    await add_user("bob")
    stolen = (await log_in(stranger)).json()["refresh_token"]
    first = (await renew(stranger, stolen)).json()
    second = (await renew(stranger, first["refresh_token"])).json()
    is_problem(await renew(stranger, stolen), 401)
    is_problem(await me(stranger, second["access_token"]), 401)
    is_problem(await renew(stranger, second["refresh_token"]), 401)
    assert await admin.fetchval("SELECT after->>'why' FROM audit WHERE action = 'end'") == "an old token was used again"


async def test_part_of_a_refresh_token_does_not_end_a_session(stranger, add_user):  # noqa: F811
    await add_user("bob")
    tokens = (await log_in(stranger)).json()
    half = tokens["refresh_token"].partition(".")[2]
    for guess in (half, f"x.{half}", f".{half}", tokens["session_id"], f"{tokens['session_id']}.{half}", "x." * 90):
        is_problem(await renew(stranger, guess), 401)
    assert (await me(stranger, tokens["access_token"])).status_code == 200


@pytest.mark.parametrize("change", ["password_hash = 'another'", "disabled_at = now()"])
async def test_a_login_with_a_password_changed_meanwhile_is_refused(
    database: Database,
    admin,
    add_user,  # noqa: F811
    tenant,
    hashed,  # noqa: F811
    change,
):
    user_id: UUID = await add_user("bob")
    await admin.execute(f'UPDATE "user" SET {change} WHERE id = $1', user_id)
    actor = Actor("bob", tenant, "viewer", "api", user_id)
    with pytest.raises(NotAuthenticated):
        async with database.session(tenant) as session:
            await sessions.start(session, actor, user_id, hashed, "192.0.2.7", None, 20)
    assert await admin.fetchval("SELECT count(*) FROM session") == 0


async def test_a_key_with_the_scope_read_does_not_see_keys_of_others(app, client, key_for):
    await key_for("viewer")
    wide, narrow = await key_for("admin"), await key_for("admin", scopes=["read"])
    async with client_with(app, wide) as admin_, client_with(app, narrow) as reader:
        seen = (await admin_.get("/api/v3/api-keys")).json()["items"]
        own = (await reader.get("/api/v3/api-keys")).json()["items"]
    assert len({key["user_id"] for key in seen}) > 1
    assert len({key["user_id"] for key in own}) == 1
