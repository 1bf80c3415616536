"""Models that all lists share: query, summary, detail and the page of a list."""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from scrapersky.api.schemas.fields import RequestModel, ResponseModel, ResultPage
from scrapersky.core.vocabularies import Curation, Status


def _not_boolean(value: object) -> object:
    """Refuse true and false, which pydantic would read as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - pydantic expects a ValueError
    return value


class ListQuery(RequestModel):
    """The query fields of every list; the query of a resource adds its filters and its sort keys."""

    sort: str = Field("-updated_at", description="`-` sorts in descending order; ties are broken by the id")
    cursor: str | None = Field(
        None, min_length=1, max_length=2000, description="`next_cursor` of the previous page; opaque"
    )
    limit: Annotated[int, BeforeValidator(_not_boolean)] = Field(50, ge=1, le=200, description="the maximum of items")


class Summary(ResponseModel):
    """The fields of every row of a list."""

    id: UUID
    created_at: datetime
    updated_at: datetime


class CuratedSummary(Summary):
    """The fields of every row that is curated."""

    curation_status: Curation
    priority: int = Field(description="0 is normal, higher is sooner")


class QueueState(BaseModel):
    """The state of a row in one queue."""

    status: Status
    error: str | None = Field(description="why the row was retried, skipped or given up")
    attempts: int = Field(description="how often the row was ever claimed")
    due_at: datetime | None = Field(description="Queued: not claimed before. Processing: when the lease ends")
    revert_to: Status | None = Field(description="Processing, but withdrawn: the status it gets instead of a retry")


class Related(BaseModel):
    """A related row."""

    id: UUID
    name: str
    link: str = Field(description="the path of the row")


class RelatedRows(BaseModel):
    """The related rows of one resource."""

    items: list[Related]
    more: bool = Field(description="there are more rows than shown; the resource's list has all")


class Detail(BaseModel):
    """The state of a row in its queues, and the rows before and after it in the pipeline."""

    queues: dict[str, QueueState]
    provenance: dict[str, RelatedRows] = Field(description="by resource, in the order of the pipeline")


RowSummary = TypeVar("RowSummary", bound=Summary)


class Listing(ResultPage[RowSummary], Generic[RowSummary]):
    """One page of a list."""

    total: int | None = Field(description="the number of matching rows, counted up to 10,000; on the first page only")
    more: bool | None = Field(description="whether more rows match than were counted; on the first page only")


def listing_of(summary: type[Summary]) -> Any:
    """Return `Listing[summary]` for a model that is made at run time."""
    return Listing[summary]  # type: ignore[valid-type]
