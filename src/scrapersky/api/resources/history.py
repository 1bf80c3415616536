"""The route that shows the history of a row to users who may read the row."""

from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.schemas.fields import ResponseModel, RowId
from scrapersky.store.audit import history
from scrapersky.store.audit.history import MAX_ENTRIES
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import Resource


class RowChange(ResponseModel):
    """One change of a row by a person."""

    at: datetime = Field(description="when it was changed")
    actor: str = Field(description="the name of the actor at that time", examples=["ada"])
    action: str = Field(description="what was done: `curate`, `change`, `retry` …", examples=["curate"])
    before: dict[str, Any] | None = Field(
        description="the values that differ, before", examples=[{"curation_status": "New"}]
    )
    after: dict[str, Any] | None = Field(
        description="the values that differ, after", examples=[{"curation_status": "Selected"}]
    )
    action_id: UUID | None = Field(
        description="`POST /undo/{id}` with this id undoes it for all its rows; empty if it cannot be undone"
    )


class RowHistory(ResponseModel):
    """The changes of a row by people."""

    items: list[RowChange] = Field(max_length=MAX_ENTRIES, description="the latest first")


def add_history_route(router: APIRouter, resource: Resource, singular: str) -> None:
    """Add `GET /{id}/history`: who changed the row, when, and what differs."""
    bulk = [resource.name, *(step.workflow for step in resource.steps)]

    async def row_history(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> RowHistory:
        async with application.database.session(actor.tenant_id) as session:
            await paginate.get(session, resource, actor.tenant_id, row_id)
            found = await history.of_row(session, actor.tenant_id, row_id, f"{singular} {row_id}", bulk)
        return RowHistory(items=[RowChange.model_validate(entry) for entry in found])

    router.add_api_route(
        "/{id}/history",
        row_history,
        methods=["GET"],
        name=f"get_{singular}_history",
        summary=f"The history of a {singular}",
        description="Changes by people, the latest first, from the audit log. A change of more than 100 rows is shown "
        "for a day.",
        response_model=RowHistory,
        **requires(VIEWER, 404),
    )
