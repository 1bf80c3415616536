"""Places: what the searches found, and the gate before the deep scan."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.line.curation import (
    CURATION_RESPONSES,
    CurateIds,
    CurateMatching,
    CurationResult,
    IdempotencyKey,
    curate,
)
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.api.schemas.listing import (
    ByName,
    CuratedSummary,
    Detail,
    Flag,
    Identifier,
    Listing,
    ListQuery,
    RowId,
    list_page,
    row_detail,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.resources import PLACES

router = APIRouter(prefix="/places", tags=["places"], responses=problems(422, 503))


class PlaceFilter(RequestModel):
    """Which places are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    deep_scan_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    provider: Identifier | None = Field(None, description="only of this provider")
    has_website: Flag | None = Field(None, description="with a web site, or without")
    text: Text | None = Field(None, description="how the name begins")


PlaceDecision = Selection[CurateIds, CurateMatching[PlaceFilter]]


class PlaceListQuery(PlaceFilter, ListQuery):
    """Which places, in which order."""

    sort: ByName = "-updated_at"


class PlaceSummary(CuratedSummary):
    """A place as a provider knows it."""

    search_id: UUID | None
    provider: str
    provider_id: str
    name: str
    address: str | None
    phone: str | None
    website: str | None
    categories: list[str]
    rating: float | None
    rating_count: int | None
    business_status: str | None
    deep_scan_status: Status
    deep_scan_error: str | None


class PlaceDetail(PlaceSummary, Detail):
    """All that is known about a place."""

    latitude: float | None
    longitude: float | None
    licence: str | None
    fetched_at: datetime | None
    expires_at: datetime | None
    details: dict[str, Any] | None


@router.get("", summary="Places, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_places(
    query: Annotated[PlaceListQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[PlaceSummary]:
    """Your own, filtered and sorted; `text` is how the name begins."""
    return await list_page(application, actor, PLACES, PlaceSummary, query)


@router.get("/{id}", summary="One place", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_place(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> PlaceDetail:
    """With its queues, and the rows before and after it on the line."""
    return PlaceDetail.model_validate(await row_detail(application, actor, PLACES, row_id))


@router.post(
    "/curation",
    summary="Decide about places",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_places(
    body: PlaceDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the deep scan, any other word takes waiting work back."""
    return await curate(application, actor, PLACES, body, key)
