"""The runs of a search or campaign, and what differs between two of them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import Count, RequestModel, ResponseModel, RowId
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.searches import changes, runs

MAX_RUNS = 100
ExampleNames = Annotated[list[str], Field(max_length=changes.SHOWN)]
RunNumber = Annotated[int, Field(ge=1, le=1_000_000)]

router = APIRouter(prefix="/searches", tags=["schedules"], route_class=ListRoute)


class ChangeCounts(ResponseModel):
    """How many rows are new, gone and changed."""

    new: Count = Field(description="rows that were found for the first time", examples=[7])
    gone: Count | None = Field(
        description="rows that were not found any more; empty: not known, the provider did not show all", examples=[2]
    )
    changed: Count = Field(description="rows of which a field changed", examples=[3])
    fields: dict[str, Count] = Field(description="how often which field changed", examples=[{"phone": 2, "website": 1}])


class RunCounts(ResponseModel):
    """What was new, gone and changed in a run, compared with the one before."""

    businesses: ChangeCounts = Field(description="the businesses")
    contacts: ChangeCounts = Field(description="the contacts")


class SearchRunSummary(ResponseModel):
    """One run of a search or campaign."""

    number: Count = Field(description="from 1", examples=[4])
    began_at: datetime = Field(description="when it was requested", examples=["2026-11-18T06:00:00Z"])
    ended_at: datetime | None = Field(description="when no work was left, or the next run began")
    is_complete: bool = Field(description="no work was left when it ended", examples=[True])
    is_whole: bool = Field(
        description="the provider showed all places, without a limit, budget or failure: what the run lacks is gone",
        examples=[True],
    )
    counts: RunCounts | None = Field(description="empty for the first run, and until it is complete")


class SearchRunList(BaseModel):
    """The runs of a search."""

    items: list[SearchRunSummary] = Field(max_length=MAX_RUNS, description="the latest first")


class DifferenceQuery(RequestModel):
    """Which runs are compared."""

    former: RunNumber | None = Field(None, description="the run before; left out: the next lower one", examples=[3])
    latter: RunNumber | None = Field(None, description="the run after; left out: the latest", examples=[4])


class RowChanges(ChangeCounts):
    """How many rows are new, gone and changed, and the names of some."""

    examples: dict[Literal["new", "gone", "changed"], ExampleNames] = Field(
        description="up to 20 names of each: of a business its name, of a contact the address, name or number",
        examples=[{"new": ["Kallio Dental"]}],
    )


class RunDifference(ResponseModel):
    """What differs between two runs."""

    former: Count = Field(description="the number of the run before", examples=[3])
    latter: Count = Field(description="the number of the run after", examples=[4])
    businesses: RowChanges = Field(description="the businesses")
    contacts: RowChanges = Field(description="the contacts")
    is_complete: bool = Field(description="no work of the run after was left when it ended", examples=[True])
    is_open: bool = Field(description="the run after is under way: rows are left", examples=[False])


@router.get("/{id}/runs", summary="The runs of a search", **requires(VIEWER, 404))
async def list_search_runs(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchRunList:
    """Return the latest runs of a search or campaign, with what was new, gone and changed in each."""
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, SEARCHES, actor.tenant_id, row_id)
        found: list[Any] = await runs.of_search(session, row_id, MAX_RUNS)
        return SearchRunList(items=[SearchRunSummary.model_validate(run) for run in found])


@router.get("/{id}/diff", summary="Compare two runs", **requires(VIEWER, 400, 404))
async def diff_search_runs(
    row_id: RowId, query: Annotated[DifferenceQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> RunDifference:
    """Return what is new, gone and changed between two runs; 404 for runs that do not exist."""
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, SEARCHES, actor.tenant_id, row_id)
        first, second, known = await runs.pair(session, row_id, query.former, query.latter)
        return RunDifference.model_validate(await changes.between(session, row_id, first, second, known))
