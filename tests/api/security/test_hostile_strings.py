"""Every text that a request may hold is bounded and clean: walked from the description, none is missed."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.factories.api_application import app_over

BOUNDED_FORMATS = {"uuid", "date-time"}  # read into a value of their own kind before anything else
METHODS = ("get", "put", "post", "delete", "patch")


def described(url: str) -> dict[str, Any]:
    document: dict[str, Any] = app_over(url).openapi()
    return document


def texts(schema: dict[str, Any], document: dict[str, Any], where: str, seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """Every string in a schema, with where it is."""
    if reference := schema.get("$ref"):
        if reference not in seen:
            name = reference.rsplit("/", 1)[1]
            yield from texts(document["components"]["schemas"][name], document, f"{where}({name})", (*seen, reference))
        return
    for key in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(key, ()):
            yield from texts(part, document, where, seen)
    for name, part in schema.get("properties", {}).items():
        yield from texts(part, document, f"{where}.{name}", seen)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from texts(schema[key], document, f"{where}[]", seen)
    if schema.get("type") == "string":
        yield where, schema


def lists(schema: dict[str, Any], document: dict[str, Any], where: str, seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """Every array in a schema."""
    if reference := schema.get("$ref"):
        if reference not in seen:
            name = reference.rsplit("/", 1)[1]
            yield from lists(document["components"]["schemas"][name], document, f"{where}({name})", (*seen, reference))
        return
    for key in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(key, ()):
            yield from lists(part, document, where, seen)
    for name, part in schema.get("properties", {}).items():
        yield from lists(part, document, f"{where}.{name}", seen)
    if schema.get("type") == "array":
        yield where, schema


def is_bounded(schema: dict[str, Any]) -> bool:
    if "enum" in schema or "const" in schema or schema.get("format") in BOUNDED_FORMATS:
        return True
    return "maxLength" in schema or _ends(schema.get("pattern", ""))


def _ends(pattern: str) -> bool:
    """A pattern from ^ to $ in which every repetition is counted."""
    return pattern.startswith("^") and pattern.endswith("$") and not set("*+") & set(_without_classes(pattern))


def _without_classes(pattern: str) -> str:
    outside, inside = [], False
    for sign in pattern.replace("\\+", "").replace("\\*", ""):
        if sign == "[":
            inside = True
        if not inside:
            outside.append(sign)
        if sign == "]":
            inside = False
    return "".join(outside)


def is_clean(schema: dict[str, Any]) -> bool:
    """Whether controls cannot pass: a list of words, a format, or a pattern that has no room for them."""
    return "enum" in schema or "const" in schema or schema.get("format") in BOUNDED_FORMATS or "pattern" in schema


def asked(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema of every parameter and every JSON body."""
    for path, methods in document["paths"].items():
        for method in METHODS:
            if operation := methods.get(method):
                for parameter in operation.get("parameters", ()):
                    yield f"{method} {path} {parameter['in']}.{parameter['name']}", parameter["schema"]
                content = operation.get("requestBody", {}).get("content", {})
                if "application/json" in content:
                    yield f"{method} {path} body", content["application/json"]["schema"]


NOT_CLEAN = {
    # Opaque to us until it is decoded and checked part by part.
    "query.cursor",
    "query.before",
    # Words of a list: any other is refused with the choices.
    "query.prefer",
    "query.columns",
    "query.sort",
    "header.if-match",
    # Cleaned and judged one by one: a bad one fails alone, with its place.
    "body(newsuppressions).values[]",
    "body(suppressioncheck).values[]",
    # A key with a sign that no key has gets a sentence of its own (test_destinations.py).
    "body(destinationchange).secret",
    "body(newdestination).secret",
    "body(newsecret).secret",
}


@pytest.fixture
def document(database_url):
    return described(database_url)


def test_every_text_of_a_request_has_a_maximum_length(document):
    found = [(where, one) for name, schema in asked(document) for where, one in texts(schema, document, name)]
    assert len(found) > 50
    assert [where for where, one in found if not is_bounded(one)] == []


def test_no_text_of_a_request_allows_control_characters(document):
    found = [(where, one) for name, schema in asked(document) for where, one in texts(schema, document, name)]
    wrong = [where for where, one in found if not is_clean(one) and where.split(" ")[-1].lower() not in NOT_CLEAN]
    assert wrong == []


def test_every_list_of_a_request_has_a_maximum_length(document):
    found = [(where, one) for name, schema in asked(document) for where, one in lists(schema, document, name)]
    assert [where for where, one in found if "maxItems" not in one] == []


def test_every_body_forbids_unknown_fields(document):
    bodies = [schema for name, schema in asked(document) if name.endswith(" body")]
    named = {
        part["$ref"].rsplit("/", 1)[1]
        for schema in bodies
        for part in [schema, *schema.get("anyOf", ())]
        if "$ref" in part
    }
    loose = [name for name in named if document["components"]["schemas"][name].get("additionalProperties") is not False]
    assert loose == []


def test_the_schema_walk_finds_an_unbounded_text():
    open_text = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    assert [where for where, one in texts(open_text, {}, "body") if not is_bounded(one)] == ["body.a"]
    assert not is_bounded({"type": "string", "pattern": "^[a-z]+$"})
    assert is_bounded({"type": "string", "pattern": "^[a-z+]{1,3}$"})
