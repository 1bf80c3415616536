"""The description of the API is true: requests made from it get the answers it names, and never a 5xx."""

import asyncio

from scrapersky.core.roles import Role
from scrapersky.core.secrets.vault import Vault
from tests.factories.api_application import SECRET, add_dead, add_parcels, app_over
from tests.factories.forged_tokens import true_token
from tests.factories.line_rows import add_line
from tests.factories.two_tenants import add_session

# Of each operation, for each of the three ways of asking. The roles between are asked in tests/api/security.
EXAMPLES = {Role.VIEWER: 1, Role.ADMIN: 2}


async def test_operations_have_names_summaries_and_problems(client):
    described = (await client.get("/api/v3/openapi.json")).json()
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names) >= 60
    assert all(name.isidentifier() for name in names)
    assert all(operation["summary"] and operation["description"] for operation in operations)
    assert "HTTPValidationError" not in str(described)
    refusal = described["paths"]["/api/v3/workflows/{name}/pause"]["post"]["responses"]["409"]
    assert refusal["content"]["application/problem+json"]["schema"]["$ref"].endswith("/Problem")


async def test_responses_match_the_openapi_description(database_url, admin, tenant, nominatim):
    from tests.api.openapi_requests import Asker, ask_everything

    await add_parcels(admin, tenant, 20)
    await add_parcels(admin, tenant, 20, "Queued")
    letters = await add_dead(admin, tenant, 200)
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production", **nominatim)
    names = {"workflows": "packing", "imports": "places", "dead-letters": letters[0], "runs": 1}
    known = {**names, **await add_line(admin, tenant)}
    tokens = {role: await logged_in(admin, tenant, role) for role in EXAMPLES}
    askers = {role: Asker(role, examples, tokens[role]) for role, examples in EXAMPLES.items()}
    await asyncio.to_thread(ask_everything, app, known, list(askers.values()))
    for role, asked in askers.items():
        print(f"as {role}: {sum(asked.codes.values())} requests, {dict(sorted(asked.codes.items()))}")
        assert sum(asked.codes.values()) >= 100 * EXAMPLES[role]
        assert {200, 404, 422} <= set(asked.codes)
        assert (403 in asked.codes) == (role is not Role.ADMIN)
        assert max(asked.codes) < 500
    assert {201, 202, 204, 400, 409} <= {code for asked in askers.values() for code in asked.codes}


async def logged_in(admin, tenant, role):
    """A token of somebody of this role."""
    user = await admin.fetchval(
        'INSERT INTO "user" (tenant_id, name, role) VALUES ($1, $2, $3) RETURNING id', tenant, f"the {role}", role
    )
    session = await add_session(admin, tenant, user, f"the {role}")
    return true_token(Vault(SECRET.encode()).signing_key, str(user), session)
