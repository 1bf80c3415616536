"""Types of request fields and parameters: bounded, validated, the same in every route."""

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
    SecretStr,
    Strict,
    StringConstraints,
    WithJsonSchema,
)

from scrapersky.core.secrets import passwords
from scrapersky.core.text_rules import CONTROLS, check_text

PREFIX = "/api/v3"
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
MAX_IDS = 10_000
MAX_VALUES = 20  # of one filter
MAX_TOKEN_LENGTH = 200
MAX_PAGE = 200  # rows of one page
MAX_INTEGER = 2**53 - 1  # the largest that every JSON parser reads exactly


class RequestModel(BaseModel):
    """A request body or query: immutable, fields that are not declared are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """A part of a response that can be made from the attributes of an object."""

    model_config = ConfigDict(from_attributes=True)


def _number(value: object) -> object:
    if value is not None and type(value) not in (int, float):
        raise ValueError("must be a number, not text and not true or false")
    return value


def _boolean(value: object) -> object:
    """Accept `true` and `false` as text, as in a query, and as JSON booleans."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _iso_format(value: object) -> object:
    if not (isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:", value)):
        raise ValueError("must be a timestamp like 2026-11-15T12:00:00Z")
    return value


def _within_range(moment: datetime) -> datetime:
    """Limit the timestamp to a range that contains all data; the driver fails at the ends of Python's calendar."""
    return min(max(moment, EARLIEST), LATEST)


def _check_secret(secret: SecretStr) -> SecretStr:
    check_text(secret.get_secret_value())
    return secret


def _secret_schema(min_length: int, max_length: int) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "string",
            "format": "password",
            "minLength": min_length,
            "maxLength": max_length,
            "pattern": f"^[^{CONTROLS}]*$",
            "writeOnly": True,
        }
    )


# Of responses: described, not checked, so that no stored value fails a response.
Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_INTEGER, "examples": [1]})]
HttpStatus = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 100, "maximum": 599, "examples": [200]})]
Flag = Annotated[bool, Strict(), BeforeValidator(_boolean)]
Number = BeforeValidator(_number)  # in JSON 3.0 is a whole number, "3" is not
Priority = Annotated[int, Field(ge=0, le=100), Number]
Timestamp = Annotated[AwareDatetime, BeforeValidator(_iso_format), AfterValidator(_within_range)]
Ids = Annotated[list[UUID], Field(min_length=1, max_length=MAX_IDS, description="ids of rows")]
RowId = Annotated[UUID, Path(alias="id", description="the id of the row")]
WorkflowName = Annotated[
    str, Path(pattern="^[a-z][a-z0-9_]{0,62}$", description="the name of the workflow", examples=["deep_scan"])
]
WorkflowFilter = Annotated[
    str | None, Query(pattern="^[a-z][a-z0-9_]{0,62}$", description="only of this workflow", examples=["deep_scan"])
]
WorkflowFilters = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,62}$")]] | None,
    Query(
        max_length=MAX_VALUES, description="only of this workflow; several values match any", examples=[["deep_scan"]]
    ),
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="the maximum of items")]
Cursor = Annotated[
    str | None,
    Query(
        alias="cursor",
        min_length=1,
        max_length=500,
        description="`next_cursor` of the previous page; opaque",
        examples=["Yq0cE3vR7b5sSYspob7oDQ"],
    ),
]
# The length is limited before a password is hashed: the cost of hashing grows with it.
Password = Annotated[
    SecretStr,
    Field(min_length=1, max_length=passwords.MAX_LENGTH),
    AfterValidator(_check_secret),
    _secret_schema(1, passwords.MAX_LENGTH),
]
NewPassword = Annotated[
    SecretStr,
    Field(min_length=passwords.MIN_LENGTH, max_length=passwords.MAX_LENGTH),
    AfterValidator(_check_secret),
    _secret_schema(passwords.MIN_LENGTH, passwords.MAX_LENGTH),
]
Token = Annotated[
    SecretStr,
    Field(min_length=1, max_length=MAX_TOKEN_LENGTH),
    AfterValidator(_check_secret),
    _secret_schema(1, MAX_TOKEN_LENGTH),
]

Item = TypeVar("Item")


class RowProblem(ResponseModel):
    """A row or value that was not stored."""

    line: Count = Field(description="the line where the row begins, or the position of the value, from 1", examples=[2])
    message: str = Field(description="what is wrong", examples=["'molar' has no domain that can be registered"])


class ResultPage(BaseModel, Generic[Item]):
    """One page of a list."""

    model_config = ConfigDict(json_schema_extra={"description": "One page of a list."})  # of each list by its items

    items: list[Item] = Field(max_length=MAX_PAGE, description="the rows of this page")
    next_cursor: str | None = Field(
        description="the `cursor` of the next page; empty on the last page", examples=["Yq0cE3vR7b5sSYspob7oDQ"]
    )
