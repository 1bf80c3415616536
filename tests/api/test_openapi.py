"""The description of the API is true: requests made from it get the answers it names, and never a 5xx."""

import asyncio
from collections import Counter
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.config import ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.specs.openapi.checks import positive_data_acceptance

from scrapersky.core.roles import Role
from scrapersky.core.vault import Vault
from tests.factories.api_application import SECRET, add_dead, add_parcels, app_over
from tests.factories.forged_tokens import true_token
from tests.factories.line_rows import NOUNS, add_line
from tests.factories.two_tenants import add_session

# Of each operation, for each of the three ways of asking; whoever may do little is refused at the door mostly.
EXAMPLES = {Role.VIEWER: 1, Role.CURATOR: 2, Role.OPERATOR: 2, Role.ADMIN: 4}
ENDS_THE_LOGIN = {"logout"}  # told by the tests of logins
# What no schema can say: the provider is configured, the site a company's own, the contact somebody, the key new.
MEANING_COUNTS = {"create_search", "create_contact", "change_contact", "merge_contacts", "split_contact"}
MEANING_COUNTS |= {"scan_sitemap", "import_rows"}
MEANING_COUNTS |= {f"curate_{noun}" for noun in NOUNS}
# The address is public, the options fit the kind, the secret is one.
MEANING_COUNTS |= {"create_destination", "change_destination", "rotate_destination", "create_deliveries"}
# An erasure means somebody.
MEANING_COUNTS |= {"erase_person", "get_subject"}


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


@pytest.mark.parametrize("role", list(Role))
async def test_responses_to_every_role_match_the_openapi_description(database_url, admin, tenant, role):
    await add_parcels(admin, tenant, 20)
    await add_parcels(admin, tenant, 20, "Queued")
    letters = await add_dead(admin, tenant, 200)
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    known = {"workflows": "packing", "dead-letters": letters[0], "runs": 1, **await add_line(admin, tenant)}
    asked = Asker(EXAMPLES[role], {"Authorization": f"Bearer {await logged_in(admin, tenant, role)}"})
    await asyncio.to_thread(ask_everything, app, known, asked)
    print(f"as {role}: {sum(asked.codes.values())} requests, {dict(sorted(asked.codes.items()))}")
    assert sum(asked.codes.values()) >= 100 * EXAMPLES[role]
    assert {200, 404, 422} <= set(asked.codes)
    assert (403 in asked.codes) == (role is not Role.ADMIN)
    assert role is not Role.ADMIN or {201, 202, 204, 400, 409} <= set(asked.codes)
    assert max(asked.codes) < 500


async def logged_in(admin, tenant, role):
    """A token of somebody of this role."""
    user = await admin.fetchval(
        'INSERT INTO "user" (tenant_id, name, role) VALUES ($1, $2, $3) RETURNING id', tenant, f"the {role}", role
    )
    session = await add_session(admin, tenant, user, f"the {role}")
    return true_token(Vault(SECRET.encode()).signing_key, str(user), session)


def ask_everything(app, known, asked):
    """Ask each operation by its description, with names and ids that exist, and against its description."""
    project = ProjectConfig()
    # A cursor is any text to the description; one that was made up is refused with 400.
    project.checks.positive_data_acceptance.expected_statuses.append("400")
    config = SchemathesisConfig(projects=ProjectsConfig(default=project))
    with closing(_Lifespans()):
        schema = schemathesis.openapi.from_asgi("/api/v3/openapi.json", app, config=config, headers=asked.headers)
        _forget_security(schema.raw_schema)
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.definition.raw["operationId"] in ENDS_THE_LOGIN:
                continue
            asked.ask(operation, operation.as_strategy(GenerationMode.POSITIVE))
            if "{" in operation.path:
                noun, _, name = operation.path.removeprefix("/api/v3/").partition("/{")
                parameters = {name.partition("}")[0]: known.get(noun, known["dead-letters"])}
                asked.ask(operation, operation.as_strategy(GenerationMode.POSITIVE, path_parameters=parameters))
            if operation.body or list(operation.iter_parameters()):
                asked.ask(operation, operation.as_strategy(GenerationMode.NEGATIVE))


def _forget_security(described):
    """Who asks is not made up here: the matrix tells about wrong credentials."""
    del described["components"]["securitySchemes"]
    for path in described["paths"].values():
        for operation in path.values():
            del operation["security"]


class _Lifespans:
    def close(self):
        shutdown_lifespans()


class Asker:
    """Somebody who asks, and counts the answers."""

    def __init__(self, examples, headers):
        self.headers = headers
        self.codes: Counter[Any] = Counter()
        self._examples = examples

    def ask(self, operation, cases):
        """Some requests of one kind, each answer held to the description."""
        excluded = [positive_data_acceptance] if operation.definition.raw["operationId"] in MEANING_COUNTS else []

        @seed(1)
        @settings(
            max_examples=self._examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases)
        def ask(case):
            case.headers.update(self.headers)  # instead of whom it made up
            answer = case.call()
            self.codes[answer.status_code] += 1
            case.validate_response(answer, excluded_checks=excluded)

        ask()
