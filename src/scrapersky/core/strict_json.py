"""JSON that reports duplicate keys: of two members of one name, parsers take the first, the last or both."""

import json
from typing import Any


class DuplicateKeys(dict[str, Any]):
    """An object in which `key` occurs twice."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__()
        for name, value in members:
            if name in self:
                self.key = name
            self[name] = value


def parse(text: str | bytes) -> Any:
    """Parse JSON; an object with a duplicate key is a DuplicateKeys. Raise ValueError or RecursionError on failure."""
    return json.loads(text, object_pairs_hook=_object)


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


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    return found if len(found) == len(members) else DuplicateKeys(members)
