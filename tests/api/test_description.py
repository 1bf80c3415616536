"""The description of the API is true: requests made from it get the answers it names, and never a 5xx."""

import asyncio
from collections import Counter
from contextlib import closing

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.config import ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.api.conftest import add_dead, add_parcels, app_over
from tests.api.line_rows import NOUNS, add_line

EXAMPLES = 5  # of each operation, for each of the three ways of asking
# What no schema can say: the provider is configured, the site a company's own, the contact somebody, the key new.
MEANING_COUNTS = {"create_search", "create_contact", "change_contact", "merge_contacts", "scan_sitemap", "import_rows"}
MEANING_COUNTS |= {f"curate_{noun}" for noun in NOUNS}
# The address is public, the options fit the kind, the secret is one.
MEANING_COUNTS |= {"create_destination", "change_destination", "rotate_destination", "create_deliveries"}


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


async def test_whatever_is_asked_the_answer_is_as_described(database_url, admin, tenant):
    await add_parcels(admin, tenant, 20)
    await add_parcels(admin, tenant, 20, "Queued")
    letters = await add_dead(admin, tenant, 200)
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production")
    known = {"workflows": "packing", "dead-letters": letters[0], "runs": 1, **await add_line(admin, tenant)}
    codes = await asyncio.to_thread(ask_everything, app, known)
    assert sum(codes.values()) >= 60 * EXAMPLES
    assert {200, 202, 400, 404, 409, 422} <= set(codes)
    assert max(codes) < 500


def ask_everything(app, known):
    """Ask each operation by its description, with names and ids that exist, and against its description."""
    project = ProjectConfig()
    # A cursor is any text to the description; one that was made up is refused with 400.
    project.checks.positive_data_acceptance.expected_statuses.append("400")
    config = SchemathesisConfig(projects=ProjectsConfig(default=project))
    codes = Counter()
    with closing(_Lifespans()):
        schema = schemathesis.openapi.from_asgi("/api/v3/openapi.json", app, config=config)
        for found in schema.get_all_operations():
            operation = found.ok()
            _ask(operation, operation.as_strategy(GenerationMode.POSITIVE), codes)
            if "{" in operation.path:
                noun, _, name = operation.path.removeprefix("/api/v3/").partition("/{")
                parameters = {name.partition("}")[0]: known.get(noun, known["dead-letters"])}
                _ask(operation, operation.as_strategy(GenerationMode.POSITIVE, path_parameters=parameters), codes)
            if operation.body or list(operation.iter_parameters()):
                _ask(operation, operation.as_strategy(GenerationMode.NEGATIVE), codes)
    return codes


class _Lifespans:
    def close(self):
        shutdown_lifespans()


def _ask(operation, cases, codes):
    excluded = [positive_data_acceptance] if operation.definition.raw["operationId"] in MEANING_COUNTS else []

    @seed(1)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def ask(case):
        answer = case.call()
        codes[answer.status_code] += 1
        case.validate_response(answer, excluded_checks=excluded)

    ask()
