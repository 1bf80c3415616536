"""Requests that schemathesis makes from the OpenAPI document, each response held to it. Its import takes a second."""

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
from tests.factories.line_rows import NOUNS

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


def ask_everything(app, known, askers):
    """Ask each operation by its description, with names and ids that exist, and against its description.

    Everybody asks one operation after the other: what makes its requests is built once. Whose role is too low is asked
    about once: the refusal does not depend on the request.
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
            needed = operation.definition.raw["x-role"]
            for number, cases in enumerate(kinds_of_requests(operation, known)):
                for asked in askers:
                    if number == 0 or needed == "anyone" or asked.role.covers(Role(needed)):
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

    def __init__(self, role, examples, token):
        self.role = role
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
            answer = case.call(timeout=240)  # a busy machine may be late
            self.codes[answer.status_code] += 1
            case.validate_response(answer, excluded_checks=excluded)

        ask()
