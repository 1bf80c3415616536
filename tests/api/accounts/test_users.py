"""Users, invitations and keys: who may make them, who sees them, and when they end."""

from datetime import timedelta
from typing import Any

import pytest

from scrapersky.core import clock
from scrapersky.core.roles import Role, Scope, scopes_of
from tests.api.accounts.test_auth import PASSWORD, add_user, hashed, log_in, me, stranger
from tests.factories.api_application import client_with, is_problem
from tests.factories.forged_tokens import true_token
from tests.factories.two_tenants import add_session

__all__ = ["add_user", "hashed", "stranger"]  # fixtures

USERS, INVITATIONS, KEYS = "/api/v3/users", "/api/v3/invitations", "/api/v3/api-keys"


@pytest.fixture
async def bob(stranger, add_user):
    """Headers of somebody who is logged in, an operator."""
    await add_user("bob", role="operator")
    return {"Authorization": f"Bearer {(await log_in(stranger)).json()['access_token']}"}


@pytest.fixture
async def chief(client, app, admin, tenant):
    """The admin, logged in: what outlives a key no key may do."""
    ada = await admin.fetchval("SELECT id FROM \"user\" WHERE name = 'ada'")
    session = await add_session(admin, tenant, ada, "of the chief")
    async with client_with(app, true_token(app.state.application.signing_key, str(ada), session)) as logged_in:
        yield logged_in


async def invite(client, role="curator"):
    return (await client.post(INVITATIONS, json={"role": role})).json()


def accepting(token, name="carol", password=PASSWORD):
    return {"token": token, "name": name, "password": password}


async def test_an_invitation_creates_one_user(chief, stranger, admin):
    made = await invite(chief)
    told = (await stranger.get(f"{INVITATIONS}/accept", params={"token": made["token"]})).json()
    assert (told["tenant"], told["role"]) == ("default", "curator")
    assert "POST /api/v3/invitations/accept" in told["how"]
    accepted = await stranger.post(f"{INVITATIONS}/accept", json=accepting(made["token"]))
    assert accepted.status_code == 201
    assert (accepted.json()["name"], accepted.json()["role"]) == ("carol", "curator")
    is_problem(await stranger.post(f"{INVITATIONS}/accept", json=accepting(made["token"], "dora")), 404)
    is_problem(await stranger.get(f"{INVITATIONS}/accept", params={"token": made["token"]}), 404)
    tokens = (await log_in(stranger, "carol")).json()
    assert (await me(stranger, tokens["access_token"])).json()["role"] == "curator"
    kept = await admin.fetchval("SELECT string_agg(i::text, ' ') FROM invitation i")
    assert made["token"] not in kept


async def test_a_name_that_is_taken_leaves_the_invitation_open(chief, stranger, add_user):
    await add_user("carol")
    made = await invite(chief)
    is_problem(await stranger.post(f"{INVITATIONS}/accept", json=accepting(made["token"])), 409)
    answer = await stranger.post(f"{INVITATIONS}/accept", json=accepting(made["token"], "another carol"))
    assert answer.status_code == 201


async def test_an_invitation_expires_or_is_withdrawn(chief, stranger, admin):
    late, gone = await invite(chief), await invite(chief)
    assert {one["id"] for one in (await chief.get(INVITATIONS)).json()["items"]} == {late["id"], gone["id"]}
    assert (await chief.delete(f"{INVITATIONS}/{gone['id']}")).status_code == 204
    is_problem(await chief.delete(f"{INVITATIONS}/{gone['id']}"), 404)
    await admin.execute("UPDATE invitation SET expires_at = now()")
    for made in (late, gone):
        is_problem(await stranger.post(f"{INVITATIONS}/accept", json=accepting(made["token"])), 404)
    assert (await chief.get(INVITATIONS)).json()["items"] == []


@pytest.mark.parametrize("field", ["role", "tenant_id", "is_system", "id", "disabled_at"])
async def test_an_invited_user_cannot_choose_the_role(chief, stranger, field):
    made = await invite(chief, "viewer")
    answer = await stranger.post(f"{INVITATIONS}/accept", json={**accepting(made["token"]), field: "admin"})
    assert is_problem(answer, 422)["errors"][0]["field"] == f"body.{field}"


async def test_an_admin_lists_and_changes_users(chief, add_user, stranger):
    user_id = await add_user("bob", role="viewer")
    listed = (await chief.get(USERS, params={"limit": 1})).json()
    assert [one["name"] for one in listed["items"]] == ["ada"]
    more = (await chief.get(USERS, params={"limit": 1, "cursor": listed["next_cursor"]})).json()
    assert ([one["name"] for one in more["items"]], more["next_cursor"]) == (["bob"], None)
    assert "password" not in str(listed)
    assert (await chief.get(f"{USERS}/{user_id}")).json() == more["items"][0]
    token = (await log_in(stranger)).json()["access_token"]
    changed = await chief.patch(f"{USERS}/{user_id}", json={"role": "operator"})
    assert changed.json()["role"] == "operator"
    assert (await me(stranger, token)).json()["role"] == "operator"
    assert (await chief.patch(f"{USERS}/{user_id}", json={"disabled": True})).json()["disabled"] is True
    is_problem(await me(stranger, token), 401)
    assert (await chief.patch(f"{USERS}/{user_id}", json={"disabled": False})).json()["disabled"] is False
    is_problem(await me(stranger, token), 401)  # the login has ended for good
    assert (await log_in(stranger)).status_code == 200


async def test_the_last_admin_cannot_be_removed(chief, add_user, tenant):
    mine = (await chief.get("/api/v3/auth/me")).json()["user_id"]
    for change in ({"role": "viewer"}, {"disabled": True}):
        assert "last admin" in is_problem(await chief.patch(f"{USERS}/{mine}", json=change), 409)["detail"]
    await add_user("bob", role="admin")
    assert (await chief.patch(f"{USERS}/{mine}", json={"role": "viewer"})).status_code == 200
    is_problem(await chief.get(USERS), 403)


async def test_the_system_user_cannot_be_used(chief, admin):
    system = await admin.fetchval('SELECT id FROM "user" WHERE is_system')
    is_problem(await chief.patch(f"{USERS}/{system}", json={"disabled": True}), 404)
    assert system not in [one["id"] for one in (await chief.get(USERS)).json()["items"]]


async def test_a_key_is_returned_once_and_stored_as_a_hash(stranger, bob, admin, app):
    made = (await stranger.post(KEYS, json={"name": "nightly"}, headers=bob)).json()
    assert made["key"].startswith(f"ssk_{made['prefix']}_")
    assert made["scopes"] == ["read", "curate", "operate"]
    kept = await admin.fetchval("SELECT string_agg(k::text, ' ') FROM api_key k")
    audited = await admin.fetchval("SELECT string_agg(a::text, ' ') FROM audit a")
    secret = made["key"].split("_", 2)[2]
    assert len(secret) == 43
    assert secret not in kept + audited
    assert secret not in (await stranger.get(KEYS, headers=bob)).text
    async with client_with(app, made["key"]) as program:
        mine = (await program.get("/api/v3/auth/me")).json()
    assert (mine["name"], mine["key_id"], mine["scopes"]) == ("bob", made["id"], made["scopes"])


@pytest.mark.parametrize("wrong", ["", "x", "0" * 43])
async def test_the_right_prefix_with_another_secret_is_refused(client, stranger, wrong):
    prefix = client.headers["authorization"].split("_")[1]
    is_problem(await me(stranger, f"ssk_{prefix}_{wrong}"), 401)


async def test_a_revoked_key_is_refused_at_once(stranger, bob, app):
    made = (await stranger.post(KEYS, json={"name": "nightly"}, headers=bob)).json()
    async with client_with(app, made["key"]) as program:
        assert (await program.get("/api/v3/places")).status_code == 200
        assert (await stranger.delete(f"{KEYS}/{made['id']}", headers=bob)).status_code == 204
        is_problem(await program.get("/api/v3/places"), 401)
    assert (await stranger.delete(f"{KEYS}/{made['id']}", headers=bob)).status_code == 204
    assert (await stranger.get(KEYS, headers=bob)).json()["items"][0]["revoked_at"]


async def test_a_key_expires(stranger, bob, app, admin):
    soon = (clock.now() + timedelta(hours=1)).isoformat()
    made = (await stranger.post(KEYS, json={"name": "for a day", "expires_at": soon}, headers=bob)).json()
    async with client_with(app, made["key"]) as program:
        assert (await program.get("/api/v3/places")).status_code == 200
        await admin.execute("UPDATE api_key SET expires_at = now() WHERE id = $1", made["id"])
        is_problem(await program.get("/api/v3/places"), 401)
    past = (clock.now() - timedelta(hours=1)).isoformat()
    is_problem(await stranger.post(KEYS, json={"name": "too late", "expires_at": past}, headers=bob), 409)


async def test_a_key_is_limited_by_its_scopes_and_its_users_role(stranger, bob, app, admin):
    is_problem(await stranger.post(KEYS, json={"name": "x", "scopes": ["admin"]}, headers=bob), 409)
    is_problem(await stranger.post(KEYS, json={"name": "x", "scopes": ["everything"]}, headers=bob), 422)
    read = (await stranger.post(KEYS, json={"name": "reader", "scopes": ["read"]}, headers=bob)).json()
    every = (await stranger.post(KEYS, json={"name": "all"}, headers=bob)).json()
    curation: dict[str, Any] = {"json": {"filter": {}, "curation_status": "Selected", "preview": True}}
    async with client_with(app, read["key"]) as reader, client_with(app, every["key"]) as program:
        assert (await reader.get("/api/v3/places")).status_code == 200
        problem = is_problem(await reader.post("/api/v3/places/curation", **curation), 403)
        assert problem["detail"] == "This needs a key with the scope curate."
        assert (await program.post("/api/v3/places/curation", **curation)).status_code == 200
        await admin.execute("UPDATE \"user\" SET role = 'viewer' WHERE name = 'bob'")
        is_problem(await program.post("/api/v3/places/curation", **curation), 403)
        await admin.execute("UPDATE \"user\" SET role = 'admin' WHERE name = 'bob'")
        is_problem(await program.get(USERS), 403)  # made when he was an operator


async def test_a_key_creates_no_keys_and_changes_no_password(client, stranger):
    assert "key may not" in is_problem(await client.post(KEYS, json={"name": "x"}), 403)["detail"]
    change = {"current": PASSWORD, "new": "another good password"}
    is_problem(await client.post("/api/v3/auth/password", json=change), 403)
    is_problem(await client.post("/api/v3/auth/logout"), 403)
    is_problem(await client.get("/api/v3/auth/sessions"), 403)


async def test_a_key_cannot_invite_or_change_users(client, add_user, admin):
    user_id = await add_user("bob", role="viewer")
    for asked in ({"role": "admin"}, {"disabled": True}):
        assert "log in" in is_problem(await client.patch(f"{USERS}/{user_id}", json=asked), 403)["detail"]
    assert "log in" in is_problem(await client.post(INVITATIONS, json={"role": "admin"}), 403)["detail"]
    assert await admin.fetchval("SELECT count(*) FROM invitation") == 0


async def test_users_see_their_own_keys_and_admins_all(client, stranger, bob, add_user):
    mine = (await stranger.post(KEYS, json={"name": "bobs"}, headers=bob)).json()
    admins = (await client.get(KEYS)).json()["items"]
    assert {one["name"] for one in admins} == {"tests", "bobs"}
    assert [one["id"] for one in (await stranger.get(KEYS, headers=bob)).json()["items"]] == [mine["id"]]
    foreign = next(one["id"] for one in admins if one["name"] == "tests")
    is_problem(await stranger.delete(f"{KEYS}/{foreign}", headers=bob), 404)
    await add_user("root", role="admin")
    root = {"Authorization": f"Bearer {(await log_in(stranger, 'root')).json()['access_token']}"}
    assert (await stranger.delete(f"{KEYS}/{foreign}", headers=root)).status_code == 204
    is_problem(await client.get(KEYS), 401)


async def test_the_number_of_keys_of_a_user_is_limited(stranger, bob, admin):
    await admin.execute(
        "INSERT INTO api_key (tenant_id, user_id, name, prefix, secret_hash) "
        "SELECT tenant_id, id, 'k', 'p' || n, '' FROM \"user\", generate_series(1, 49) n WHERE name = 'bob'"
    )
    assert (await stranger.post(KEYS, json={"name": "the last"}, headers=bob)).status_code == 201
    is_problem(await stranger.post(KEYS, json={"name": "too many"}, headers=bob), 409)


def test_each_role_covers_those_before_it_and_has_its_scopes():
    assert [role for role in Role if Role.OPERATOR.covers(role)] == [Role.VIEWER, Role.CURATOR, Role.OPERATOR]
    assert scopes_of(Role.ADMIN) == list(Scope)
    assert scopes_of(Role.VIEWER) == ["read"]
