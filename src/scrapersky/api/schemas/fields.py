"""The kinds of values that requests may hold: bounded, clean, the same everywhere."""

import re
from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Path, Query
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f"
FORBIDDEN_CHARACTERS = re.compile(
    r"[\u0000-\u001f\u007f-\u009f\ud800-\udfff]"
)  # what PostgreSQL, logs and terminals cannot bear
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
MAX_IDS = 10_000
TEXT_LENGTH = 500


class RequestModel(BaseModel):
    """A request body: exact types, no field that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def check_text(text: str) -> str:
    """Text that can be kept, logged and shown, or ValueError."""
    if FORBIDDEN_CHARACTERS.search(text):
        raise ValueError("must hold no control characters and no half characters")
    return text


def max_length(length: int) -> BeforeValidator:
    """Text as it was sent: blanks around it count, as the description says."""

    def check(given: object) -> object:
        if isinstance(given, str) and len(given) > length:
            raise ValueError(f"must have at most {length} characters")
        return given

    return BeforeValidator(check)


def _as_number(given: object) -> object:
    if given is not None and type(given) not in (int, float):
        raise ValueError("must be a number, not text and not true or false")
    return given


def _as_written(moment: object) -> object:
    if not (isinstance(moment, str) and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:", moment)):
        raise ValueError("must be a moment like 2026-11-15T12:00:00Z")
    return moment


def _in_our_time(moment: datetime) -> datetime:
    """Nothing here is older or younger than this, and PostgreSQL's driver fails at the ends of Python's calendar."""
    return min(max(moment, EARLIEST), LATEST)


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_LENGTH),
    max_length(TEXT_LENGTH),
    AfterValidator(check_text),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": TEXT_LENGTH,
            "pattern": f"^[^{CONTROLS}]*[^\\s{CONTROLS}][^{CONTROLS}]*$",
        }
    ),
]
# 3.0 is a whole number in JSON, "3" is not.
Priority = Annotated[int, Field(ge=0, le=100), BeforeValidator(_as_number)]
Timestamp = Annotated[AwareDatetime, BeforeValidator(_as_written), AfterValidator(_in_our_time)]
Ids = Annotated[list[UUID], Field(min_length=1, max_length=MAX_IDS, description="ids of rows")]
WorkflowName = Annotated[str, Path(pattern="^[a-z][a-z0-9_]{0,62}$", description="the workflow's name: deep_scan")]
WorkflowFilter = Annotated[str | None, Query(pattern="^[a-z][a-z0-9_]{0,62}$", description="only of this workflow")]
Limit = Annotated[int, Query(ge=1, le=200, description="how many at most")]
Cursor = Annotated[
    str | None,
    Query(alias="cursor", min_length=1, max_length=500, description="`next_cursor` of the page before; opaque"),
]

Item = TypeVar("Item")


class ResultPage(BaseModel, Generic[Item]):
    """A part of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="give it as `cursor` to go on; empty at the end")
