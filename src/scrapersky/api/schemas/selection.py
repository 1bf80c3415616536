"""The selection of rows in a request body: by ids, or by filter."""

from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Body
from pydantic import Discriminator, Field, Tag

from scrapersky.api.schemas.fields import Number, RequestModel, Timestamp
from scrapersky.store.listing.shown import Shown

BY_IDS, BY_FILTER = "by ids", "by filter"  # tags of the union, no names of fields

ByIds = TypeVar("ByIds")
Matching = TypeVar("Matching")


MAX_EXCEPTIONS = 1_000


class MatchingRows(RequestModel):
    """All rows that match a filter, as they were shown: no other rows are changed, and not more of them."""

    expected: Annotated[int, Field(ge=0, le=1_000_000_000), Number] | None = Field(
        None,
        description="the number of rows that were shown, without those of `except`. 409 if the number of matching rows "
        "differs by more than 10 rows and 2 %; never more rows than this are changed",
        examples=[8431],
    )
    as_of: Timestamp | None = Field(
        None,
        description="when the rows were shown: rows that were created later are not changed",
        examples=["2026-11-15T14:03:20Z"],
    )
    exceptions: list[UUID] = Field(
        [],
        alias="except",
        max_length=MAX_EXCEPTIONS,
        description="rows that are not changed although they match",
    )
    preview: bool = Field(False, strict=True, description="only count the rows", examples=[True])

    @property
    def shown(self) -> Shown:
        """The rows as they were shown."""
        return Shown(self.as_of, self.expected, tuple(self.exceptions))


def _tag(body: Any) -> str:
    return BY_IDS if isinstance(body, dict) and "ids" in body and "filter" not in body else BY_FILTER


# Discriminate on the key, so that validation errors refer to the variant the client sent.
Selection = Annotated[
    Annotated[ByIds, Tag(BY_IDS)] | Annotated[Matching, Tag(BY_FILTER)],
    Discriminator(_tag),
    Body(description="`ids`, or a `filter` with or without `preview`"),
]


def selection(by_ids: Any, matching: Any) -> Any:
    """Return `Selection[by_ids, matching]` for types that are made at run time."""
    return Selection[by_ids, matching]  # type: ignore[misc]
