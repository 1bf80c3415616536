"""Filters of rows as `--where FIELD=VALUE`, the same as in the lists of the API."""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from scrapersky.core.errors import BadRequest

if TYPE_CHECKING:
    from scrapersky.store.listing.resources import Resource

Where = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD=VALUE", help="Only rows that match, as in the lists of the API. May be repeated."),
]


class BadFilter(BadRequest):
    """The filter is invalid."""


def parse_filters(resource: "Resource", where: list[str] | None, search_id: UUID | None = None) -> dict[str, Any]:
    """Return the filters as typed values. Raises BadFilter for an unknown field or a wrong value."""
    from pydantic import ValidationError

    from scrapersky.api.resources.models import set_filters
    from scrapersky.api.transfer.exports import FILTERS

    given: dict[str, Any] = {}
    for pair in [*(where or ()), *([f"search_id={search_id}"] if search_id else ())]:
        name, separator, value = pair.partition("=")
        if not separator or name not in resource.filters:
            raise BadFilter(f"{pair[:60]!r} is not FIELD=VALUE with one of {', '.join(resource.filters)}.")
        given[name] = [*given.get(name, ()), value] if resource.filters[name].several else value
    try:
        return dict(set_filters(FILTERS[resource.name].model_validate(given), resource))
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadFilter(f"{problem['loc'][0]}: {problem['msg']}.") from None
