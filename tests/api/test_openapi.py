"""The description of the API is true: requests made from it get the answers it names, and never a 5xx."""

import asyncio
from collections import Counter
from contextlib import closing
from typing import Any

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
EXAMPLES = {Role.VIEWER: 1, Role.CURATOR: 1, Role.OPERATOR: 1, Role.ADMIN: 2}
ENDS_THE_LOGIN = {"logout"}  # told by the tests of logins
# What no schema can say: the provider is configured, the site a company's own, the contact somebody, the key new.
MEANING_COUNTS = {
    "create_search",
    "create_contact",
    "change_contact",
    "merge_contacts",
    "split_contact",
}
MEANING_COUNTS |= {"continue_search", "scan_sitemap", "import_rows", "look_at_table"}
MEANING_COUNTS |= {f"curate_{noun}" for noun in NOUNS}
# The address is public, the options fit the kind, the secret is one.
MEANING_COUNTS |= {"create_destination", "change_destination", "rotate_destination", "create_deliveries"}
# A time zone has a name that exists, a view filters that its list has.
MEANING_COUNTS |= {"change_preferences", "save_view"}
# A country and a language exist, a campaign has a query that can be made.
MEANING_COUNTS |= {"list_areas", "create_campaign"}
# A schedule has a rhythm, and its time zone exists.
MEANING_COUNTS |= {"create_schedule"}
# The address of a web site is one of a company.
MEANING_COUNTS |= {"put_business_website"}
# A business has another one to be joined with, and a record to be split off.
MEANING_COUNTS |= {"join_businesses", "split_business"}
# What a lead file may be sorted by depends on what a row of it is.
MEANING_COUNTS |= {"list_results", "download_leads", "list_results_of_campaign", "download_leads_of_campaign"}
# A box is on the map, and its south is not above its north.
MEANING_COUNTS |= {"list_place_cells", "list_places", "count_places", "export_places"}
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


async def test_responses_to_every_role_match_the_openapi_description(database_url, admin, tenant, nominatim):
    await add_parcels(admin, tenant, 20)
    await add_parcels(admin, tenant, 20, "Queued")
    letters = await add_dead(admin, tenant, 200)
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production", **nominatim)
    names = {"workflows": "packing", "imports": "places", "dead-letters": letters[0], "runs": 1}
    known = {**names, **await add_line(admin, tenant)}
    tokens = {role: await logged_in(admin, tenant, role) for role in EXAMPLES}
    askers = {role: Asker(examples, tokens[role]) for role, examples in EXAMPLES.items()}
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


def ask_everything(app, known, askers):
    """Ask each operation by its description, with names and ids that exist, and against its description.

    Everybody asks one operation after the other: what makes its requests is built once.
    """
    project = ProjectConfig()
    # A cursor is any text to the description; one that was made up is refused with 400.
    project.checks.positive_data_acceptance.expected_statuses.append("400")
    config = SchemathesisConfig(projects=ProjectsConfig(default=project))
    with closing(_Lifespans()):
        options: Any = {"config": config, "headers": askers[-1].headers, "timeout": 240}
        schema = schemathesis.openapi.from_asgi("/api/v3/openapi.json", app, **options)
        _forget_security(schema.raw_schema)
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.definition.raw["operationId"] in ENDS_THE_LOGIN:
                continue
            for cases in kinds_of_requests(operation, known):
                for asked in askers:
                    asked.ask(operation, cases)


def kinds_of_requests(operation, known):
    """Yield requests by the description, those with an id that exists, and those against the description."""
    yield operation.as_strategy(GenerationMode.POSITIVE)
    if "{" in operation.path:
        noun, _, name = operation.path.removeprefix("/api/v3/").partition("/{")
        parameters = {name.partition("}")[0]: known.get(noun, known["dead-letters"])}
        yield operation.as_strategy(GenerationMode.POSITIVE, path_parameters=parameters)
    if operation.body or list(operation.iter_parameters()):
        yield operation.as_strategy(GenerationMode.NEGATIVE)


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

    def __init__(self, examples, token):
        self.headers = {"Authorization": f"Bearer {token}"}
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
