"""Requests ask what there is to ask: a query field that the route does not know, or that is said twice, is refused."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scrapersky.api.http.authorization import OptionalActor


async def refuse_unknown_fields(request: Request, actor: OptionalActor) -> None:
    """What nobody reads must not look as if it had been heard. It comes after the door."""
    told = Counter(name for name, _ in request.query_params.multi_items())
    known = dict(_fields(request.scope["route"].dependant)) if told else dict[str, bool]()
    wrong = [_strange(name, known) for name in told if name not in known]
    wrong += [
        _wrong(name, "must be given once") for name, times in told.items() if times > 1 and not known.get(name, True)
    ]
    if wrong:
        raise RequestValidationError(wrong)


def _strange(name: str, known: Mapping[str, bool]) -> dict[str, Any]:
    there = f"there are {', '.join(sorted(known))}" if known else "there is none here"
    return _wrong(name, f"is no field of this query; {there}")


def _wrong(name: str, message: str) -> dict[str, Any]:
    return {"type": "value_error", "loc": ("query", name), "msg": message}


def _fields(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """All query fields, those of models and of the gates before the route, too; and whether each is a list."""
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from ((inner.alias or name, _is_list(inner)) for name, inner in kind.model_fields.items())
        else:
            yield field.alias, _is_list(field.field_info)
    for inner in dependant.dependencies:
        yield from _fields(inner)


def _is_list(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is list
