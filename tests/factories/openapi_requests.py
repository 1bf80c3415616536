"""Requests made from the OpenAPI description: valid bodies with a given id in every field that takes one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PREFIX = "/api/v3/"


@dataclass(frozen=True)
class Operation:
    """One operation of the description."""

    method: str
    path: str
    described: dict[str, Any]
    schemas: dict[str, Any]

    @property
    def role(self) -> str:
        return self.described["x-role"]

    @property
    def resource(self) -> str:
        """The part before the id: `places` of /api/v3/places/{id}/cancel."""
        return self.path.removeprefix(PREFIX).partition("/{")[0]

    @property
    def has_id(self) -> bool:
        """Whether the path has an id."""
        return any(one["in"] == "path" and self._is_id(one["schema"]) for one in self.described.get("parameters", []))

    def at(self, row_id: str = "00000000-0000-4000-8000-000000000000") -> str:
        """Return the path with this id and names that exist."""
        words = {"id": row_id, "name": "packing", "ending": "jsonl", "noun": "places"}
        for parameter in (one for one in self.described.get("parameters", []) if one["in"] == "path"):
            word = words[parameter["name"]]
            integer = parameter["schema"].get("type") == "integer"
            self_path = "{" + parameter["name"] + "}"
            words["path"] = words.get("path", self.path).replace(self_path, "1" if integer else word)
        return words.get("path", self.path)

    def id_queries(self) -> list[str]:
        """Return the names of query parameters that are ids."""
        queries = (one for one in self.described.get("parameters", []) if one["in"] == "query")
        return [one["name"] for one in queries if self._is_id(one["schema"])]

    def bodies(self, row_id: str) -> Iterator[Any]:
        """Yield a body of each variant that has an id, with this one in all its fields."""
        content = self.described.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return
        for variant in self._variants(content["application/json"]["schema"]):
            made = self._instance(variant, row_id)
            if row_id in str(made):
                yield made

    def _resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    def _variants(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        schema = self._resolve(schema)
        options = schema.get("oneOf") or schema.get("anyOf") or [schema]
        return [self._resolve(option) for option in options if option.get("type") != "null"]

    def _is_id(self, schema: dict[str, Any]) -> bool:
        return any(one.get("format") == "uuid" for one in self._variants(schema))

    def _holds_id(self, schema: dict[str, Any], depth: int = 4) -> bool:
        return depth > 0 and any(
            one.get("format") == "uuid"
            or (one.get("type") == "array" and self._holds_id(one.get("items", {}), depth - 1))
            or any(self._holds_id(part, depth - 1) for part in one.get("properties", {}).values())
            for one in self._variants(schema)
        )

    def _instance(self, schema: dict[str, Any], row_id: str) -> Any:
        options = self._variants(schema)
        schema = next((one for one in options if self._holds_id(one)), options[0])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("format") == "uuid":
            return row_id
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            wanted = {
                name: part
                for name, part in schema.get("properties", {}).items()
                if name in schema.get("required", []) or self._holds_id(part)
            }
            return {name: self._instance(part, row_id) for name, part in wanted.items()}
        if kind == "array":
            return [self._instance(schema["items"], row_id)]
        return {"string": _text(schema), "integer": schema.get("minimum", 1), "number": 1.5, "boolean": False}.get(
            str(kind)
        )


def _text(schema: dict[str, Any]) -> str:
    if schema.get("format") == "date-time":
        return "2030-01-01T00:00:00Z"
    return "https://sky.example/" if schema.get("format") == "uri" else "x" * max(schema.get("minLength", 1), 3)


def operations(described: dict[str, Any]) -> list[Operation]:
    """Return every operation of the description."""
    schemas = described["components"]["schemas"]
    found = [
        Operation(method.upper(), path, described, schemas)
        for path, methods in described["paths"].items()
        for method, described in methods.items()
    ]
    return sorted(found, key=lambda one: (one.path, one.method))
