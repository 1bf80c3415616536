"""Derive the models of a resource: filters from its declaration, fields of responses from the columns of its table."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast, get_args, get_type_hints

from pydantic import BaseModel, Field, create_model

from scrapersky.api.schemas.fields import Flag, RequestModel
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.core.text_rules import Text
from scrapersky.models.base import Base
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource

FIELD_TYPES: dict[Any, Any] = {str: Text, bool: Flag}  # of filters; any other type is used as declared

Model = TypeVar("Model", bound=BaseModel)


def filter_model(resource: Resource) -> type[RequestModel]:
    """Build the model of the resource's filters, all optional."""
    fields: dict[str, Any] = {
        name: (FIELD_TYPES.get(declared.type, declared.type) | None, Field(None, description=declared.description))
        for name, declared in resource.filters.items()
    }
    about = f"Filters of {resource.name}; without any, all rows of your tenant."
    return create_model(f"{resource.name.capitalize()}Filter", __base__=RequestModel, __doc__=about, **fields)


def query_model(resource: Resource, filters: type[RequestModel]) -> type[ListQuery]:
    """Build the model of the list's query: filters, sort, cursor and limit."""
    keys = [*(key for name in resource.sorts for key in (f"-{name}", name)), "id", "-id"]
    sort: Any = (Literal[tuple(keys)], ListQuery.model_fields["sort"])
    bases: Any = (filters, ListQuery)
    return cast("type[ListQuery]", create_model(f"{resource.name.capitalize()}Query", __base__=bases, sort=sort))


def set_filters(query: RequestModel, resource: Resource) -> Filters:
    """Return the filters that are set, as values that can be stored as JSON."""
    fields = query.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in fields.items() if name in resource.filters}


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
