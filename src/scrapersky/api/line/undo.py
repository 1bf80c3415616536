"""Curations of the last day: list them, and undo one."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import JSONResponse

from scrapersky.actions import jobs, undo_curation
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.resources.curation import job_response
from scrapersky.api.schemas.fields import MAX_PAGE, Count, Limit, ResponseModel
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.core.vocabularies import Curation
from scrapersky.store.operations import curation_changes

router = APIRouter(prefix="/undo", tags=["undo"], route_class=ListRoute)

ActionId = Annotated[UUID, Path(alias="id", description="the `action_id` of a curation, or the id of its job")]


class UndoableAction(ResponseModel):
    """A curation of the last day."""

    id: UUID = Field(description="the id to undo it with")
    resource: str = Field(description="what was curated", examples=["places"])
    curation_status: Curation = Field(description="the decision", examples=["Selected"])
    actor: str = Field(description="the name of the person", examples=["ada"])
    row_count: Count = Field(description="the number of rows that it changed", examples=[8120])
    created_at: datetime = Field(description="when it was made", examples=["2026-11-15T14:03:20Z"])
    undone_at: datetime | None = Field(description="when it was undone; empty: it was not")
    undone_by: str | None = Field(description="the name of the person who undid it", examples=["ada"])


class UndoableActions(ResponseModel):
    """The curations of the last day."""

    items: list[UndoableAction] = Field(max_length=MAX_PAGE, description="the latest first")


class UndoResult(ResponseModel):
    """What was restored."""

    restored: Count = Field(description="rows with the decision from before the action", examples=[8113])
    not_restored: Count = Field(
        description="rows about which somebody has decided since, and rows that were deleted", examples=[7]
    )
    processed: Count = Field(
        description="of the restored rows those that their step has processed since, or processes: its result stays",
        examples=[40],
    )
    delivered: Count = Field(
        description="deliveries of these rows that were made or tried since: they stay", examples=[0]
    )


@router.get("", summary="Curations that can be undone", **requires(VIEWER))
async def list_undoable(application: CurrentApplication, actor: CurrentActor, limit: Limit = 50) -> UndoableActions:
    """Return the curations of the last day, the latest first."""
    async with application.database.session(actor.tenant_id) as session:
        found = await curation_changes.recent(session, actor.tenant_id, limit)
    return UndoableActions(items=[UndoableAction.model_validate(action) for action in found])


@router.post(
    "/{id}",
    summary="Undo a curation",
    response_model=UndoResult,
    **requires(
        CURATOR,
        404,
        409,
        responses={
            202: {
                "model": JobSummary,
                "description": "More than 10,000 rows: a job restores them. Location is the path of the job.",
            }
        },
    ),
)
async def undo_curation_action(
    action_id: ActionId, application: CurrentApplication, actor: CurrentActor
) -> JSONResponse:
    """Restore the rows about which nobody has decided since: their curation status, waiting work and deliveries."""
    async with application.database.session(actor.tenant_id) as session:
        action = await undo_curation.claim(session, actor, action_id)
        if action.row_count > undo_curation.MAX_ROWS:
            return job_response(await jobs.start_undo(session, actor, action))
        counts = await undo_curation.undo(session, actor, action)
        result = UndoResult(
            restored=counts.restored,
            not_restored=max(action.row_count - counts.restored, 0),
            processed=counts.processed,
            delivered=counts.delivered,
        )
    return JSONResponse(result.model_dump())
