"""Logging in, staying in, logging out, passwords: and everything that must not get somebody in."""

import asyncio
import json
from datetime import timedelta

import pytest
import structlog
from argon2 import PasswordHasher

from scrapersky.core import clock
from scrapersky.core.secrets.passwords import MAX_WAITING, THREADS, Passwords, TooBusy
from tests.factories.api_application import app_over, client_with, is_problem, make_key, served

AUTH = "/api/v3/auth"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def hashed():
    passwords = Passwords()
    yield asyncio.run(passwords.hash(PASSWORD))
    passwords.close()


@pytest.fixture
async def add_user(admin, hashed):
    async def add(name, tenant="default", role="viewer", password_hash=hashed):
        return await admin.fetchval(
            'INSERT INTO "user" (tenant_id, name, role, password_hash) '
            "SELECT id, $1, $2, $3 FROM tenant WHERE name = $4 RETURNING id",
            name,
            role,
            password_hash,
            tenant,
        )

    return add


@pytest.fixture
async def stranger(app, client):
    """Somebody who has not said who he is, at the open application."""
    async with client_with(app, None) as stranger:
        yield stranger


async def log_in(stranger, name="bob", password=PASSWORD, **more):
    return await stranger.post(f"{AUTH}/login", json={"name": name, "password": password, **more})


async def me(stranger, token):
    return await stranger.get(f"{AUTH}/me", headers={"Authorization": f"Bearer {token}"})


async def test_a_password_gets_tokens_and_a_token_authenticates(stranger, add_user, tenant):
    user_id = await add_user("bob", role="curator")
    answer = await log_in(stranger)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 900)
    mine = (await me(stranger, tokens["access_token"])).json()
    assert (mine["user_id"], mine["name"], mine["role"]) == (str(user_id), "bob", "curator")
    assert (mine["tenant"], mine["tenant_id"], mine["is_operator"]) == ("default", str(tenant), True)
    assert (mine["session_id"], mine["key_id"], mine["scopes"]) == (tokens["session_id"], None, None)


async def test_wrong_password_name_and_tenant_get_the_same_response(stranger, add_user):
    await add_user("bob")
    await add_user("keyless", password_hash=None)
    answers = [
        await log_in(stranger, password="wrong horse battery"),
        await log_in(stranger, name="nobody"),
        await log_in(stranger, tenant="nowhere"),
        await log_in(stranger, name="keyless"),
        await log_in(stranger, name="scheduler"),
        await log_in(stranger, name="BOB"),
    ]
    problems = [{**is_problem(answer, 401), "request_id": None} for answer in answers]
    assert all(problem == problems[0] for problem in problems)
    assert problems[0]["detail"] == "The name or the password is wrong."


@pytest.fixture
def verified(monkeypatch):
    """The hashes that passwords are verified against."""
    hashes = []
    verify = PasswordHasher.verify

    def record(hasher, stored, password):
        hashes.append(stored)
        return verify(hasher, stored, password)

    monkeypatch.setattr(PasswordHasher, "verify", record)
    return hashes


async def test_an_unknown_name_is_hashed_as_well(stranger, add_user, hashed, verified):
    await add_user("bob")
    for name in ("bob", "nobody"):
        assert (await log_in(stranger, password="wrong horse battery", name=name)).status_code == 401
    known, unknown = verified
    assert known == hashed
    assert unknown.split("$")[1:4] == hashed.split("$")[1:4]  # the same algorithm and parameters: the same duration


@pytest.mark.parametrize(
    "token", ["scraper_sky_2024", "dev_token", "", "null", "Bearer", "ssk__", "ssk_abc_def", "a.b.c"]
)
@pytest.mark.parametrize("environment", ["development", "production"])
async def test_no_token_is_built_in(database_url, token, environment):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT=environment)
    async with served(app), client_with(app, None) as stranger:
        answer = await stranger.get("/api/v3/places", headers={"Authorization": f"Bearer {token}"})
        assert token == "" or token not in answer.text.replace("Authorization: Bearer", "")
        is_problem(answer, 401)


@pytest.mark.parametrize(
    "header", ["Basic YWRhOmFkYQ==", "bearer", "Token x", "Bearer  ", "Bearer \u00ff\u00ff"], ids=lambda text: text[:7]
)
async def test_other_authentication_schemes_are_refused(stranger, header):
    is_problem(await stranger.get(f"{AUTH}/me", headers={"Authorization": header.encode("latin-1")}), 401)


async def test_two_credentials_in_one_request_are_refused(client):
    mine = client.headers["authorization"]
    answer = await client.get(f"{AUTH}/me", headers=[("Authorization", mine), ("Authorization", mine)])
    is_problem(answer, 401)


async def test_the_scheme_is_case_insensitive_and_keys_are_read_from_the_header_only(client, stranger):
    key = client.headers["authorization"].split()[1]
    assert (await stranger.get(f"{AUTH}/me", headers={"Authorization": f"bearer {key}"})).status_code == 200
    is_problem(await stranger.get(f"{AUTH}/me", headers={"X-API-Key": key}), 401)
    is_problem(await stranger.get(f"{AUTH}/me?api_key={key}&access_token={key}&token={key}"), 401)
    is_problem(await stranger.get(f"{AUTH}/me", headers={"Cookie": f"token={key}"}), 401)


async def test_logging_out_is_effective_at_once(stranger, add_user):
    await add_user("bob")
    tokens = (await log_in(stranger)).json()
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await stranger.post(f"{AUTH}/logout", headers=headers)).status_code == 204
    is_problem(await me(stranger, tokens["access_token"]), 401)
    is_problem(await stranger.post(f"{AUTH}/refresh", json={"refresh_token": tokens["refresh_token"]}), 401)


async def test_a_login_is_a_new_session_whatever_was_sent_before(stranger, add_user):
    await add_user("bob")
    first = (await log_in(stranger)).json()
    headers = {"Authorization": f"Bearer {first['access_token']}", "Cookie": f"session={first['session_id']}"}
    answer = await stranger.post(f"{AUTH}/login", json={"name": "bob", "password": PASSWORD}, headers=headers)
    assert answer.json()["session_id"] != first["session_id"]
    assert answer.json()["refresh_token"] != first["refresh_token"]
    named = await log_in(stranger, session_id=first["session_id"])
    is_problem(named, 422)


async def renew(stranger, token):
    return await stranger.post(f"{AUTH}/refresh", json={"refresh_token": token})


async def test_a_refresh_token_is_valid_once_and_a_repeated_click_is_a_conflict(stranger, add_user):
    await add_user("bob")
    first = (await log_in(stranger)).json()
    second = (await renew(stranger, first["refresh_token"])).json()
    assert second["session_id"] == first["session_id"]
    assert second["refresh_token"] != first["refresh_token"]
    is_problem(await renew(stranger, first["refresh_token"]), 409)
    assert (await me(stranger, second["access_token"])).status_code == 200
    assert (await renew(stranger, second["refresh_token"])).status_code == 200


async def test_a_replaced_refresh_token_ends_the_session(stranger, add_user, admin):
    await add_user("bob")
    first = (await log_in(stranger)).json()
    second = (await renew(stranger, first["refresh_token"])).json()
    await admin.execute("UPDATE session SET updated_at = now() - interval '11 seconds'")
    is_problem(await renew(stranger, first["refresh_token"]), 401)
    is_problem(await renew(stranger, second["refresh_token"]), 401)
    is_problem(await me(stranger, second["access_token"]), 401)
    assert await admin.fetchval("SELECT after->>'why' FROM audit WHERE action = 'end'") == "an old token was used again"


async def test_of_two_simultaneous_refreshes_one_gets_the_tokens(stranger, add_user):
    await add_user("bob")
    token = (await log_in(stranger)).json()["refresh_token"]
    answers = await asyncio.gather(*(renew(stranger, token) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]


async def test_a_session_expires(stranger, add_user, admin):
    await add_user("bob")
    tokens = (await log_in(stranger)).json()
    await admin.execute("UPDATE session SET expires_at = now() - interval '1 second'")
    is_problem(await me(stranger, tokens["access_token"]), 401)
    is_problem(await renew(stranger, tokens["refresh_token"]), 401)


async def test_tokens_and_passwords_are_stored_as_hashes_only(stranger, add_user, admin):
    await add_user("bob")
    tokens = (await log_in(stranger)).json()
    kept = "\n".join(
        [
            str(row[0])
            for row in await admin.fetch("SELECT s::text FROM session s UNION ALL SELECT a::text FROM audit a")
        ]
    )
    assert tokens["session_id"] in kept
    assert tokens["refresh_token"] not in kept
    assert tokens["access_token"] not in kept
    assert PASSWORD not in kept


async def test_secrets_are_not_logged(stranger, add_user, capsys, client):
    await add_user("bob")
    tokens = (await log_in(stranger)).json()
    await log_in(stranger, password="a wrong but secret one")
    await me(stranger, tokens["access_token"])
    await me(stranger, "ssk_" + "a" * 12 + "_planted-secret")
    await renew(stranger, tokens["refresh_token"])
    said = "".join(capsys.readouterr())
    assert "request_served" in said
    secrets = [PASSWORD, "a wrong but secret one", *[tokens[name] for name in ("access_token", "refresh_token")]]
    for secret in [*secrets, "planted-secret", client.headers["authorization"].split()[1]]:
        assert secret not in said


async def test_a_new_password_ends_the_other_sessions(stranger, add_user):
    await add_user("bob")
    here, there = (await log_in(stranger)).json(), (await log_in(stranger)).json()
    headers = {"Authorization": f"Bearer {here['access_token']}"}
    wrong = {"current": "not my password", "new": "another good password"}
    is_problem(await stranger.post(f"{AUTH}/password", json=wrong, headers=headers), 401)
    right = {"current": PASSWORD, "new": "another good password"}
    assert (await stranger.post(f"{AUTH}/password", json=right, headers=headers)).status_code == 204
    assert (await me(stranger, here["access_token"])).status_code == 200
    is_problem(await me(stranger, there["access_token"]), 401)
    is_problem(await renew(stranger, there["refresh_token"]), 401)
    is_problem(await log_in(stranger), 401)
    assert (await log_in(stranger, password="another good password")).status_code == 200


@pytest.mark.parametrize(
    "password", ["short", "x" * 1025, "x" * 60_000, "with a \u0000 in it", "half \ud800 of it", 12345678901234, None]
)
async def test_invalid_passwords_are_refused_before_they_are_hashed(stranger, add_user, password, verified):
    await add_user("bob")
    headers = {"Authorization": f"Bearer {(await log_in(stranger)).json()['access_token']}"}
    verified.clear()
    body = json.dumps({"current": PASSWORD, "new": password})
    headers["Content-Type"] = "application/json"
    is_problem(await stranger.post(f"{AUTH}/password", content=body, headers=headers), 422)
    assert verified == []


async def test_sessions_are_listed_and_ended_one_by_one(stranger, add_user):
    await add_user("bob")
    await add_user("eve")
    here, there = (await log_in(stranger)).json(), (await log_in(stranger)).json()
    foreign = (await log_in(stranger, name="eve")).json()
    headers = {"Authorization": f"Bearer {here['access_token']}"}
    listed = (await stranger.get(f"{AUTH}/sessions", headers=headers)).json()["items"]
    assert {one["id"]: one["is_this"] for one in listed} == {here["session_id"]: True, there["session_id"]: False}
    assert (await stranger.delete(f"{AUTH}/sessions/{there['session_id']}", headers=headers)).status_code == 204
    is_problem(await me(stranger, there["access_token"]), 401)
    is_problem(await stranger.delete(f"{AUTH}/sessions/{there['session_id']}", headers=headers), 404)
    is_problem(await stranger.delete(f"{AUTH}/sessions/{foreign['session_id']}", headers=headers), 404)
    assert (await me(stranger, foreign["access_token"])).status_code == 200


async def test_users_of_two_tenants_may_have_the_same_name(stranger, add_user, other_tenant, client):
    await add_user("bob", role="viewer")
    await add_user("bob", tenant="other", role="admin")
    here, there = (await log_in(stranger)).json(), (await log_in(stranger, tenant="other")).json()
    assert (await me(stranger, here["access_token"])).json()["tenant"] == "default"
    assert (await me(stranger, there["access_token"])).json()["tenant"] == "other"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE \"user\" SET disabled_at = now() WHERE name = 'bob'",
        "UPDATE tenant SET disabled_at = now() WHERE name = 'other'",
        "DELETE FROM \"user\" WHERE name = 'bob'",
        "UPDATE session SET revoked_at = now()",
    ],
)
async def test_disabling_a_user_is_effective_at_once(stranger, add_user, admin, other_tenant, change):
    await add_user("bob", tenant="other")
    tokens = (await log_in(stranger, tenant="other")).json()
    assert (await me(stranger, tokens["access_token"])).status_code == 200
    await admin.execute(change)
    is_problem(await me(stranger, tokens["access_token"]), 401)
    is_problem(await renew(stranger, tokens["refresh_token"]), 401)
    if "session" not in change:
        is_problem(await log_in(stranger, tenant="other"), 401)


async def test_another_role_is_effective_at_once(stranger, add_user, admin):
    await add_user("bob", role="admin")
    headers = {"Authorization": f"Bearer {(await log_in(stranger)).json()['access_token']}"}
    assert (await stranger.get("/api/v3/users", headers=headers)).status_code == 200
    await admin.execute("UPDATE \"user\" SET role = 'viewer' WHERE name = 'bob'")
    is_problem(await stranger.get("/api/v3/users", headers=headers), 403)
    assert (await stranger.get("/api/v3/places", headers=headers)).status_code == 200


async def test_wrong_passwords_of_a_stranger_do_not_lock_out_the_owner(database_url, add_user):
    await add_user("bob")
    app = app_over(database_url, SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT="3")
    async with served(app), client_with(app, None, "127.0.0.66") as stranger, client_with(app, None) as owner:
        with structlog.testing.capture_logs() as lines:
            codes = [(await log_in(stranger, password="wrong horse battery")).status_code for _ in range(4)]
        assert codes == [401, 401, 401, 429]
        assert (await log_in(owner)).status_code == 200
    told = [(line["event"], line["address"]) for line in lines if "address" in line]
    assert told == [("login_failed", "127.0.0.66")] * 3 + [("rate_limit_exceeded", "127.0.0.66")]


async def test_logins_are_limited_by_account_and_by_address(database_url, add_user):
    await add_user("bob")
    app = app_over(database_url, SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT="3", SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP="6")
    async with served(app), client_with(app, None) as stranger:
        codes = [(await log_in(stranger, password="wrong horse battery")).status_code for _ in range(4)]
        assert codes == [401, 401, 401, 429]
        refused = await log_in(stranger)  # the right one does not help any more
        assert is_problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        assert (await log_in(stranger, name="nobody")).status_code == 401  # the address has one left
        is_problem(await log_in(stranger, name="somebody"), 429)


async def test_a_flood_of_logins_is_refused_before_hashing(real_hashes, database_url, add_user):
    await add_user("bob")
    app = app_over(
        database_url, SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT="1000", SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP="1000"
    )
    async with served(app) as client, client_with(app, None) as stranger:
        flood = [asyncio.create_task(log_in(stranger, name=f"nobody {n}")) for n in range(THREADS + MAX_WAITING + 20)]
        for _ in range(THREADS + MAX_WAITING):  # as many as are hashed: a list is quicker if it waits for no hash
            assert (await client.get("/api/v3/places")).status_code == 200
        assert not all(task.done() for task in flood)
        codes = [(await task).status_code for task in flood]
    assert set(codes) == {401, 503}


async def test_a_password_with_outdated_hash_parameters_is_hashed_again(real_hashes, stranger, add_user, admin):
    from argon2 import PasswordHasher

    old = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    await add_user("bob", password_hash=old)
    assert (await log_in(stranger)).status_code == 200
    renewed = await admin.fetchval("SELECT password_hash FROM \"user\" WHERE name = 'bob'")
    assert renewed != old
    assert "m=65536" in renewed
    assert (await log_in(stranger)).status_code == 200


async def test_an_invalid_hash_accepts_no_password(stranger, add_user):
    await add_user("bob", password_hash="not a hash")
    is_problem(await log_in(stranger), 401)


async def test_too_many_simultaneous_hashes_get_503_until_the_queue_is_free(real_hashes):
    passwords = Passwords()
    waiting = [asyncio.create_task(passwords.check("x", None)) for _ in range(THREADS + MAX_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(TooBusy):
        await passwords.check("x", None)
    for task in waiting[4:]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await passwords.check("x", None) is False
    passwords.close()


async def test_the_use_of_a_key_is_recorded_once_a_minute(database_url, database, admin):
    app = app_over(database_url)
    key = await make_key(database)
    async with served(app, key) as client:
        await client.get("/api/v3/places")
        first = await admin.fetchval("SELECT last_used_at FROM api_key")
        await client.get("/api/v3/places")
        assert await admin.fetchval("SELECT last_used_at FROM api_key") == first
        await admin.execute("UPDATE api_key SET last_used_at = now() - interval '61 seconds'")
        await client.get("/api/v3/places")
        assert await admin.fetchval("SELECT last_used_at FROM api_key") > clock.now() - timedelta(seconds=30)


async def test_one_session_too_many_ends_the_least_recently_used(database_url, add_user, admin):
    await add_user("bob")
    bounded = app_over(database_url, SCRAPERSKY_MAX_SESSIONS="3", SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT="100")
    async with served(bounded), client_with(bounded, None) as stranger:
        first, second, third = [(await log_in(stranger)).json() for _ in range(3)]
        used = (await renew(stranger, first["refresh_token"])).json()
        fourth = (await log_in(stranger)).json()
        is_problem(await me(stranger, second["access_token"]), 401)
        is_problem(await renew(stranger, second["refresh_token"]), 401)
        for kept in (used, third, fourth):
            assert (await me(stranger, kept["access_token"])).status_code == 200
    ended = await admin.fetchrow("SELECT subject, after FROM audit WHERE action = 'end'")
    assert ended["subject"] == f"session {second['session_id']}"
    assert "more than 3 sessions" in ended["after"]
