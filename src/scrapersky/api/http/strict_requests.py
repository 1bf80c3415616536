"""Strict requests: unknown or repeated query fields, and objects with repeated or too many members, are refused."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scrapersky.api.http.authorization import OptionalActor
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.core import strict_json
from scrapersky.core.errors import BadRequest

IMPORTS = "/api/v3/imports/"
IMPORT_PATHS = (IMPORTS, f"{CONSOLE}/import/")  # requests whose body may be a table
MAX_MEMBERS = 200  # of one object; validating thousands that are not declared takes a second


class DuplicateMember(BadRequest):
    """An object in the body has two members of the same name."""

    status_code = 422

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:100]!a} occurs twice in one object. Send it once.")
        self.fields = (name[:100],)


class TooManyMembers(BadRequest):
    """An object in the body has too many members."""

    status_code = 422


class UnsupportedMediaType(BadRequest):
    """The Content-Type of the body is not supported."""

    status_code = 415


async def refuse_odd_objects(request: Request, actor: OptionalActor) -> None:
    """Raise DuplicateMember, TooManyMembers or UnsupportedMediaType. Validation, which is next, finds other faults.

    This depends on the actor, so that it runs after authentication. Imports check each row themselves.
    """
    if request.url.path.startswith(IMPORTS) or not (body := await request.body()):
        return
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedMediaType("Send the body with Content-Type: application/json.")
    try:
        duplicate = strict_json.duplicate_key(strict_json.parse(body, MAX_MEMBERS))
    except strict_json.ObjectTooLarge:
        raise TooManyMembers(f"An object may have at most {MAX_MEMBERS} members.") from None
    except (ValueError, RecursionError):
        return
    if duplicate is not None:
        raise DuplicateMember(duplicate)


async def refuse_unknown_fields(request: Request, actor: OptionalActor) -> None:
    """Raise RequestValidationError for query fields that the route does not declare, or that occur twice.

    This depends on the actor, so that it runs after authentication.
    """
    sent = Counter(name for name, _ in request.query_params.multi_items())
    known = dict(_fields(request.scope["route"].dependant)) if sent else dict[str, bool]()
    errors = [_unknown(name, known) for name in sent if name not in known]
    errors += [
        _error(name, "must be given once") for name, times in sent.items() if times > 1 and not known.get(name, True)
    ]
    if errors:
        raise RequestValidationError(errors)


def _unknown(name: str, known: Mapping[str, bool]) -> dict[str, Any]:
    fields = f"the fields are {', '.join(sorted(known))}" if known else "the query has no fields"
    return _error(name, f"is not a field of this query; {fields}")


def _error(name: str, message: str) -> dict[str, Any]:
    return {"type": "value_error", "loc": ("query", name), "msg": message}


def _fields(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield all query fields of a route and its dependencies, each with whether it is a list."""
    for field in dependant.query_params:
        annotation = field.field_info.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from ((inner.alias or name, _is_list(inner)) for name, inner in annotation.model_fields.items())
        else:
            yield field.alias, _is_list(field.field_info)
    for inner in dependant.dependencies:
        yield from _fields(inner)


def _is_list(field: FieldInfo) -> bool:
    return any(get_origin(kind) is list for kind in (field.annotation, *map(_unannotated, get_args(field.annotation))))


def _unannotated(kind: Any) -> Any:
    return kind.__origin__ if get_origin(kind) is Annotated else kind
