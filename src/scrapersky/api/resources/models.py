"""Derive the models of a resource: filters from its declaration, fields of responses from the columns of its table."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_type_hints

from pydantic import BaseModel, Field, create_model

from scrapersky.api.schemas.fields import Flag, RequestModel, Timestamp
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.core.text_rules import Text
from scrapersky.models.base import Base
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource

FIELD_TYPES: dict[Any, Any] = {str: Text, bool: Flag, datetime: Timestamp}  # of filters; others are used as declared
MAX_VALUES = 20  # of one filter

Model = TypeVar("Model", bound=BaseModel)


def filter_model(resource: Resource) -> type[RequestModel]:
    """Build the model of the resource's filters in a body, all optional; some take one value or several."""
    fields = _filter_fields(resource, lambda value, several: value | several)
    about = f"Filters of {resource.name}; without any, all rows of your tenant."
    return create_model(f"{resource.name.capitalize()}Filter", __base__=RequestModel, __doc__=about, **fields)


def filter_query(resource: Resource) -> type[RequestModel]:
    """Build the model of the resource's filters in a query, in which a field of several values is repeated."""
    fields = _filter_fields(resource, lambda _, several: several)
    return create_model(f"{resource.name.capitalize()}FilterQuery", __base__=RequestModel, **fields)


def _filter_fields(resource: Resource, several: Callable[[Any, Any], Any]) -> dict[str, Any]:
    fields = {}
    for name, declared in resource.filters.items():
        kind = FIELD_TYPES.get(declared.type, declared.type)
        values = Annotated[list[kind], Field(min_length=1, max_length=MAX_VALUES)]  # type: ignore[valid-type]
        shown = several(kind, values) if declared.several else kind
        fields[name] = (shown | None, Field(None, description=declared.description))
    return fields


def query_model(resource: Resource) -> type[ListQuery]:
    """Build the model of the list's query: filters, sort, cursor and limit."""
    keys = [*(key for name in resource.sorts for key in (f"-{name}", name)), "id", "-id"]
    sort: Any = (Literal[tuple(keys)], ListQuery.model_fields["sort"])
    bases: Any = (filter_query(resource), ListQuery)
    return cast("type[ListQuery]", create_model(f"{resource.name.capitalize()}Query", __base__=bases, sort=sort))


def set_filters(query: RequestModel, resource: Resource) -> Filters:
    """Return the filters that are set, as values that can be stored as JSON; several values in one order."""
    fields = query.model_dump(mode="json", exclude_none=True)
    return {name: _plain(value) for name, value in fields.items() if name in resource.filters}


def _plain(value: Any) -> Any:
    values = sorted(set(value)) if isinstance(value, list) else [value]
    return values if len(values) > 1 else values[0]


def with_columns(
    name: str,
    base: type[Model],
    table: type[Base],
    about: str,
    columns: str,
    descriptions: Mapping[str, str] | None = None,
    *,
    mixin: type[BaseModel] | None = None,
) -> type[Model]:
    """Build a model: `base`, the fields of `mixin`, and fields with the names and types of `columns` of the table."""
    types = {column: get_args(hint) for column, hint in get_type_hints(table).items()}
    fields: dict[str, Any] = {
        column: (types[column][0], Field(description=(descriptions or {}).get(column))) for column in columns.split()
    }
    bases: Any = (base, mixin) if mixin else base
    return cast("type[Model]", create_model(name, __base__=bases, __doc__=about, **fields))
