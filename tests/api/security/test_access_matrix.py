"""Every route against everybody who must not get in, and every id of somebody else in every place for one."""

import json
import re
from uuid import uuid4

import pytest

from scrapersky.core.roles import Role
from scrapersky.core.secrets.vault import Vault
from tests.factories.api_application import SECRET, app_over, client_with, make_key, served
from tests.factories.forged_tokens import forgeries, true_token
from tests.factories.openapi_requests import operations
from tests.factories.two_tenants import add_session, fingerprint, furnish

ROLES = list(Role)
SIGNING_KEY = Vault(SECRET.encode()).signing_key
EVERY = 5  # of the routes: each of them is asked with every fifth wrong credential, or with every fifth id of others


@pytest.fixture
async def application(database_url, admin, tenant, other_tenant):
    """The application in production, with two tenants that have one of everything."""
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    async with served(app):
        yield app


def every_operation(app):
    return operations(app.openapi())


def closed_operations(app):
    return [one for one in every_operation(app) if one.role != "anyone"]


async def ask(client, operation, path=None, **more):
    if operation.method in ("POST", "PATCH", "PUT") and "json" not in more:
        more["json"] = {}
    return await client.request(operation.method, path or operation.at(), **more)


async def user_with_session(admin, tenant, name, role="admin"):
    user = await admin.fetchval(
        'INSERT INTO "user" (tenant_id, name, role) VALUES ($1, $2, $3) RETURNING id', tenant, name, role
    )
    return str(user), await add_session(admin, tenant, user, name)


async def test_no_route_accepts_an_invalid_credential(application, admin, tenant):
    user, session = await user_with_session(admin, tenant, "eve")
    forged = {"anonymous": None, **forgeries(SIGNING_KEY, user, session)}
    forged |= await out_of_force(application.state.application.database, admin, tenant)
    async with client_with(application, true_token(SIGNING_KEY, user, session)) as client:
        assert (await client.get("/api/v3/auth/me")).status_code == 200
    async with client_with(application, "garbage") as client:
        refusal = {**(await client.get("/api/v3/auth/me")).json(), "request_id": None}
    asked = 0
    # One function decides about all credentials (api/http/authorization.py): each route is asked with a part of them.
    for place, (kind, credential) in enumerate(forged.items()):
        closed = closed_operations(application)
        async with client_with(application, credential) as client:
            for operation in closed if credential is None else closed[place % EVERY :: EVERY]:
                answer = await ask(client, operation)
                assert answer.status_code == 401, f"{kind}: {operation.method} {operation.path} {answer.text}"
                problem = {**answer.json(), "request_id": None}
                assert problem == refusal or credential is None, kind
                assert answer.headers["www-authenticate"].startswith("Bearer")
                asked += 1
    print(f"{len(forged)} wrong credentials, {len(closed_operations(application))} routes, {asked} refusals")
    assert asked > 10 * len(closed_operations(application))


async def out_of_force(database, admin, tenant):
    """Credentials that were good once."""
    words = ("revoked", "run out", "disabled", "closed", "deleted")
    tenants = {"closed": "closed"}
    made = {word: await make_key(database, name=word, tenant=tenants.get(word, "default")) for word in words}
    for change, name in [("revoked_at = now()", "revoked"), ("expires_at = now()", "run out")]:
        await admin.execute(
            f'UPDATE api_key SET {change} WHERE user_id IN (SELECT id FROM "user" WHERE name = $1)', name
        )
    user, session = await user_with_session(admin, tenant, "gone")
    ended, over = await user_with_session(admin, tenant, "ended"), await user_with_session(admin, tenant, "over")
    await admin.execute("UPDATE \"user\" SET disabled_at = now() WHERE name IN ('disabled', 'gone')")
    await admin.execute("UPDATE tenant SET disabled_at = now() WHERE name = 'closed'")
    await admin.execute("DELETE FROM \"user\" WHERE name = 'deleted'")
    await admin.execute("UPDATE session SET revoked_at = now() WHERE token_hash = 'ended'")
    await admin.execute("UPDATE session SET expires_at = now() WHERE token_hash = 'over'")
    tokens = {"of the gone": (user, session), "of an ended login": ended, "of an old login": over}
    shut = await admin.fetchval("SELECT id FROM tenant WHERE name = 'closed'")
    tokens["of a closed tenant"] = await user_with_session(admin, shut, "shut")
    return {
        **{f"key {word}": key for word, key in made.items()},
        **{f"token {word}": true_token(SIGNING_KEY, *who) for word, who in tokens.items()},
    }


async def test_a_token_of_two_megabytes_is_refused_before_it_is_read(application):
    async with client_with(application, "x" * 2_000_000) as client:
        for operation in closed_operations(application):
            assert (await ask(client, operation)).status_code == 431


async def test_no_route_accepts_a_lower_role_a_narrower_key_or_another_tenant(application, admin, tenant, other_tenant):
    database = application.state.application.database
    keys = {role: await make_key(database, role, name=f"a {role}") for role in ROLES}
    foreign = {role: await make_key(database, role, "other", name=f"a {role}") for role in ROLES}
    narrow = {
        role: await make_key(database, name="narrow", scopes=[scope for scope in every_scope() if scope != word])
        for role, word in zip(ROLES, every_scope(), strict=True)
    }
    asked = 0
    for operation in closed_operations(application):
        needed = Role(operation.role)
        refused = {f"a {role}": keys[role] for role in ROLES if not role.covers(needed)}
        refused["a key without the scope"] = narrow[needed]
        if operation.described["x-operators"]:
            refused |= {f"a {role} of another tenant": foreign[role] for role in ROLES}
        if operation.described.get("x-login"):
            refused["a key where a login is needed"] = keys[Role.ADMIN]
        for who, key in refused.items():
            async with client_with(application, key) as client:
                answer = await ask(client, operation)
            assert answer.status_code == 403, f"{who}: {operation.method} {operation.path} {answer.text}"
            assert set(answer.json()) == {"type", "title", "status", "detail", "request_id"}
            asked += 1
    print(f"{asked} refusals of roles, scopes and houses")
    assert asked > 2 * len(closed_operations(application))


def every_scope():
    return ["read", "curate", "operate", "admin"]


@pytest.mark.parametrize("direction", ["a tenant asks the operator", "the operator asks a tenant"])
async def test_an_id_of_another_tenant_gets_the_response_of_an_unknown_id(
    application, admin, tenant, other_tenant, direction
):
    mine, theirs = await furnish(admin, tenant, "operators"), await furnish(admin, other_tenant, "neighbours")
    if direction.startswith("a tenant"):
        mine, theirs = theirs, mine
    user, session = await user_with_session(admin, mine.tenant, "mallory")
    before = await fingerprint(admin, theirs.tenant)
    asked, unread = 0, set()
    async with client_with(application, true_token(SIGNING_KEY, user, session)) as client:
        for operation in closed_operations(application):
            if operation.resource == "tenants" and mine.tenant == tenant:
                continue  # operators see all tenants
            for place, (path, more) in enumerate(places_for_ids(operation, mine, "{id}"), start=asked):
                if "except" in more.get("json", ()):  # the first of equal requests changes own rows
                    await send(client, operation, path, more, str(uuid4()))
                unknown = told(await send(client, operation, path, more, str(uuid4())))
                nouns = list(theirs.ids) if "{id}" not in path else nouns_for_path(operation, theirs, place)
                for noun in nouns:
                    found = told(await send(client, operation, path, more, theirs.ids[noun]))
                    assert found == unknown, f"{noun} at {operation.method} {path} {more}"
                    asked += 1
                if unknown[0] == 422:
                    unread.add(operation.described["operationId"])
                if path != operation.at(path_id(operation, mine)):
                    assert unknown[0] in (403, 404), f"{operation.method} {path} {unknown}"
    print(f"{asked} foreign ids answered like unknown ones ({direction})")
    assert asked > 1000
    assert unread <= {"create_contact"}  # its owners are looked for; a body that does not fit would tell nothing
    assert await fingerprint(admin, theirs.tenant) == before


def nouns_for_path(operation, theirs, place):
    """The noun of the path, since its table is the only one that is read, and a part of the others."""
    if operation.resource not in theirs.ids:
        return list(theirs.ids)
    others = [noun for noun in theirs.ids if noun != operation.resource]
    return [operation.resource, *others[place % EVERY :: EVERY]]


def path_id(operation, household):
    return household.ids.get(operation.resource, str(uuid4()))


# Bodies of changes at an id, without which the request is refused before the id is looked at.
BODIES_WITHOUT_IDS = {"put_business_website": {"website": "https://www.kallio-dental.fi/"}}


def places_for_ids(operation, mine, mark):
    """Every place of a request where an id may stand: the path, each query parameter, each kind of body."""
    if operation.has_id:
        bodies = list(operation.bodies(mark)) or [BODIES_WITHOUT_IDS.get(operation.described["operationId"])]
        yield operation.at(mark), {"json": without(bodies[0], mark)} if bodies[0] else {}
    own = operation.at(path_id(operation, mine))
    for name in operation.id_queries():
        yield own, {"params": {**needed_queries(operation), name: mark}}
    for body in operation.bodies(mark):
        yield own, {"json": {**body, **meaning(operation.described["operationId"], mine)}}


def needed_queries(operation):
    """The query parameters without which the request is refused, each with its example."""
    described = operation.described.get("parameters", [])
    return {
        each["name"]: each["schema"]["examples"][0]
        for each in described
        if each["in"] == "query" and each.get("required")
    }


def meaning(operation_id, mine):
    """What a body needs beyond its form before anybody looks at its ids."""
    needed = {
        "create_contact": {"email": "anna@sky.example"},
        "merge_contacts": {"keep": mine.ids["contacts"]},
        "create_schedule": {"every": "1d"},
        "join_businesses": {"business": mine.ids["businesses"]},
    }
    return needed.get(operation_id, {})


def without(body, mark):
    """The body without the parts that hold the mark: the path alone is meant."""
    return {name: part for name, part in body.items() if mark not in str(part)} if isinstance(body, dict) else body


async def send(client, operation, path, more, row_id):
    filled = json.loads(json.dumps(more).replace("{id}", row_id))
    return await ask(client, operation, path.replace("{id}", row_id), **filled), row_id


def told(answered):
    """The answer without what differs from request to request."""
    answer, row_id = answered
    text = re.sub(r'"request_id": ?"[^"]*"', "", answer.text.replace(row_id, "ID"))
    return answer.status_code, re.sub(r'"(updated_at|timestamp)": ?"[^"]*"', "", text)


@pytest.mark.parametrize("direction", ["a tenant asks the operator", "the operator asks a tenant"])
async def test_no_list_file_or_count_shows_rows_of_another_tenant(application, admin, tenant, other_tenant, direction):
    mine, theirs = await furnish(admin, tenant, "operators"), await furnish(admin, other_tenant, "neighbours")
    if direction.startswith("a tenant"):
        mine, theirs = theirs, mine
    user, session = await user_with_session(admin, mine.tenant, "mallory")
    looked = 0
    async with client_with(application, true_token(SIGNING_KEY, user, session)) as client:
        for operation in closed_operations(application):
            if operation.method != "GET" or (operation.resource == "tenants" and mine.tenant == tenant):
                continue
            answer = await ask(client, operation, operation.at(path_id(operation, mine)))
            assert theirs.name not in answer.text, f"{operation.path}"
            leaked = [noun for noun, row_id in theirs.ids.items() if row_id in answer.text]
            assert leaked == [], f"{operation.path}"
            if answer.headers.get("content-type") == "application/json":
                assert (answer.json().get("total") or 0) <= 3, f"{operation.path} counts rows of others"
            looked += 1
    print(f"{looked} answers looked through ({direction})")


async def test_a_cursor_of_another_tenant_shows_own_rows(application, admin, tenant, other_tenant):
    await furnish(admin, tenant, "operators")
    await furnish(admin, tenant, "lodgers")
    theirs = await furnish(admin, other_tenant, "neighbours")
    here = await user_with_session(admin, tenant, "walker")
    there = await user_with_session(admin, other_tenant, "talker")
    used = 0
    async with (
        client_with(application, true_token(SIGNING_KEY, *here)) as owner,
        client_with(application, true_token(SIGNING_KEY, *there)) as stranger,
    ):
        for operation in closed_operations(application):
            if operation.method != "GET" or operation.described["x-operators"] or "/{" in operation.path:
                continue
            page = await owner.get(operation.path, params={"limit": 1})
            cursor = page.json().get("next_cursor") if page.status_code == 200 and page.text.startswith("{") else None
            if cursor:
                answer = await stranger.get(operation.path, params={"cursor": cursor, "limit": 200})
                assert answer.status_code in (200, 400), answer.text
                assert "operators" not in answer.text
                assert "lodgers" not in answer.text
                used += 1
    assert used >= 10
    assert theirs.name == "neighbours"
