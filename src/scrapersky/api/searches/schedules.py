"""Schedules: when searches and campaigns are made again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.searches import schedules as actions
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.resources.history import add_history_route
from scrapersky.api.resources.routes import ApiResource, add_get_route, add_list_route, empty_router
from scrapersky.api.schemas.fields import PREFIX, Count, RequestModel, RowId
from scrapersky.api.schemas.listing import Summary
from scrapersky.models import Schedule
from scrapersky.store.listing.resources import SCHEDULES as RESOURCE
from scrapersky.store.searches.recurrence import MAX_CRON_LENGTH, Recurrence
from scrapersky.store.searches.schedules import recurrence_of

Interval = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6} ?[A-Za-z]{1,10}$", max_length=20)]
Cron = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z*/, -]+$", max_length=MAX_CRON_LENGTH)]
ZoneName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_+/-]{1,60}$", max_length=60)]


class ScheduleSummary(Summary):
    """When a search or a campaign is made again."""

    search_id: UUID = Field(description="the search or campaign")
    times: str = Field(description="when it is made, in words", examples=["every 1d"])
    every_seconds: Count | None = Field(description="the interval, if it has one", examples=[86_400])
    cron: str | None = Field(description="the cron expression, if it has one", examples=["0 6 * * 1"])
    time_zone: str = Field(description="the time zone of the cron expression", examples=["Europe/Helsinki"])
    next_run_at: datetime = Field(description="when it is made next, unless it is paused")
    last_run_at: datetime | None = Field(description="when the last run was due and looked at")
    last_outcome: Literal["started", "skipped", "refused"] | None = Field(
        description="what became of the last run: `skipped` while the run before is searching or the search is "
        "cancelled, `refused` over a quota"
    )
    last_reason: str | None = Field(
        description="why it was skipped or refused", examples=["The run before is still searching."]
    )
    run_count: Count = Field(description="runs that were started", examples=[12])
    paused_at: datetime | None = Field(description="since when it is paused")
    paused_by: str | None = Field(description="the name of the person who paused it", examples=["ada"])


class NewSchedule(RequestModel):
    """The search, and when it is made again: `every` or `cron`."""

    search_id: UUID = Field(description="the search or campaign; a schedule that it has is replaced")
    every: Interval | None = Field(
        None, description="an interval of 1 hour to 366 days: a number and m, h, d or w", examples=["1d"]
    )
    cron: Cron | None = Field(
        None,
        description="five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday)",
        examples=["0 6 * * 1"],
    )
    time_zone: ZoneName | None = Field(
        None, description="the time zone of `cron`, UTC if left out", examples=["Europe/Helsinki"]
    )


async def _with_times(_: AsyncSession, rows: Sequence[Any]) -> Mapping[UUID, Mapping[str, Any]]:
    return {row.id: {"times": recurrence_of(row).words} for row in rows}


API = ApiResource(
    RESOURCE,
    "schedule",
    ScheduleSummary,
    ScheduleSummary,
    list_description="The schedules of your tenant. Each search or campaign has one at most.",
    get_description="The schedule, its next run, and what became of the last one.",
    complete=_with_times,
)
router = empty_router(API)
add_list_route(router, API)


@router.post(
    "",
    status_code=201,
    summary="Schedule a search",
    **requires(
        CURATOR,
        404,
        responses={**problems(400), 200: {"model": ScheduleSummary, "description": "The schedule was replaced."}},
    ),
)
async def create_schedule(
    body: NewSchedule, application: CurrentApplication, actor: CurrentActor, response: Response
) -> ScheduleSummary:
    """Make a search or a campaign again and again. Its first run is at the next time of the schedule.

    422 for an interval under an hour, a malformed cron expression or an unknown time zone.
    """
    times = Recurrence.parse(body.every, body.cron, body.time_zone)
    async with application.database.session(actor.tenant_id) as session:
        schedule, existed = await actions.schedule_search(session, actor, body.search_id, times, application.providers)
        answer = _shown(schedule)
    response.status_code = 200 if existed else 201
    response.headers["Location"] = f"{PREFIX}/schedules/{answer.id}"
    return answer


add_get_route(router, API)
add_history_route(router, RESOURCE, "schedule")


@router.post("/{id}/pause", summary="Pause a schedule", **requires(CURATOR, 404))
async def pause_schedule(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> ScheduleSummary:
    """Start no further run. A run that has begun goes on."""
    async with application.database.session(actor.tenant_id) as session:
        return _shown(await actions.pause(session, actor, row_id))


@router.post("/{id}/resume", summary="Resume a schedule", **requires(CURATOR, 404))
async def resume_schedule(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> ScheduleSummary:
    """Run again from the next time on. Runs of the pause are not made up."""
    async with application.database.session(actor.tenant_id) as session:
        return _shown(await actions.resume_schedule(session, actor, row_id))


@router.delete("/{id}", status_code=204, summary="Remove a schedule", **requires(CURATOR, 404))
async def remove_schedule(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> Response:
    """Remove the schedule. The search stays with what it has found."""
    async with application.database.session(actor.tenant_id) as session:
        await actions.remove(session, actor, row_id)
    return Response(status_code=204)


def _shown(schedule: Schedule) -> ScheduleSummary:
    columns = {name: value for name, value in vars(schedule).items() if not name.startswith("_")}
    return ScheduleSummary.model_validate({**columns, "times": recurrence_of(schedule).words})
