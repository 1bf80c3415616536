"""Requests say each thing once: a body whose objects have two members of one name is refused."""

from scrapersky.core.errors import BadRequest
from scrapersky.extract import json_once


class SaidTwice(BadRequest):
    """An object of the body has two members of one name."""

    status_code = 422

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:100]!a} stands in one object twice. Say it once.")


def refuse_twins(content_type: str, body: bytes) -> None:
    """SaidTwice for such a body; whatever else may be wrong with it is told by whoever reads it."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body or not (kind == "application/json" or kind.endswith("+json")):
        return
    try:
        twin = json_once.twin_in(json_once.read(body))
    except (ValueError, RecursionError):
        return
    if twin is not None:
        raise SaidTwice(twin)
