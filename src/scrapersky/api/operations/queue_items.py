"""The rows of one workflow's queue: list them, queue them, try them again."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Cursor, Ids, Limit, Priority, RequestModel, ResultPage, WorkflowName
from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Status
from scrapersky.store.operations import queue_rows
from scrapersky.store.operations.queue_rows import CLOCKED, SHELVES, STATUS_OF, Key, Position

router = APIRouter(prefix="/workflows/{name}", tags=["workflows"], responses=problems(404, 422, 503))


class QueueItem(BaseModel):
    """A row as its queue sees it."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    status: Status
    error: str | None = Field(description="why it was tried again, skipped or given up")
    attempts: int = Field(description="how often it was ever taken")
    tries: int = Field(description="how many of those count against the limit since it was queued last")
    due_at: datetime | None = Field(description="Queued: not before. Processing: when its lease ends")
    priority: int = Field(description="0 is normal, higher is sooner")
    updated_at: datetime


class QueueRequest(RequestModel):
    """The rows to queue."""

    ids: Ids
    priority: Priority | None = Field(None, description="each step is worth ten minutes of waiting")


class QueueResult(BaseModel):
    """What became of the ids."""

    model_config = ConfigDict(from_attributes=True)

    queued: int = Field(description="rows that are now in the queue")
    already: int = Field(description="rows that were in the queue or being worked on")
    unknown: int = Field(description="ids that are no rows of yours")


class RetryRequest(RequestModel):
    """The rows to try again."""

    ids: Ids


class RefusedRow(BaseModel):
    """An id that was left as it is, and why."""

    id: UUID
    state: str = Field(description="its state, which forbids it, or `unknown`")


class RetryResult(BaseModel):
    """What became of the ids."""

    retried: int
    refused: list[RefusedRow]


class NothingToRetry(Conflict):
    """None of these rows can be retried."""

    def __init__(self, refused: list[RefusedRow]) -> None:
        states = sorted({one.state for one in refused})
        super().__init__(f"Only rows in Error or Skipped can; these are {', '.join(states)}.")
        self.members = {"refused": [one.model_dump(mode="json") for one in refused]}


@router.get("/items", summary="The rows of the queue", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_items(
    name: WorkflowName,
    application: CurrentApplication,
    actor: CurrentActor,
    status: Annotated[Status | None, Query(description="only rows in this state")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[QueueItem]:
    """Your own rows: being worked on, ready in their order, waiting, then those at rest.

    The queue moves while you read: a row may be seen twice or missed between two pages.
    """
    workflow = application.pipeline[name]
    here = f"items/{name}/{status or ''}"
    after = _position(cursor, here, status) if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await queue_rows.items(session, workflow, actor.tenant_id, status=status, after=after, limit=limit + 1)
    shown = [QueueItem.model_validate(item) for item in found[:limit]]
    return ResultPage(items=shown, next_cursor=_cursor(here, found[limit - 1].position) if len(found) > limit else None)


@router.post("/queue", summary="Queue rows", responses=problems(400), openapi_extra=requires(OPERATOR))
async def queue_items(
    name: WorkflowName, body: QueueRequest, application: CurrentApplication, actor: CurrentActor
) -> QueueResult:
    """Rows at rest in any state are queued afresh: old attempts do not count. Doing it twice changes nothing."""
    workflow = application.pipeline[name]
    async with application.database.session(actor.tenant_id) as session:
        queued = await queue_rows.queue_rows(session, workflow, actor, body.ids, body.priority)
    return QueueResult.model_validate(queued)


@router.post("/retry", summary="Try rows again", responses=problems(400, 409), openapi_extra=requires(OPERATOR))
async def retry_items(
    name: WorkflowName, body: RetryRequest, application: CurrentApplication, actor: CurrentActor
) -> RetryResult:
    """Only rows in Error or Skipped; the others come back with their state. 409 if there was none to retry."""
    workflow = application.pipeline[name]
    async with application.database.session(actor.tenant_id) as session:
        found = await queue_rows.retry_rows(session, workflow, actor, body.ids)
    refused = [RefusedRow(id=row_id, state=state) for row_id, state in found.refused.items()]
    if not found.retried:
        raise NothingToRetry(refused)
    return RetryResult(retried=len(found.retried), refused=refused)


def _cursor(here: str, position: Position) -> str:
    key = position.key.isoformat() if isinstance(position.key, datetime) else position.key
    return cursors.encode(here, [position.shelf, key, str(position.id)])


def _position(cursor: str, here: str, status: Status | None) -> Position:
    shelf, key, row_id = cursors.decode(cursor, here, cursors.text, _key, UUID)
    if shelf not in SHELVES or status not in (None, STATUS_OF[shelf]) or not _fits(shelf, key):
        raise cursors.BadCursor("It names no place in this list.")
    return Position(shelf, key, row_id)


def _fits(shelf: str, key: Key) -> bool:
    return isinstance(key, datetime if shelf in CLOCKED else int if shelf == "ready" else type(None))


def _key(part: Any) -> Key:
    if part is None:
        return None
    return cursors.timestamp(part) if isinstance(part, str) else cursors.integer(part)
