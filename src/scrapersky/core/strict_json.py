"""JSON that reports duplicate keys: of two members of one name, parsers take the first, the last or both."""

import json
from functools import partial
from typing import Any


class ObjectTooLarge(Exception):
    """An object has more members than allowed."""


class DuplicateKeys(dict[str, Any]):
    """An object in which `key` occurs twice."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__()
        for name, value in members:
            if name in self:
                self.key = name
            self[name] = value


def parse(text: str | bytes, max_members: int | None = None) -> Any:
    """Parse JSON; an object with a duplicate key is a DuplicateKeys. Raise ValueError or RecursionError on failure.

    Raise ObjectTooLarge for an object with more than `max_members`.
    """
    return json.loads(text, object_pairs_hook=partial(_object, max_members))


def duplicate_key(value: Any) -> str | None:
    """Return a key that occurs twice in some object of the value; without recursion, which input could exhaust."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, DuplicateKeys):
            return found.key
        if isinstance(found, dict):
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found
    return None


def _object(max_members: int | None, members: list[tuple[str, Any]]) -> dict[str, Any]:
    if max_members is not None and len(members) > max_members:
        raise ObjectTooLarge
    found = dict(members)
    return found if len(found) == len(members) else DuplicateKeys(members)
