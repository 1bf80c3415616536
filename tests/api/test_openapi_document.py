"""The OpenAPI document is complete: each part is described, has a valid example and bounds, and a name of its own."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from scrapersky.api.http.problems import DESCRIPTIONS, MEDIA_TYPE, Problem, problems
from scrapersky.api.openapi import UNDECLARED, openapi_document
from scrapersky.asgi import create_app
from tests import ROOT
from tests.deploy.tools import run_tool

CURE = (
    "Give each field a description where it is declared: Field(description=…, examples=[…]) of a model of the API, "
    "store/listing/columns.py for a column of a table, core/contact_fields.py for a field of a contact, "
    "store/leads/columns.py for a column of leads. An example is needed for texts, numbers and free objects only. "
    "An integer of a response is a Count, a number has its range in RANGES of api/openapi.py; a list has max_length."
)
# Lists of responses that nothing limits: the data of a provider, of a page, of a person, or of this installation.
UNLIMITED = {
    "categories",
    "technologies",
    "rejected_websites",
    "other_emails",
    "other_phones",
    "socials",
    "queries",
    "verdict_reasons",
    "shared_with",
    "sources",
    "ignored_columns",
    "reasons",
    "receivers",
    "hashes",
    "contacts",
    "copies",
    "deliveries",
    "suppressions",
    "columns",
    "id",
    "jobs",
    "workers",
    "cells",
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document(create_app())


def parts(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the place, the described object and the schema of each component, property, parameter and body."""
    for name, schema in document["components"]["schemas"].items():
        yield name, schema, schema
        for field, inner in schema.get("properties", {}).items():
            yield f"{name}.{field}", inner, inner
    for where, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            yield f"{where} ?{parameter['name']}", parameter, parameter["schema"]
        for code, body in bodies(operation):
            yield f"{where} {code}", body, {"examples": ["no body"]}
            for media_type, content in body.get("content", {}).items():
                yield f"{where} {code} {media_type}", body, content["schema"]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def bodies(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "requestBody" in operation:
        yield "body", operation["requestBody"]
    yield from operation["responses"].items()


def nodes(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and those inside it, without following references."""
    yield name, schema
    for field, inner in schema.get("properties", {}).items():
        yield from nodes(f"{name}.{field}", inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from nodes(f"{name}[]", schema[key])
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(key, ()):
            yield from nodes(name, inner)


def requested(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schemas of parameters and request bodies, with all components they refer to."""
    found = dict[str, dict[str, Any]]()
    open_ends = list[tuple[str, dict[str, Any]]]()
    for where, operation in operations(document):
        open_ends += [(f"{where} ?{each['name']}", each["schema"]) for each in operation.get("parameters", ())]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            open_ends.append((f"{where} body", content["schema"]))
    while open_ends:
        name, schema = open_ends.pop()
        if name in found:
            continue
        found[name] = schema
        for reference in re.findall(r"'#/components/schemas/([^']+)'", str(schema)):
            open_ends.append((reference, document["components"]["schemas"][reference]))
    return found


def is_limited(schema: dict[str, Any]) -> bool:
    """Return whether the values of a schema have a smallest and a largest one, or a largest length."""
    if "enum" in schema or "const" in schema:
        return True
    match schema.get("type"):
        case "integer" | "number":
            return {"minimum", "maximum"} <= schema.keys()
        case "array":
            return "maxItems" in schema
    return True


def is_limited_request(schema: dict[str, Any]) -> bool:
    limits = {"string": {"maxLength", "pattern", "enum", "const", "format", "contentMediaType"}}
    needed = limits.get(schema.get("type", ""))
    return is_limited(schema) and (needed is None or bool(needed & schema.keys()))


def test_every_part_has_a_description(document):
    bare = [
        where for where, described, _ in parts(document) if described.get("description", UNDECLARED) in (UNDECLARED, "")
    ]
    assert not bare, CURE


def test_every_part_has_an_example(document):
    assert [where for where, _, schema in parts(document) if "examples" not in schema] == [], CURE


def test_every_example_is_valid_by_its_schema(document):
    """One document with all examples, checked by one schema: building a validator for each would take a minute."""
    schemas = {where: schema for where, _, schema in parts(document) if schema["examples"] != ["no body"]}
    whole = Draft202012Validator({"properties": schemas, "components": document["components"]}, validate_formats=True)
    examples = {where: schema["examples"][0] for where, schema in schemas.items()}
    assert [f"{error.instance_path}: {error.message[:200]}" for error in whole.iter_errors(examples)] == []
    assert [where for where, schema in schemas.items() if len(schema["examples"]) != 1] == []


def test_numbers_and_lists_have_limits(document):
    found = [
        where
        for name, schema in document["components"]["schemas"].items()
        for where, node in nodes(name, schema)
        if not is_limited(node) and where.rpartition(".")[2].removesuffix("[]") not in UNLIMITED
    ]
    assert found == [], CURE


def test_everything_that_a_request_contains_has_limits(document):
    found = [
        where
        for name, schema in requested(document).items()
        for where, node in nodes(name, schema)
        if not is_limited_request(node)
    ]
    assert found == [], "A field of a request needs max_length, a pattern, or ge and le."


def test_spectral_finds_no_error_and_no_warning(document, tmp_path):
    """The rules that are off, and why, are in .spectral.yaml; `.ci/run` installs Spectral where npm is."""
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document))
    run_tool("spectral", "lint", "--fail-severity", "warn", "--ruleset", ".spectral.yaml", str(path), cwd=ROOT)


def test_every_tag_is_described(document):
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    assert {tag["name"] for tag in document["tags"]} == used, "Describe the tag in TAGS of api/openapi.py."


def test_files_describe_each_of_their_columns(document):
    files = {where: schema for where, _, schema in parts(document) if "x-columns" in schema and "ndjson" not in where}
    assert len(files) >= 10
    for where, schema in files.items():
        columns = [column for table in schema["x-columns"].values() for column in table]
        described = re.findall(r"^- `(\w+)`: \S", schema["description"], re.M)
        assert [column for column in columns if column not in described] == [], f"{where}: {CURE}"
        assert described == columns


def test_problems_are_references_since_fastapi_builds_a_serializer_for_each_model(document):
    shown = {code: response["content"][MEDIA_TYPE]["schema"] for code, response in problems(*DESCRIPTIONS).items()}
    assert set(shown) == set(DESCRIPTIONS)
    assert all(schema == {"$ref": "#/components/schemas/Problem"} for schema in shown.values())
    assert not any("model" in response for response in problems(*DESCRIPTIONS).values())
    assert set(document["components"]["schemas"]["Problem"]["properties"]) == set(Problem.model_fields)


def test_no_two_schemas_share_a_name(document):
    """FastAPI tells models of one name apart by their modules or a number; generators of clients then fail."""
    names = list(document["components"]["schemas"])
    assert [
        name for name in names if "__" in name or "scrapersky" in name or "-Input" in name or "-Output" in name
    ] == []
    generated = [re.sub("[^a-z0-9]", "", name.lower()) for name in names]
    assert len(set(generated)) == len(names)
    titles = [schema["title"] for schema in document["components"]["schemas"].values()]
    assert len(set(titles)) == len(titles)
