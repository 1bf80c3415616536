"""The selection of rows in a request body: by ids, or by filter."""

from typing import Annotated, Any, TypeVar

from fastapi import Body
from pydantic import Discriminator, Tag

BY_IDS, BY_FILTER = "by ids", "by filter"  # tags of the union, no names of fields

ByIds = TypeVar("ByIds")
Matching = TypeVar("Matching")


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
