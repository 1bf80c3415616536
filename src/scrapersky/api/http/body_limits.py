"""The size limit of a request body: small, unless the route accepts a long list or a table."""

from collections.abc import Iterable, Iterator
from typing import Any

from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute, compile_path
from starlette.types import Scope

from scrapersky.api.http.strict_requests import IMPORT_PATHS

MAX_BODY_BYTES = 65_536
MAX_LIST_BYTES = 1_000_000
MAX_IMPORT_BYTES = 10_000_000
LONG_LIST = 100  # items


class BodyLimits:
    """The limits of all routes, derived from their bodies."""

    def __init__(self, prefix: str, routes: Iterable[BaseRoute]) -> None:
        self._with_lists = [
            (compile_path(prefix + route.path)[0], route.methods or set())
            for route in routes
            if isinstance(route, APIRoute) and _accepts_long_list(route)
        ]

    def __call__(self, scope: Scope) -> int:
        """Return the limit for this request."""
        path, method = scope["path"], scope["method"]
        if path.startswith(IMPORT_PATHS):
            return MAX_IMPORT_BYTES
        has_list = any(method in methods and pattern.match(path) for pattern, methods in self._with_lists)
        return MAX_LIST_BYTES if has_list else MAX_BODY_BYTES


def _accepts_long_list(route: APIRoute) -> bool:
    if route.body_field is None:
        return False
    body_type: Any = route.body_field.field_info.annotation
    return any(items > LONG_LIST for items in _max_lengths(TypeAdapter(body_type).core_schema))


def _max_lengths(schema: Any) -> Iterator[int]:
    """Yield the maximum length of each list in a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "list" and "max_length" in schema:
            yield schema["max_length"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _max_lengths(part)
