"""Requests say each thing once: a body whose objects have two members of one name is refused."""

from fastapi import Request

from scrapersky.api.http.authorization import OptionalActor
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular import strict_json

IMPORTS = "/api/v3/imports/"


class DuplicateMember(BadRequest):
    """An object of the body has two members of one name."""

    status_code = 422

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:100]!a} stands in one object twice. Say it once.")
        self.fields = (name[:100],)


class UnsupportedMediaType(BadRequest):
    """The body is not said to be JSON."""

    status_code = 415


async def refuse_duplicate_members(request: Request, actor: OptionalActor) -> None:
    """SaidTwice for such a body, NotJson for another; whatever else may be wrong with it is told by whoever reads it.

    It comes after the door. Rows of an import are judged one by one.
    """
    if request.url.path.startswith(IMPORTS) or not (body := await request.body()):
        return
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("Send it with Content-Type: application/json.")
    _check(body)


def _check(body: bytes) -> None:
    try:
        twin = strict_json.twin_in(strict_json.read(body))
    except (ValueError, RecursionError):
        return
    if twin is not None:
        raise DuplicateMember(twin)
