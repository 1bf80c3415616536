"""Dead letters: rows that were tried as often as allowed. Look at them, retry them, drop them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, may
from scrapersky.api.http.problems import answers
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import CursorGiven, Ids, Limit, RequestModel, ResultPage, Text, WorkflowFilter
from scrapersky.api.schemas.selection import Either
from scrapersky.core.errors import Conflict
from scrapersky.models import DeadLetter
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations import dead_letters
from scrapersky.store.operations.dead_letters import Action, Filter, Moved

router = APIRouter(prefix="/dead-letters", tags=["dead letters"], responses=answers(422, 503))

LetterId = Annotated[UUID, Path(alias="id", description="the dead letter's own id")]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,62}$", description="only of this workflow")]


class Letter(BaseModel):
    """A row that was given up, and why."""

    id: UUID
    workflow: str | None = Field(description="empty if no workflow of this line works on the queue any more")
    queue: str
    row_id: UUID = Field(description="the id of the row itself")
    attempts: int = Field(description="how many tries it took")
    error_type: str
    message: str
    died_at: datetime


class Matching(RequestModel):
    """Which dead letters are meant; `{}` is all of yours."""

    workflow: Name | None = None
    error_type: Text | None = Field(None, description="only of this type: `TimedOut`")
    text: Text | None = Field(None, description="only messages that begin so")


class Selected(RequestModel):
    """Some dead letters."""

    ids: Ids
    preview: Literal[False] = False


class AllMatching(RequestModel):
    """All dead letters that match."""

    filter: Matching
    preview: bool = Field(False, strict=True, description="only count them")


Choice = Either[Selected, AllMatching]


class NotMovedLetter(BaseModel):
    """A dead letter that was left as it is, and why."""

    id: UUID
    state: str


class BulkAnswer(BaseModel):
    """What became of the dead letters."""

    matched: int = Field(description="how many were meant; counted up to 100,000")
    done: int = Field(description="how many were retried or dropped")
    refused: list[NotMovedLetter]


class NothingMoved(Conflict):
    """None of these dead letters could be moved."""

    def __init__(self, refused: list[NotMovedLetter]) -> None:
        super().__init__("They may have been retried or dropped by somebody else.")
        self.members = {"refused": [one.model_dump(mode="json") for one in refused]}


@router.get("", summary="Dead letters, the latest first", responses=answers(400, 404), openapi_extra=may(VIEWER))
async def list_dead_letters(
    application: CurrentApplication,
    actor: CurrentActor,
    workflow: WorkflowFilter = None,
    error_type: Annotated[Text | None, Query(description="only of this type: `TimedOut`")] = None,
    text: Annotated[Text | None, Query(description="only messages that begin so")] = None,
    cursor: CursorGiven = None,
    limit: Limit = 50,
) -> ResultPage[Letter]:
    """Your own, filtered by workflow, type of error and the beginning of the message."""
    wanted = _filter(application, Matching(workflow=workflow, error_type=error_type, text=text))
    here = cursors.of_query("dead-letters", vars(wanted))
    before = cursors.read(cursor, here, cursors.moment, UUID) if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await dead_letters.page(
            session, actor.tenant_id, wanted, before=(before[0], before[1]) if before else None, limit=limit + 1
        )
    left_off = found[limit - 1] if len(found) > limit else None
    return ResultPage(
        items=[_letter(application, letter) for letter in found[:limit]],
        next_cursor=cursors.make(here, [left_off.died_at.isoformat(), str(left_off.id)]) if left_off else None,
    )


@router.get("/{id}", summary="One dead letter", responses=answers(404), openapi_extra=may(VIEWER))
async def get_dead_letter(letter_id: LetterId, application: CurrentApplication, actor: CurrentActor) -> Letter:
    """The same as in the list."""
    async with application.database.session(actor.tenant_id) as session:
        return _letter(application, await dead_letters.get(session, actor.tenant_id, letter_id))


@router.post(
    "/retry", summary="Retry selected or all matching", responses=answers(400, 404, 409), openapi_extra=may(OPERATOR)
)
async def retry_dead_letters(asked: Choice, application: CurrentApplication, actor: CurrentActor) -> BulkAnswer:
    """Their rows are queued afresh: old attempts do not count."""
    return await _move(application, actor, asked, "retry")


@router.post(
    "/drop", summary="Drop selected or all matching", responses=answers(400, 404, 409), openapi_extra=may(OPERATOR)
)
async def drop_dead_letters(asked: Choice, application: CurrentApplication, actor: CurrentActor) -> BulkAnswer:
    """Their rows become Skipped, with who dropped them and what had happened."""
    return await _move(application, actor, asked, "drop")


@router.post("/{id}/retry", summary="Retry one", responses=answers(404, 409), openapi_extra=may(OPERATOR))
async def retry_dead_letter(letter_id: LetterId, application: CurrentApplication, actor: CurrentActor) -> BulkAnswer:
    """Its row is queued afresh."""
    return await _move_one(application, actor, letter_id, "retry")


@router.post("/{id}/drop", summary="Drop one", responses=answers(404, 409), openapi_extra=may(OPERATOR))
async def drop_dead_letter(letter_id: LetterId, application: CurrentApplication, actor: CurrentActor) -> BulkAnswer:
    """Its row becomes Skipped, with who dropped it and what had happened."""
    return await _move_one(application, actor, letter_id, "drop")


async def _move(application: WebApplication, actor: Actor, asked: Selected | AllMatching, action: Action) -> BulkAnswer:
    if isinstance(asked, AllMatching):
        return await _move_matching(application, actor, asked, action)
    async with application.database.session(actor.tenant_id) as session:
        moved = await dead_letters.move(session, application.pipeline, actor, asked.ids, action)
    return _answer(moved)


async def _move_one(application: WebApplication, actor: Actor, letter_id: UUID, action: Action) -> BulkAnswer:
    async with application.database.session(actor.tenant_id) as session:
        await dead_letters.get(session, actor.tenant_id, letter_id)
        moved = await dead_letters.move(session, application.pipeline, actor, [letter_id], action)
    return _answer(moved)


async def _move_matching(application: WebApplication, actor: Actor, asked: AllMatching, action: Action) -> BulkAnswer:
    wanted = _filter(application, asked.filter)
    async with application.database.session(actor.tenant_id) as session:
        matched = await dead_letters.count(session, actor.tenant_id, wanted)
    if asked.preview:
        return BulkAnswer(matched=matched, done=0, refused=[])
    done = await dead_letters.move_matching(application.database, application.pipeline, actor, wanted, action)
    return BulkAnswer(matched=matched, done=done, refused=[])


def _filter(application: WebApplication, asked: Matching) -> Filter:
    queue = application.pipeline.queues[application.pipeline[asked.workflow].name].name if asked.workflow else None
    return Filter(queue, asked.error_type, asked.text)


def _answer(moved: Moved) -> BulkAnswer:
    refused = [NotMovedLetter(id=letter_id, state=state) for letter_id, state in moved.refused.items()]
    if not moved.done:
        raise NothingMoved(refused)
    return BulkAnswer(matched=len(moved.done) + len(refused), done=len(moved.done), refused=refused)


def _letter(application: WebApplication, letter: DeadLetter) -> Letter:
    workflow = application.pipeline.by_queue(letter.queue)
    return Letter(
        id=letter.id,
        workflow=workflow.name if workflow else None,
        queue=letter.queue,
        row_id=letter.row_id,
        attempts=letter.attempts,
        error_type=letter.error_type,
        message=letter.message,
        died_at=letter.died_at,
    )
