"""One convention for every list: filters, sort, cursor, limit, a capped count; and for every row its whole story."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, StringConstraints

from scrapersky.api.dependencies import WebApplication
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import RequestModel
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import lineage as provenance
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.lineage import RelatedResource
from scrapersky.store.listing.paginate import Filters, Position, Sort
from scrapersky.store.listing.resources import Resource

PREFIX = "/api/v3"


def _yes_or_no(set_filters: object) -> object:
    """A query says `true` in letters, a body says true."""
    return {"true": True, "false": False}.get(set_filters, set_filters) if isinstance(set_filters, str) else set_filters


def _whole(set_filters: object) -> object:
    """A query says `50` in letters, a body says 50; neither says true."""
    if isinstance(set_filters, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - pydantic asks for a ValueError
    return set_filters


Flag = Annotated[bool, Strict(), BeforeValidator(_yes_or_no)]
Identifier = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_-]{1,60}$")]
RowId = Annotated[UUID, Path(alias="id", description="the row's id")]
KINDS: dict[str, Any] = {"updated_at": cursors.timestamp, "id": UUID}  # of the keys that lists are sorted by, but text
ByUpdate = Literal["-updated_at", "updated_at", "id", "-id"]
ByName = Literal["-updated_at", "updated_at", "-name", "name", "id", "-id"]


class ListQuery(RequestModel):
    """How a list is read: each noun's own query adds its filters."""

    sort: str = Field("-updated_at", description="`-` is the other way round; ties are broken by the id")
    cursor: str | None = Field(
        None, min_length=1, max_length=2000, description="`next_cursor` of the page before; opaque"
    )
    limit: Annotated[int, BeforeValidator(_whole)] = Field(50, ge=1, le=200, description="how many at most")


def set_filters(asked: RequestModel, resource: Resource) -> Filters:
    """The filters that were set, as plain values that can be kept as JSON."""
    set_fields = asked.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in set_fields.items() if name in resource.filters}


class Summary(BaseModel):
    """What every row of a list has."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    created_at: datetime
    updated_at: datetime


class CuratedSummary(Summary):
    """A row about which a person decides."""

    curation_status: Curation
    priority: int = Field(description="0 is normal, higher is sooner")


class QueueState(BaseModel):
    """A row as one queue sees it."""

    status: Status
    error: str | None = Field(description="why it was tried again, skipped or given up")
    attempts: int = Field(description="how often it was ever taken")
    due_at: datetime | None = Field(description="Queued: not before. Processing: when its lease ends")


class Related(BaseModel):
    """Another row of the line."""

    id: UUID
    name: str
    link: str = Field(description="where to read it")


class RelatedRows(BaseModel):
    """The rows of one noun before or after this one."""

    items: list[Related]
    more: bool = Field(description="there are more than are shown; the noun's list has all")


class Detail(BaseModel):
    """How the queues see a row, and the rows before and after it on the line."""

    queues: dict[str, QueueState]
    provenance: dict[str, RelatedRows] = Field(description="by noun, in the order of the line")


RowSummary = TypeVar("RowSummary", bound=Summary)


class Listing(BaseModel, Generic[RowSummary]):
    """A part of a list."""

    items: list[RowSummary]
    next_cursor: str | None = Field(description="give it as `cursor` to go on; empty at the end")
    total: int | None = Field(description="how many match, counted up to 10,000; on the first page only")
    more: bool | None = Field(description="whether more match than were counted; on the first page only")


async def list_page(
    application: WebApplication, actor: Actor, resource: Resource, shown: type[RowSummary], query: ListQuery
) -> Listing[RowSummary]:
    """A page of a noun's list, as its query asks for it."""
    sort = Sort(query.sort.removeprefix("-"), query.sort.startswith("-"))
    filters = set_filters(query, resource)
    here = cursors.list_name(f"{resource.name}/{query.sort}", filters)
    after = _position(query.cursor, here, sort) if query.cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await lists.page(
            session,
            resource,
            actor.tenant_id,
            list(shown.model_fields),
            filters,
            sort=sort,
            after=after,
            limit=query.limit + 1,
        )
        count = None if after else await lists.count(session, resource, actor.tenant_id, filters)
    return Listing(
        items=[shown.model_validate(row) for row, _ in found[: query.limit]],
        next_cursor=_cursor(here, found[query.limit - 1][1]) if len(found) > query.limit else None,
        total=count.total if count else None,
        more=count.more if count else None,
    )


async def row_detail(application: WebApplication, actor: Actor, resource: Resource, row_id: UUID) -> dict[str, Any]:
    """All columns of a row by name, its queues and its kin: what a detail is made of."""
    async with application.database.session(actor.tenant_id) as session:
        row = await lists.get(session, resource, actor.tenant_id, row_id)
        kin = await provenance.around(session, resource.name, row_id)
    return {
        **{name: value for name, value in vars(row).items() if not name.startswith("_")},
        "queues": queue_states(resource, row),
        "provenance": {name: _related(name, found) for name, found in kin.items()},
    }


def queue_states(resource: Resource, row: Any) -> dict[str, QueueState]:
    """How each queue of the noun sees the row."""
    parts = ("status", "error", "attempts", "due_at")
    return {
        queue: QueueState(**{part: getattr(row, f"{queue}_{part}") for part in parts})  # each queue has all four
        for queue in resource.queues
    }


def _related(resource: str, kin: RelatedResource) -> RelatedRows:
    items = [Related(id=row_id, name=name, link=f"{PREFIX}/{resource}/{row_id}") for row_id, name in kin.rows]
    return RelatedRows(items=items, more=kin.more)


def _cursor(here: str, position: Position) -> str:
    key, row_id = position
    return cursors.encode(here, [key.isoformat() if isinstance(key, datetime) else str(key), str(row_id)])


def _position(cursor: str, here: str, sort: Sort) -> Position:
    key, row_id = cursors.decode(cursor, here, KINDS.get(sort.by, storable_text), UUID)
    return key, row_id


def storable_text(part: Any) -> str:
    """A kind: text that PostgreSQL can hold."""
    found = cursors.text(part)
    if "\0" in found:
        raise ValueError("not a text of ours")
    found.encode()  # half characters raise a ValueError
    return found
