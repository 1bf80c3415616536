"""The rows of a workflow's queue: list, queue and retry them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import (
    Cursor,
    Ids,
    Limit,
    Priority,
    RequestModel,
    ResponseModel,
    ResultPage,
    WorkflowName,
)
from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Status
from scrapersky.store.operations import queue_rows
from scrapersky.store.operations.queue_rows import SECTIONS, STATUS_OF, TIMED, Key, QueuePosition

router = APIRouter(prefix="/workflows/{name}", tags=["workflows"], responses=problems(404))


class QueueItem(ResponseModel):
    """A row in a queue."""

    id: UUID
    status: Status
    error: str | None = Field(description="why the row was retried, skipped or given up")
    attempts: int = Field(description="how often the row was ever claimed")
    tries: int = Field(description="the attempts since the row was last queued, which count against the limit")
    due_at: datetime | None = Field(description="Queued: not claimed before. Processing: when the lease ends")
    priority: int = Field(description="0 is normal, higher is sooner")
    updated_at: datetime


class QueueRequest(RequestModel):
    """The rows to queue."""

    ids: Ids
    priority: Priority | None = Field(None, description="each level is worth ten minutes of waiting")


class QueueResult(ResponseModel):
    """The result for the ids."""

    queued: int = Field(description="rows that were queued")
    already: int = Field(description="rows that were queued or processing already")
    unknown: int = Field(description="ids that are no rows of your tenant")


class RetryRequest(RequestModel):
    """The rows to retry."""

    ids: Ids


class RefusedRow(BaseModel):
    """An id that was not changed, and why."""

    id: UUID
    state: str = Field(description="the state that prevents the change, or `unknown`")


class RetryResult(BaseModel):
    """The result for the ids."""

    retried: int
    refused: list[RefusedRow]


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
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[QueueItem]:
    """List the rows of your tenant: processing, ready in their order, waiting, then idle ones.

    The queue changes while you read: a row may occur twice or be missed between two pages.
    """
    workflow = application.pipeline[name]
    statuses = sorted(set(status or ()))
    list_name = f"items/{name}/{'+'.join(statuses)}"
    after = _position(application, cursor, list_name, statuses) if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await queue_rows.items(
            session, workflow, actor.tenant_id, statuses=statuses, after=after, limit=limit + 1
        )
    return application.cursors.page_of(
        found, limit, list_name, lambda item: _parts(item.position), QueueItem.model_validate
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


def _parts(position: QueuePosition) -> list[str | int | None]:
    key = position.key.isoformat() if isinstance(position.key, datetime) else position.key
    return [position.section, key, str(position.id)]


def _position(application: WebApplication, cursor: str, list_name: str, statuses: list[Status]) -> QueuePosition:
    shelf, key, row_id = application.cursors.decode(cursor, list_name, cursors.text, _key, UUID)
    if shelf not in SECTIONS or (statuses and STATUS_OF[shelf] not in statuses) or not _fits(shelf, key):
        raise cursors.BadCursor(cursors.CURE)
    return QueuePosition(shelf, key, row_id)


def _fits(shelf: str, key: Key) -> bool:
    return isinstance(key, datetime if shelf in TIMED else int if shelf == "ready" else type(None))


def _key(part: Any) -> Key:
    if part is None:
        return None
    return cursors.timestamp(part) if isinstance(part, str) else cursors.integer(part)
