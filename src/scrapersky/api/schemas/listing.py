"""Models that all lists share: query, summary, detail and the page of a list."""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from scrapersky.api.schemas.fields import PREFIX, Count, Flag, RequestModel, ResponseModel, ResultPage
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.columns import ROW_ID


def _not_boolean(value: object) -> object:
    """Refuse true and false, which pydantic would read as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - pydantic expects a ValueError
    return value


class ListQuery(RequestModel):
    """The query fields of every list; the query of a resource adds its filters and its sort keys."""

    sort: str = Field("-updated_at", description="`-` sorts in descending order; ties are broken by the id")
    cursor: str | None = Field(
        None,
        min_length=1,
        max_length=2000,
        description="`next_cursor` of the previous page; opaque",
        examples=["Yq0cE3vR7b5sSYspob7oDQ"],
    )
    before: str | None = Field(
        None,
        min_length=1,
        max_length=2000,
        description="`previous_cursor` of a page: the page before it; opaque",
        examples=["Yq0cE3vR7b5sSYspob7oDQ"],
    )
    limit: Annotated[int, BeforeValidator(_not_boolean)] = Field(50, ge=1, le=200, description="the maximum of items")
    count: Flag = Field(True, description="whether the first page has `total`; counting takes time", examples=[False])


class Summary(ResponseModel):
    """The fields of every row of a list."""

    id: UUID = Field(description="the id of the row, a UUID; ids grow with the time of creation")
    created_at: datetime = Field(description="when the row was stored")
    updated_at: datetime = Field(description="the last change of the row, by a person or by a step")


class CuratedSummary(Summary):
    """The fields of every row that is curated."""

    curation_status: Curation = Field(description="what a person has decided about the row")
    priority: Count = Field(description="0 is normal, higher is sooner", examples=[0])


class QueueState(BaseModel):
    """The state of a row in one queue."""

    status: Status = Field(description="the status of the row in this queue")
    error: str | None = Field(
        description="why the row was retried, skipped or given up", examples=["HTTP 503; retried in 2 minutes"]
    )
    attempts: Count = Field(description="how often the row was ever claimed", examples=[2])
    due_at: datetime | None = Field(description="Queued: not claimed before. Processing: when the lease ends")
    revert_to: Status | None = Field(description="Processing, but withdrawn: the status it gets instead of a retry")


QueueStates = dict[Annotated[str, Field(examples=["deep_scan"])], QueueState]  # by the name of the queue


class Related(BaseModel):
    """A related row."""

    id: UUID = Field(description="the id of the related row")
    name: str = Field(
        description="what people recognize it by: its name, its URL or its address", examples=["Kallio Dental"]
    )
    link: str = Field(description="the path of the row", examples=[f"{PREFIX}/businesses/{ROW_ID}"])


class RelatedRows(BaseModel):
    """The related rows of one resource."""

    items: list[Related] = Field(max_length=20, description="at most twenty rows")
    more: bool = Field(description="there are more rows than shown; the resource's list has all", examples=[False])


class Detail(BaseModel):
    """The state of a row in its queues, and the rows before and after it in the pipeline."""

    queues: QueueStates = Field(description="its state in each of its queues, by the name of the queue")
    provenance: dict[Annotated[str, Field(examples=["businesses"])], RelatedRows] = Field(
        description="by resource, in the order of the pipeline"
    )


RowSummary = TypeVar("RowSummary", bound=Summary)


class Listing(ResultPage[RowSummary], Generic[RowSummary]):
    """One page of a list."""

    previous_cursor: str | None = Field(
        description="the `before` of the previous page; empty on the first page", examples=["Yq0cE3vR7b5sSYspob7oDQ"]
    )
    total: Count | None = Field(
        description="the number of matching rows, counted up to 10,000; on the first page only", examples=[58]
    )
    more: bool | None = Field(
        description="whether more rows match than were counted; on the first page only", examples=[False]
    )


def listing_of(summary: type[Summary]) -> Any:
    """Return `Listing[summary]` for a model that is made at run time."""
    return Listing[summary]  # type: ignore[valid-type]
