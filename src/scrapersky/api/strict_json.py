"""JSON says each thing once: of two members of one name, readers take the first, the last, or both."""

import json
from typing import Any

from scrapersky.core.errors import BadRequest


class SaidTwice(BadRequest):
    """An object of the body has two members of one name."""

    status_code = 422


def refuse_twins(content_type: str, body: bytes) -> None:
    """SaidTwice for such a body; whatever else may be wrong with it is told by whoever reads it."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body or not (kind == "application/json" or kind.endswith("+json")):
        return
    try:
        json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return


def _once(members: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            raise SaidTwice(f"{name[:100]!a} stands in one object twice. Say it once.")
        seen.add(name)
