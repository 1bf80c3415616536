"""The kinds of values that requests may hold: bounded, clean, the same everywhere."""

import re
from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

CONTROLS = "\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff"  # what PostgreSQL, logs and terminals cannot bear
UNBEARABLE = re.compile(f"[{CONTROLS}]")
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
MOST_IDS = 10_000


class Asked(BaseModel):
    """A request body: exact types, no field that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _bearable(text: str) -> str:
    if UNBEARABLE.search(text):
        raise ValueError("must hold no control characters and no half characters")
    return text


def _in_our_time(moment: datetime) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise ValueError("must lie between the years 2000 and 2200")
    return moment


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_bearable),
    Field(json_schema_extra={"pattern": f"^[^{CONTROLS}]*[^\\s{CONTROLS}][^{CONTROLS}]*$"}),
]
Moment = Annotated[AwareDatetime, AfterValidator(_in_our_time)]
Ids = Annotated[list[UUID], Field(min_length=1, max_length=MOST_IDS, description="ids of rows")]
WorkflowName = Annotated[str, Path(pattern="^[a-z][a-z0-9_]{0,62}$", description="the workflow's name: deep_scan")]
WorkflowFilter = Annotated[str | None, Query(pattern="^[a-z][a-z0-9_]{0,62}$", description="only of this workflow")]
Limit = Annotated[int, Query(ge=1, le=200, description="how many at most")]
CursorGiven = Annotated[
    str | None, Query(alias="cursor", max_length=500, description="`next_cursor` of the page before; opaque")
]

Line = TypeVar("Line")


class Page(BaseModel, Generic[Line]):
    """A part of a list."""

    items: list[Line]
    next_cursor: str | None = Field(description="give it as `cursor` to go on; empty at the end")
