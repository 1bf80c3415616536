"""JSON whose objects say each thing once: of two members of one name, readers take the first, the last, or both."""

import json
from typing import Any


class Twice(dict[str, Any]):
    """An object with two members of one name; nobody can tell which of them was meant."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__()
        for name, value in members:
            if name in self:
                self.name = name
            self[name] = value


def read(text: str | bytes) -> Any:
    """The value; ValueError or RecursionError if it is no JSON. An object that says a thing twice is a Twice."""
    return json.loads(text, object_pairs_hook=_object)


def twin_in(value: Any) -> str | None:
    """The name that some object in it, however deep, has twice; without recursion, which strangers could exhaust."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Twice):
            return found.name
        if isinstance(found, dict):
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found
    return None


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    return found if len(found) == len(members) else Twice(members)
