"""Which rows a body means: those it names by their ids, or all that match a filter. One shape wherever it is asked."""

from typing import Annotated, Any, TypeVar

from fastapi import Body
from pydantic import Discriminator, Tag

BY_IDS, BY_FILTER = "by ids", "by filter"  # told apart by these, which are no names of fields

ByIds = TypeVar("ByIds")
Matching = TypeVar("Matching")


def _which(asked: Any) -> str:
    return BY_IDS if isinstance(asked, dict) and "ids" in asked and "filter" not in asked else BY_FILTER


# Told apart by what it names, so that what is wrong with a body is told about the one that was meant.
Selection = Annotated[
    Annotated[ByIds, Tag(BY_IDS)] | Annotated[Matching, Tag(BY_FILTER)],
    Discriminator(_which),
    Body(description="`ids`, or a `filter` with or without `preview`"),
]
