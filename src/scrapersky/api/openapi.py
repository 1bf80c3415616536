"""The OpenAPI document: what FastAPI derives from the routes, completed with descriptions and examples of each part.

An example is declared beside its field where no type implies one: texts, numbers and free objects. All others follow:
of ids, times, words of a vocabulary, lists, and objects, which are composed of the examples of their properties.
"""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from scrapersky.api.http.authorization import add_security_scheme
from scrapersky.api.http.problems import describe_problem_responses
from scrapersky.store.listing.columns import MOMENT, ROW_ID

Schema = dict[str, Any]

TAGS = {
    "auth": "Log in and out; your password and your sessions.",
    "users": "The users of your tenant, and invitations for new ones.",
    "api keys": "Keys for programs.",
    "tenants": "Tenants and their quotas, for admins of the operator tenant.",
    "quotas": "The quotas of your tenant.",
    "audit": "Who changed what, when and from where.",
    "searches": "Request searches, follow them, read and download their leads.",
    "campaigns": "Many searches with one budget, one progress and one file.",
    "schedules": "When searches and campaigns are made again, and what differs between their runs.",
    "places": "Places as the providers describe them.",
    "businesses": "Local businesses, with the details of their places.",
    "domains": "The websites of businesses.",
    "sitemaps": "The sitemap files of domains.",
    "pages": "The pages of domains.",
    "contacts": "Email addresses, phone numbers and people.",
    "views": "Saved views: the filters and the sort of a list under a name.",
    "undo": "Curations of the last day, and how to undo them.",
    "find": "Rows of every resource by how their name begins, and the providers of places.",
    "suppressions": "Addresses, domains and numbers that must not be contacted.",
    "erasures": "Erase a person.",
    "subjects": "What is stored about a person.",
    "jobs": "Long-running actions, and scans of websites.",
    "imports": "Store rows of a table or of JSON.",
    "exports": "All rows that match, as a file.",
    "deliveries": "Destinations, and the delivery of contacts to them.",
    "workflows": "The steps of the pipeline and their queues.",
    "dead letters": "Rows that failed for good.",
    "runs": "The history of the workflows.",
    "system": "Settings, web hosts and providers that rest, spending; for the operator tenant.",
    "dev tools": "Internals of a process.",
    "health": "Probes and metrics.",
}
UNDECLARED = "Successful Response"  # what FastAPI writes where a route says nothing
MISSING = object()  # no example follows from a schema; None is one
MAX_NUMBER = 10**15
# The smallest and the largest value of numbers of responses, by the names of their fields: described, not checked.
RANGES = {
    "latitude": (-90, 90),
    "longitude": (-180, 180),
    "box": (-180, 180),
    "rating": (0, 10),
    **dict.fromkeys(("confidence", "website_confidence", "same_confidence", "kind_score"), (0, 1)),
    **dict.fromkeys(("share_done", "progress", "error_rate"), (0, 1)),
    **dict.fromkeys(("seconds", "p50_seconds", "p95_seconds", "oldest_seconds"), (0, MAX_NUMBER)),
    **dict.fromkeys(("oldest_limit_seconds", "interval_seconds", "rate_per_minute", "cents"), (0, MAX_NUMBER)),
}
FORMATS = {
    "uuid": ROW_ID,
    "date-time": MOMENT,
    "date": "2026-11-15",
    "password": "correct horse battery staple",  # nosec B105 - an example
    "binary": "",
}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of the application, complete for readers and for generators of clients."""
    if app.openapi_schema is None:
        app.openapi_schema = _complete(add_security_scheme(describe_problem_responses(app.openapi())))
    return app.openapi_schema


def _complete(described: dict[str, Any]) -> dict[str, Any]:
    described["servers"] = [{"url": "/", "description": "the server of this document"}]
    described["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    _add_ranges(described["components"]["schemas"])
    examples = _Examples(described["components"]["schemas"])
    examples.add_to_components()
    for path in described["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                examples.add_to(parameter["schema"])
            for body in _bodies(operation):
                _describe(body, described["components"]["schemas"])
                for content in body.get("content", {}).values():
                    examples.add_to(content["schema"])
    return described


def _add_ranges(schemas: dict[str, Schema]) -> None:
    """Describe the range of each number whose field has one."""
    for schema in schemas.values():
        for name, field in schema.get("properties", {}).items():
            for node in [field, field.get("items", {}), *field.get("anyOf", ())]:
                if name in RANGES and node.get("type") == "number":
                    node.setdefault("minimum", RANGES[name][0])
                    node.setdefault("maximum", RANGES[name][1])


def _bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the request body of an operation, if it has one, and its responses."""
    if "requestBody" in operation:
        yield operation["requestBody"]
    yield from operation["responses"].values()


def _describe(body: dict[str, Any], schemas: dict[str, Schema]) -> None:
    """Describe a body by its schema where the route does not describe it."""
    if body.get("description", UNDECLARED) != UNDECLARED:
        return
    content = next(iter(body.get("content", {}).values()), None)
    schema: Schema = content["schema"] if content else {"description": "Done; the response has no body."}
    if schema.get("type") == "array":
        body["description"] = f"A list. {_resolved(schema['items'], schemas).get('description', '')}"
        return
    body["description"] = _resolved(schema.get("anyOf", [schema])[0], schemas).get("description", UNDECLARED)


def _resolved(schema: Schema, schemas: dict[str, Schema]) -> Schema:
    """Return the schema that a reference means, or the schema itself."""
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


class _Examples:
    """Derives examples of schemas and writes them into the document."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self._schemas = schemas

    def add_to_components(self) -> None:
        """Add an example to each component and to each of its properties."""
        for schema in self._schemas.values():
            for each in schema.get("properties", {}).values():
                self.add_to(each)
            self.add_to(schema)

    def add_to(self, schema: Schema) -> None:
        """Add the example that follows from the schema, if it has none and one follows."""
        if "examples" not in schema and (example := self._of(schema)) is not MISSING:
            schema["examples"] = [example]

    def _of(self, schema: Schema) -> Any:
        """Return the example of a schema; MISSING if none follows."""
        schema = _resolved(schema, self._schemas) if "examples" not in schema else schema
        for key in ("examples", "enum", "anyOf", "oneOf"):
            if key in schema:
                return schema[key][0] if key in ("examples", "enum") else self._of(schema[key][0])
        if "const" in schema or schema.get("default") not in (None, [], {}):
            return schema.get("const", schema.get("default"))
        return self._of_type(schema)

    def _of_type(self, schema: Schema) -> Any:
        if "properties" in schema:
            members = {name: self._of(each) for name, each in schema["properties"].items()}
            return MISSING if MISSING in members.values() else members
        if schema.get("type") == "array":
            item = self._of(schema["items"])
            return MISSING if item is MISSING else [item]
        if isinstance(of_each := schema.get("additionalProperties"), dict) and "propertyNames" in schema:
            return {self._of(schema["propertyNames"]): self._of(of_each)}
        return True if schema.get("type") == "boolean" else FORMATS.get(schema.get("format", ""), MISSING)
