"""Every list of the API has an ETag: a client that has the page gets 304 without a body."""

from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from scrapersky.core.roles import Role
from scrapersky.core.secrets.vault import Vault
from tests.factories.api_application import SECRET, add_dead, app_over, client_with
from tests.factories.forged_tokens import true_token
from tests.factories.line_rows import add, add_line
from tests.factories.two_tenants import add_session

LIST_CURE = "Give the router of this list route_class=ListRoute."


@pytest.fixture
def app(database_url, nominatim):
    return app_over(database_url, **nominatim)


@pytest.fixture
async def person(app, client, admin, tenant):
    """A client with the login of an admin: keys may not list sessions."""
    user = await admin.fetchval(
        'INSERT INTO "user" (tenant_id, name, role) VALUES ($1, $2, $3) RETURNING id', tenant, "list reader", Role.ADMIN
    )
    session = await add_session(admin, tenant, user, "list reader")
    async with client_with(app, true_token(Vault(SECRET.encode()).signing_key, str(user), session)) as person:
        yield person


def lists_of(document):
    """Return the paths whose response is an object with a list of items."""
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
        if "items" in schemas.get(reference.rpartition("/")[2], {}).get("properties", {}):
            yield path, methods["get"]


async def test_every_list_answers_304_to_a_client_that_has_the_page(person, admin, tenant):
    rows = await add_line(admin, tenant)
    await add_dead(admin, tenant, 1)
    every_day = {"every_seconds": 86_400, "next_run_at": datetime.now(UTC)}
    rows["schedules"] = await add(admin, "schedule", tenant, search_id=UUID(rows["searches"]), **every_day)
    rows["campaigns"] = await add(admin, "search", tenant, text="Finland", provider="campaign")
    lists = dict(lists_of((await person.get("/api/v3/openapi.json")).json()))
    named = {
        f"/api/v3/{name}" for name in ("runs", "dead-letters", "audit", "users", "api-keys", "tenants", "contacts")
    }
    assert named | {"/api/v3/searches/{id}/results"} <= lists.keys()
    for path, operation in lists.items():
        needed = {
            each["name"]: each["schema"]["examples"][0]
            for each in operation["parameters"]
            if each["in"] == "query" and each.get("required")
        }
        url = httpx.URL(path.format(id=rows.get(path.split("/")[3], rows["searches"]), name="packing"), params=needed)
        first = await person.get(url)
        assert first.status_code == 200, first.text
        assert "etag" in first.headers, f"{path}: {LIST_CURE}"
        for _ in range(2):  # a value that is exact to the minute may change once
            again = await person.get(url, headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
            if again.status_code == 304:
                break
            first = again
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"]), path
        assert "304" in operation["responses"]
        assert "If-None-Match" in [parameter["name"] for parameter in operation["parameters"]]


async def test_a_changed_page_is_sent(person, admin, tenant):
    first = await person.get("/api/v3/users")
    await add(admin, '"user"', tenant, name="grace", role="viewer")
    changed = await person.get("/api/v3/users", headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, len(changed.json()["items"])) == (200, len(first.json()["items"]) + 1)
    assert (await person.get("/api/v3/users", headers={"If-None-Match": "*"})).status_code == 304
    assert (await person.head("/api/v3/users")).headers["etag"] == changed.headers["etag"]
