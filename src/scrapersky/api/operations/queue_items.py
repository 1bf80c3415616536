"""The rows of a workflow's queue: list, queue and retry them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import (
    MAX_IDS,
    Count,
    Cursor,
    Ids,
    Limit,
    Priority,
    RequestModel,
    ResponseModel,
    ResultPage,
    WorkflowName,
)
from scrapersky.core.errors import Conflict, NotAuthorized
from scrapersky.core.vocabularies import Status
from scrapersky.store.listing.labels import RowLabel, labels
from scrapersky.store.operations import queue_rows
from scrapersky.store.operations.queue_rows import OPEN_SECTIONS, TIMED, Key, QueuePosition, QueueRow

router = APIRouter(prefix="/workflows/{name}", tags=["workflows"], responses=problems(404), route_class=ListRoute)

SectionName = Literal["processing", "ready", "waiting", "error", "skipped", "completed", "new"]
NO_SECTION = ("none",)  # a status and a section that exclude each other match nothing


class QueueItem(ResponseModel):
    """A row in a queue."""

    id: UUID = Field(description="the id of the row: of a place, a page, …")
    resource: str | None = Field(description="the resource of the row", examples=["places"])
    name: str | None = Field(description="the name of the row, or its address", examples=["Kallio Dental"])
    status: Status = Field(description="the status of the row in this queue")
    error: str | None = Field(
        description="why the row was retried, skipped or given up", examples=["HTTP 503; retried in 2 minutes"]
    )
    attempts: Count = Field(description="how often the row was ever claimed", examples=[2])
    tries: Count = Field(
        description="the attempts since the row was last queued, which count against the limit", examples=[1]
    )
    due_at: datetime | None = Field(description="Queued: not claimed before. Processing: when the lease ends")
    priority: Count = Field(description="0 is normal, higher is sooner", examples=[0])
    updated_at: datetime = Field(description="the last change of the row")
    tenant: str | None = Field(
        description="with `all_tenants`, the tenant of the row; rows of other tenants have no name", examples=["acme"]
    )


class AllTenantsRefused(NotAuthorized):
    """Only people of the operator tenant see the queues of all tenants."""


class QueueRequest(RequestModel):
    """The rows to queue."""

    ids: Ids = Field(description="the rows to queue")
    priority: Priority | None = Field(None, description="each level is worth ten minutes of waiting", examples=[3])


class QueueResult(ResponseModel):
    """The result for the ids."""

    queued: Count = Field(description="rows that were queued", examples=[1])
    already: Count = Field(description="rows that were queued or processing already", examples=[0])
    unknown: Count = Field(description="ids that are no rows of your tenant", examples=[0])


class RetryRequest(RequestModel):
    """The rows to retry."""

    ids: Ids = Field(description="the rows to retry")


class RefusedRow(BaseModel):
    """An id that was not changed, and why."""

    id: UUID = Field(description="the id as it was sent")
    state: str = Field(description="the state that prevents the change, or `unknown`", examples=["Completed"])


class RetryResult(BaseModel):
    """The result for the ids."""

    retried: Count = Field(description="rows that are queued again", examples=[1])
    refused: list[RefusedRow] = Field(max_length=MAX_IDS, description="the ids that were not changed, and why")


class ReleaseRequest(RequestModel):
    """The rows to release."""

    ids: Ids = Field(description="the rows to release")


class ReleaseResult(BaseModel):
    """The result for the ids."""

    released: Count = Field(description="rows that are queued again", examples=[1])
    refused: list[RefusedRow] = Field(max_length=MAX_IDS, description="the ids that were not changed, and why")


class NothingToRelease(Conflict):
    """None of these rows is in flight."""

    def __init__(self, refused: list[RefusedRow]) -> None:
        super().__init__("Only rows with the status Processing can be released.")
        self.members = {"refused": [one.model_dump(mode="json") for one in refused]}


class NothingToRetry(Conflict):
    """None of these rows can be retried."""

    def __init__(self, refused: list[RefusedRow]) -> None:
        states = sorted({one.state for one in refused})
        super().__init__(f"Only rows with the status Error or Skipped can be retried; these are {', '.join(states)}.")
        self.members = {"refused": [one.model_dump(mode="json") for one in refused]}


@router.get("/items", summary="The rows of the queue", **requires(VIEWER, 400))
async def list_items(
    name: WorkflowName,
    application: CurrentApplication,
    actor: CurrentActor,
    status: Annotated[
        list[Status] | None, Query(min_length=1, max_length=len(Status), description="only rows with one of these")
    ] = None,
    section: Annotated[
        SectionName | None, Query(description="only this section: `ready` and `waiting` are both Queued")
    ] = None,
    search_id: Annotated[UUID | None, Query(description="only rows of this search")] = None,
    all_tenants: Annotated[
        bool,
        Query(description="the rows of all tenants that are processing, ready, waiting or failed", examples=[False]),
    ] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[QueueItem]:
    """List the rows of your tenant: processing, ready in their order, waiting, then idle ones.

    The queue changes while you read: a row may occur twice or be missed between two pages. `all_tenants` is for
    people of the operator tenant.
    """
    workflow = application.pipeline[name]
    if all_tenants and not actor.is_operator:
        raise AllTenantsRefused("Leave out all_tenants, or ask a person of the operator tenant.")
    sections = [one for one in queue_rows.sections_of(status or ()) if section in (None, one)]
    sections = [one for one in sections if not all_tenants or one in OPEN_SECTIONS]
    scope = {"search_id": search_id, "all_tenants": all_tenants or None}
    list_name = cursors.list_name(f"items/{name}/{'+'.join(sections)}", scope)
    after = _position(application, cursor, list_name, sections) if cursor else None
    session_of = application.database.engine_session() if all_tenants else application.database.session(actor.tenant_id)
    async with session_of as session:
        found = await queue_rows.items(
            session,
            workflow,
            None if all_tenants else actor.tenant_id,
            sections=sections or NO_SECTION,
            search_id=search_id,
            after=after,
            limit=limit + 1,
        )
        own = [row.id for row in found[:limit] if row.tenant_id == actor.tenant_id]
        named = await labels(session, workflow.model.__tablename__, own)
    return application.cursors.page_of(
        found, limit, list_name, lambda item: _parts(item.position), lambda item: _shown(item, named.get(item.id))
    )


@router.post("/queue", summary="Queue rows", **requires(OPERATOR, 400))
async def queue_items(
    name: WorkflowName, body: QueueRequest, application: CurrentApplication, actor: CurrentActor
) -> QueueResult:
    """Queue idle rows of any status; their earlier attempts do not count. Repeating the request changes nothing."""
    workflow = application.pipeline[name]
    async with application.database.session(actor.tenant_id) as session:
        queued = await queue_rows.queue_rows(session, workflow, actor, body.ids, body.priority)
    return QueueResult.model_validate(queued)


@router.post("/retry", summary="Retry rows", **requires(OPERATOR, 400, 409))
async def retry_items(
    name: WorkflowName, body: RetryRequest, application: CurrentApplication, actor: CurrentActor
) -> RetryResult:
    """Retry rows with the status Error or Skipped; others are returned with their state. 409 if none can be retried."""
    workflow = application.pipeline[name]
    async with application.database.session(actor.tenant_id) as session:
        found = await queue_rows.retry_rows(session, workflow, actor, body.ids)
    refused = [RefusedRow(id=row_id, state=state) for row_id, state in found.refused.items()]
    if not found.retried:
        raise NothingToRetry(refused)
    return RetryResult(retried=len(found.retried), refused=refused)


@router.post("/release", summary="Release rows in flight", **requires(OPERATOR, 400, 409))
async def release_items(
    name: WorkflowName, body: ReleaseRequest, application: CurrentApplication, actor: CurrentActor
) -> ReleaseResult:
    """Queue rows that are Processing again, for a worker that hangs; the fence prevents that it still writes them."""
    workflow = application.pipeline[name]
    async with application.database.session(actor.tenant_id) as session:
        found = await queue_rows.release_rows(session, workflow, actor, body.ids)
    refused = [RefusedRow(id=row_id, state=state) for row_id, state in found.refused.items()]
    if not found.retried:
        raise NothingToRelease(refused)
    return ReleaseResult(released=len(found.retried), refused=refused)


def _shown(item: QueueRow, label: RowLabel | None) -> QueueItem:
    named = {"resource": label.resource, "name": label.name} if label else {"resource": None, "name": None}
    return QueueItem.model_validate({**vars(item), **named})


def _parts(position: QueuePosition) -> list[str | int | None]:
    key = position.key.isoformat() if isinstance(position.key, datetime) else position.key
    return [position.section, key, str(position.id)]


def _position(application: WebApplication, cursor: str, list_name: str, sections: list[str]) -> QueuePosition:
    shelf, key, row_id = application.cursors.decode(cursor, list_name, cursors.text, _key, UUID)
    if shelf not in sections or not _fits(shelf, key):
        raise cursors.BadCursor(cursors.CURE)
    return QueuePosition(shelf, key, row_id)


def _fits(shelf: str, key: Key) -> bool:
    return isinstance(key, datetime if shelf in TIMED else int if shelf == "ready" else type(None))


def _key(part: Any) -> Key:
    if part is None:
        return None
    return cursors.timestamp(part) if isinstance(part, str) else cursors.integer(part)
