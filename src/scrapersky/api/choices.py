"""Which rows a body means: those it names by their ids, or all that match a filter. One shape wherever it is asked."""

from typing import Annotated, Any, TypeVar

from fastapi import Body
from pydantic import Discriminator, Tag

ByIds = TypeVar("ByIds")
Matching = TypeVar("Matching")


def _which(asked: Any) -> str:
    return "ids" if isinstance(asked, dict) and "ids" in asked and "filter" not in asked else "filter"


# Told apart by what it names, so that what is wrong with a body is told about the one that was meant.
Either = Annotated[
    Annotated[ByIds, Tag("ids")] | Annotated[Matching, Tag("filter")],
    Discriminator(_which),
    Body(description="`ids`, or a `filter` with or without `preview`"),
]
