"""Derive the models of a resource: filters from its declaration, fields of responses from the columns of its table."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_type_hints

from pydantic import BaseModel, Field, create_model

from scrapersky.api.schemas.fields import MAX_VALUES, Count, Flag, RequestModel, Timestamp
from scrapersky.api.schemas.listing import ListQuery
from scrapersky.core.text_rules import Text
from scrapersky.models.base import Base
from scrapersky.store.listing.columns import COMMON, ColumnMeaning, meaning_of
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.references import REFERENCES
from scrapersky.store.listing.resources import Filter, Resource

FIELD_TYPES: dict[Any, Any] = {str: Text, bool: Flag, datetime: Timestamp}  # of filters; others are used as declared
SHOWN_TYPES: dict[Any, Any] = {int: Count, int | None: Count | None}  # of responses

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class FilterField:
    """What a request says about a filter that is not a filter of a resource."""

    type: Any
    description: str
    several: bool = False
    example: str = ""


def filter_model(resource: Resource) -> type[RequestModel]:
    """Build the model of the resource's filters in a body, all optional; some take one value or several."""
    fields = filter_fields(resource.filters, in_query=False)
    about = f"Filters of {resource.name}; without any, all rows of your tenant."
    return create_model(f"{resource.name.capitalize()}Filter", __base__=RequestModel, __doc__=about, **fields)


def filter_query(resource: Resource) -> type[RequestModel]:
    """Build the model of the resource's filters in a query, in which a field of several values is repeated."""
    fields = filter_fields(resource.filters, in_query=True)
    return create_model(f"{resource.name.capitalize()}FilterQuery", __base__=RequestModel, **fields)


def filter_fields(filters: Mapping[str, FilterField | Filter], *, in_query: bool) -> dict[str, Any]:
    """Return the fields of a model of these filters, all optional."""
    fields = {}
    for name, declared in filters.items():
        kind = FIELD_TYPES.get(declared.type, declared.type)
        values = Annotated[list[kind], Field(min_length=1, max_length=MAX_VALUES)]  # type: ignore[valid-type]
        shown = kind if not declared.several else values if in_query else kind | values
        example = [declared.example] if declared.several and in_query else declared.example
        examples = [example] if declared.example else None
        fields[name] = (shown | None, Field(None, description=declared.description, examples=examples))
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
    descriptions: Mapping[str, ColumnMeaning] | None = None,
    *,
    mixin: type[BaseModel] | None = None,
) -> type[Model]:
    """Build a model: `base`, the fields of `mixin`, and fields with the names and types of `columns` of the table."""
    types = {column: get_args(hint) for column, hint in get_type_hints(table).items()}
    fields: dict[str, Any] = {
        column: (
            SHOWN_TYPES.get(types[column][0], types[column][0]),
            described((descriptions or {}).get(column) or meaning_of(table.__tablename__, column)),
        )
        for column in columns.split()
    }
    bases: Any = (base, mixin) if mixin else base
    return cast("type[Model]", create_model(name, __base__=bases, __doc__=about, **fields))


def described(meaning: ColumnMeaning | None) -> Any:
    """Return a field with the description and the example of a column; bare if it means nothing that is declared."""
    return Field(description=meaning.text, examples=[meaning.example]) if meaning else Field()


def with_references(model: type[Model], resource: Resource) -> type[Model]:
    """Add a field for the name of each row that the rows of the resource refer to."""
    meanings = {name: COMMON[name] for name in REFERENCES.get(resource.name, ())}
    fields: dict[str, Any] = {
        name: (str | None, Field(None, description=meaning.text, examples=[meaning.example]))
        for name, meaning in meanings.items()
    }
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields) if fields else model
