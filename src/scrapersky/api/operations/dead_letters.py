"""Dead letters: rows whose attempts are exhausted. List, retry and drop them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from sqlalchemy import func, select

from scrapersky.actions import jobs
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.operations.queue_items import RefusedRow
from scrapersky.api.resources.curation import MAX_ROWS, job_response
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import (
    MAX_IDS,
    MAX_PAGE,
    Count,
    Cursor,
    Ids,
    Limit,
    RequestModel,
    ResponseModel,
    ResultPage,
    WorkflowFilter,
)
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.api.schemas.selection import MatchingRows, Selection
from scrapersky.core.errors import Conflict
from scrapersky.core.text_rules import Text
from scrapersky.models import DeadLetter
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.labels import RowLabel
from scrapersky.store.operations import dead_letters
from scrapersky.store.operations.dead_letters import Action, DeadLetterQuery, MovedLetters

router = APIRouter(prefix="/dead-letters", tags=["dead letters"], route_class=ListRoute)

LetterId = Annotated[UUID, Path(alias="id", description="the id of the dead letter")]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,62}$", description="only of this workflow")]


class DeadLetterSummary(BaseModel):
    """A row that failed for good, and why."""

    id: UUID = Field(description="the id of the dead letter, for retrying or dropping it")
    workflow: str | None = Field(
        description="empty if no workflow of the pipeline has this queue any more", examples=["deep_scan"]
    )
    queue: str = Field(
        description="the table of the row and the prefix of the queue's columns", examples=["place.deep_scan"]
    )
    row_id: UUID = Field(description="the row that failed: a place, a page, …")
    resource: str | None = Field(description="the resource of the row", examples=["places"])
    name: str | None = Field(description="the name of the row, or its address", examples=["Kallio Dental"])
    attempts: Count = Field(description="the number of attempts", examples=[5])
    error_type: str = Field(description="the class of the last error", examples=["TimedOut"])
    message: str = Field(description="the text of the last error", examples=["no answer within 55 s"])
    reason: str = Field(description="the message without names of sites and numbers", examples=["no answer within … s"])
    failed_at: datetime = Field(description="when the last attempt failed")


class DeadLetterGroup(ResponseModel):
    """Dead letters with the same cause."""

    workflow: str | None = Field(description="the workflow in which they failed", examples=["page_curation"])
    queue: str = Field(description="the queue in which they failed", examples=["page.page_processing"])
    error_type: str = Field(description="the class of the last error", examples=["TimedOut"])
    reason: str = Field(description="the message without names of sites and numbers", examples=["no answer within … s"])
    rows: Count = Field(description="the number of dead letters", examples=[61])
    first_at: datetime = Field(description="when the first of them failed")
    last_at: datetime = Field(description="when the last of them failed")
    last_day: list[Count] = Field(
        max_length=dead_letters.DAY_PARTS,
        description="dead letters per two hours of the last day, the oldest first",
        examples=[[0, 0, 0, 0, 0, 0, 0, 3, 40, 18, 0, 0]],
    )


class DeadLetterGroups(ResponseModel):
    """Dead letters, grouped by their cause."""

    items: list[DeadLetterGroup] = Field(max_length=MAX_PAGE, description="the largest group first")
    group_count: Count = Field(description="the number of groups, also of those that are not listed", examples=[4])
    row_count: Count = Field(description="the number of dead letters in all groups", examples=[112])
    as_of: datetime | None = Field(
        description="when the last of them failed: send it with `expected`; empty without a group",
        examples=["2026-11-15T14:03:20Z"],
    )


class DeadLetterFilter(RequestModel):
    """Filters of dead letters; `{}` matches all of your tenant."""

    workflow: Name | None = Field(None, description="only of this workflow", examples=["deep_scan"])
    error_type: Text | None = Field(None, description="only of this type: `TimedOut`", examples=["TimedOut"])
    text: Text | None = Field(None, description="only messages that begin with this text", examples=["no answer"])
    reason: Text | None = Field(
        None, description="only of this reason, as a group has it", examples=["no answer within … s"]
    )


class MoveIds(RequestModel):
    """Move some dead letters."""

    ids: Ids = Field(description="the dead letters to move")
    preview: Literal[False] = Field(False, description="a preview needs a filter")


class MoveMatching(MatchingRows):
    """Move all dead letters that match, as they were shown."""

    filter: DeadLetterFilter = Field(description="which dead letters to move")


MoveRequest = Selection[MoveIds, MoveMatching]


class MoveResult(BaseModel):
    """The result of retrying or dropping dead letters."""

    matched: Count = Field(description="the number of matching dead letters, counted up to 1,000,000")
    done: Count = Field(description="the number of dead letters that were retried or dropped")
    refused: list[RefusedRow] = Field(
        max_length=MAX_IDS, description="the ids that were not changed, and why; empty with a filter"
    )
    as_of: datetime | None = Field(
        None,
        description="when a preview counted the dead letters: send it with `expected`",
        examples=["2026-11-15T14:03:20Z"],
    )


MOVE_RESPONSES: dict[int | str, dict[str, Any]] = {
    202: {
        "model": JobSummary,
        "description": "More than 10,000 dead letters match: a job moves them. Location is the path of the job.",
    }
}


class NothingMoved(Conflict):
    """None of these dead letters could be retried or dropped."""

    def __init__(self, refused: list[RefusedRow]) -> None:
        super().__init__("Another request may have retried or dropped them already.")
        self.members = {"refused": [one.model_dump(mode="json") for one in refused]}


@router.get("", summary="Dead letters, the latest first", **requires(VIEWER, 400, 404))
async def list_dead_letters(
    application: CurrentApplication,
    actor: CurrentActor,
    workflow: WorkflowFilter = None,
    error_type: Annotated[Text | None, Query(description="only of this type", examples=["TimedOut"])] = None,
    text: Annotated[
        Text | None, Query(description="only messages that begin with this text", examples=["no answer"])
    ] = None,
    reason: Annotated[
        Text | None, Query(description="only of this reason, as a group has it", examples=["no answer within … s"])
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[DeadLetterSummary]:
    """List the dead letters of your tenant by workflow, error type, reason and beginning of the message."""
    chosen = DeadLetterFilter(workflow=workflow, error_type=error_type, text=text, reason=reason)
    wanted = _filter(application, chosen)
    name = cursors.list_name("dead-letters", vars(wanted))
    before = application.cursors.decode(cursor, name, cursors.timestamp, UUID) if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await dead_letters.page(
            session, actor.tenant_id, wanted, before=(before[0], before[1]) if before else None, limit=limit + 1
        )
        named = await dead_letters.labels_of(session, found[:limit])
    return application.cursors.page_of(
        found,
        limit,
        name,
        lambda letter: [letter.failed_at.isoformat(), str(letter.id)],
        lambda letter: _letter(application, letter, named),
    )


@router.get("/groups", summary="Dead letters by cause", **requires(VIEWER, 404))
async def group_dead_letters(
    application: CurrentApplication,
    actor: CurrentActor,
    workflow: WorkflowFilter = None,
    error_type: Annotated[Text | None, Query(description="only of this type", examples=["TimedOut"])] = None,
    limit: Limit = 50,
) -> DeadLetterGroups:
    """Count the dead letters of your tenant by workflow, error type and reason. Retry or drop a group by its reason."""
    wanted = _filter(application, DeadLetterFilter(workflow=workflow, error_type=error_type))
    async with application.database.session(actor.tenant_id) as session:
        found = await dead_letters.groups(session, actor.tenant_id, wanted, limit)
    return DeadLetterGroups(
        items=[DeadLetterGroup(**vars(group), workflow=_workflow(application, group.queue)) for group in found.items],
        group_count=found.group_count,
        row_count=found.row_count,
        as_of=found.as_of,
    )


@router.get("/{id}", summary="One dead letter", **requires(VIEWER, 404))
async def get_dead_letter(
    letter_id: LetterId, application: CurrentApplication, actor: CurrentActor
) -> DeadLetterSummary:
    """Return one dead letter, as in the list."""
    async with application.database.session(actor.tenant_id) as session:
        letter = await dead_letters.get(session, actor.tenant_id, letter_id)
        return _letter(application, letter, await dead_letters.labels_of(session, [letter]))


def _add_move_routes(action: Action, effect: str) -> None:
    """Add the routes that retry or drop dead letters: selected, all matching, or one."""

    async def move(body: MoveRequest, application: CurrentApplication, actor: CurrentActor) -> Any:
        moved = await move_letters(application, actor, body, action)
        return moved if isinstance(moved, MoveResult) else job_response(moved)

    async def move_one(letter_id: LetterId, application: CurrentApplication, actor: CurrentActor) -> Any:
        async with application.database.session(actor.tenant_id) as session:
            await dead_letters.get(session, actor.tenant_id, letter_id)
        return await move_letters(application, actor, MoveIds(ids=[letter_id]), action)

    verb = action.capitalize()
    router.post(
        f"/{action}",
        name=f"{action}_dead_letters",
        summary=f"{verb} selected or all matching",
        description=effect,
        response_model=MoveResult,
        **requires(OPERATOR, 400, 404, 409, responses=MOVE_RESPONSES),
    )(move)
    router.post(
        f"/{{id}}/{action}",
        name=f"{action}_dead_letter",
        summary=f"{verb} one",
        description=effect,
        response_model=MoveResult,
        **requires(OPERATOR, 404, 409),
    )(move_one)


_add_move_routes("retry", "Queues the rows again; their earlier attempts do not count.")
_add_move_routes("drop", "Sets the rows to Skipped, with the actor and the last error.")


async def move_letters(
    application: WebApplication, actor: Actor, body: MoveIds | MoveMatching, action: Action
) -> MoveResult | JobSummary:
    """Retry or drop dead letters; more than MAX_ROWS become a job. Raises NothingMoved or CountChanged."""
    if isinstance(body, MoveMatching):
        return await _move_matching(application, actor, body, action)
    async with application.database.session(actor.tenant_id) as session:
        moved = await dead_letters.move(session, application.pipeline, actor, body.ids, action)
    return _answer(moved)


async def _move_matching(
    application: WebApplication, actor: Actor, body: MoveMatching, action: Action
) -> MoveResult | JobSummary:
    chosen = _filter(application, body.filter)
    wanted = replace(chosen, failed_until=body.as_of, excluded=tuple(body.exceptions))
    async with application.database.session(actor.tenant_id) as session:
        matched = await dead_letters.count(session, actor.tenant_id, wanted)
        if body.preview:
            return MoveResult(matched=matched, done=0, refused=[], as_of=await session.scalar(select(func.now())))
        body.shown.check(matched)
        max_rows = matched if body.expected is None else min(matched, body.expected)
        if max_rows > MAX_ROWS:
            return JobSummary.model_validate(await jobs.start_letters(session, actor, action, wanted, max_rows))
    done = await dead_letters.move_matching(application.database, application.pipeline, actor, wanted, action, max_rows)
    return MoveResult(matched=matched, done=done, refused=[])


def _filter(application: WebApplication, body: DeadLetterFilter) -> DeadLetterQuery:
    queue = application.pipeline.queues[application.pipeline[body.workflow].name].name if body.workflow else None
    return DeadLetterQuery(queue, body.error_type, body.text, body.reason)


def _answer(moved: MovedLetters) -> MoveResult:
    refused = [RefusedRow(id=letter_id, state=state) for letter_id, state in moved.refused.items()]
    if not moved.done:
        raise NothingMoved(refused)
    return MoveResult(matched=len(moved.done) + len(refused), done=len(moved.done), refused=refused)


def _letter(application: WebApplication, letter: DeadLetter, named: Mapping[UUID, RowLabel]) -> DeadLetterSummary:
    label = named.get(letter.id)
    shown = {"resource": label.resource, "name": label.name} if label else {"resource": None, "name": None}
    return DeadLetterSummary.model_validate({**vars(letter), **shown, "workflow": _workflow(application, letter.queue)})


def _workflow(application: WebApplication, queue: str) -> str | None:
    workflow = application.pipeline.by_queue(queue)
    return workflow.name if workflow else None
