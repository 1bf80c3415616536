"""Rows of leads as the API returns them: models made from the columns of files, and the query of their filters."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, create_model

from scrapersky.api.resources.models import FilterField, filter_fields
from scrapersky.api.schemas.fields import MAX_PAGE, Count, RequestModel, ResponseModel, ResultPage
from scrapersky.core.vocabularies import HiddenReason, Verdict
from scrapersky.destinations.files.cells import DAYS
from scrapersky.destinations.files.lead_file import NUMBERS
from scrapersky.extract.results import EmailKind
from scrapersky.store.leads.business_row import MAX_OTHER_PEOPLE
from scrapersky.store.leads.columns import (
    BUSINESS_COLUMNS,
    BUSINESS_IDS,
    CONTACT_COLUMNS,
    CONTACT_IDS,
    EXAMPLES,
)
from scrapersky.store.leads.filters import LEAD_FILTERS, FilterKind, Filters
from scrapersky.store.leads.read import Per
from scrapersky.store.listing.resources import CountryCode, LanguageCode, Rating

# The types of filters; commands check their options with them, too.
_KINDS: Mapping[FilterKind, Any] = {
    "flag": bool,
    "text": str,
    "moment": datetime,
    "verdict": Verdict,
    "email_kind": EmailKind,
    "country": CountryCode,
    "language": LanguageCode,
    "rating": Rating,
}
_FIELDS = {
    name: FilterField(_KINDS[each.kind], each.help, each.several, each.example) for name, each in LEAD_FILTERS.items()
}
LeadFilterQuery = create_model("LeadFilterQuery", __base__=RequestModel, **filter_fields(_FIELDS, in_query=True))


def set_lead_filters(query: RequestModel) -> Filters:
    """Return the filters that are set, as values that can be stored as JSON."""
    fields = query.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in fields.items() if name in LEAD_FILTERS}


def _list_of(separator: str) -> Any:
    """Return the type of a column of a file that holds several values."""

    def split(value: object) -> object:
        return value.split(separator) if isinstance(value, str) and value else value or []

    return Annotated[list[str], BeforeValidator(split)]


class OtherPerson(ResponseModel):
    """A further person of a business."""

    name: str = Field(description="the name", examples=["Mikko Laine"])
    title: str | None = Field(description="the job title", examples=["Dental hygienist"])
    email: str | None = Field(description="the email address", examples=["mikko.laine@kallio-dental.example"])


class LeadSource(ResponseModel):
    """A record of a business at a provider."""

    provider: str = Field(description="the provider", examples=["osm"])
    id: str = Field(description="the id of the record there", examples=["node/2398"])


def _split_sources(value: object) -> object:
    if not isinstance(value, str):
        return value or []
    return [dict(zip(("provider", "id"), each.split(":", 1), strict=True)) for each in value.split("; ")]


LISTS = {
    "other_emails": " ",
    "other_phones": "; ",
    "socials": " ",
    "queries": " | ",
    "categories": ", ",
    "technologies": ", ",
    "verdict_reasons": "; ",
    "shared_with": "; ",
}  # columns of several values, and what separates them
_BETWEEN = re.compile("[,;] (?:“; ” between them|separated by spaces)")  # in descriptions of columns of files
# Columns of which a file has the text; the row has what it was made of under another name.
_MADE_OF = {"other_people": "people"}
# The types of columns that are no optional text.
_TYPES: dict[str, Any] = {
    **{column: _list_of(separator) for column, separator in LISTS.items()},
    **{column: (Count if kind is int else kind) | None for column, kind in NUMBERS.items()},
    "other_people": Annotated[list[OtherPerson], Field(max_length=MAX_OTHER_PEOPLE)],
    "sources": Annotated[list[LeadSource], BeforeValidator(_split_sources)],
    **dict.fromkeys(DAYS, date | None),
    "hidden": HiddenReason | None,
}


def _row_model(name: str, per: str, about: str, ids: Mapping[str, str], columns: Mapping[str, str]) -> Any:
    """Build the model of a row: the ids, then the columns of a file."""
    fields: dict[str, Any] = {"per": (Literal[per], Field(per, description="what one row is"))}
    fields |= {column: (UUID | None, Field(description=meaning)) for column, meaning in ids.items()}
    fields |= {
        column: (_TYPES.get(column, str | None), _described(column, meaning)) for column, meaning in columns.items()
    }
    return create_model(name, __base__=ResponseModel, __doc__=about, **fields)


def _described(column: str, meaning: str) -> Any:
    example = None if column in ("other_people", "sources") else EXAMPLES.get(column)
    if isinstance(example, str) and column in LISTS:
        example = example.split(LISTS[column])
    description = _BETWEEN.sub("", meaning)
    return Field(
        validation_alias=_MADE_OF.get(column), description=description, examples=[example] if example else None
    )


BusinessLead = _row_model(
    "BusinessLead", "business", "A business with its best contacts.", BUSINESS_IDS, BUSINESS_COLUMNS
)
ContactLead = _row_model("ContactLead", "contact", "A contact of a search.", CONTACT_IDS, CONTACT_COLUMNS)
ROW_MODELS: dict[Per, Any] = {"business": BusinessLead, "contact": ContactLead}


class LeadPage(ResultPage[Any]):
    """One page of leads."""

    items: list[Annotated[BusinessLead | ContactLead, Field(discriminator="per")]] = Field(  # type: ignore[valid-type]
        max_length=MAX_PAGE, description="the leads of this page"
    )
