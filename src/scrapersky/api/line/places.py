"""Places: what the searches found, and the gate before the deep scan."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, may
from scrapersky.api.http.problems import answers
from scrapersky.api.line.curation import CURATION_ANSWERS, CurateIds, CurateMatching, CurationAnswer, Key, curate
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.api.schemas.listing import (
    ByName,
    CuratedSummary,
    Detail,
    Listing,
    ListQuery,
    RowId,
    Word,
    YesNo,
    page_of,
    story_of,
)
from scrapersky.api.schemas.selection import Either
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.resources import PLACES

router = APIRouter(prefix="/places", tags=["places"], responses=answers(422, 503))


class PlaceFilter(RequestModel):
    """Which places are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    deep_scan_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    provider: Word | None = Field(None, description="only of this provider")
    has_website: YesNo | None = Field(None, description="with a web site, or without")
    text: Text | None = Field(None, description="how the name begins")


PlaceDecision = Either[CurateIds, CurateMatching[PlaceFilter]]


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


@router.get("", summary="Places, the latest first", responses=answers(400), openapi_extra=may(VIEWER))
async def list_places(
    query: Annotated[PlaceListQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[PlaceSummary]:
    """Your own, filtered and sorted; `text` is how the name begins."""
    return await page_of(application, actor, PLACES, PlaceSummary, query)


@router.get("/{id}", summary="One place", responses=answers(404), openapi_extra=may(VIEWER))
async def get_place(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> PlaceDetail:
    """With its queues, and the rows before and after it on the line."""
    return PlaceDetail.model_validate(await story_of(application, actor, PLACES, row_id))


@router.post(
    "/curation",
    summary="Decide about places",
    response_model=CurationAnswer,
    responses=CURATION_ANSWERS,
    openapi_extra=may(CURATOR),
)
async def curate_places(
    asked: PlaceDecision, application: CurrentApplication, actor: CurrentActor, key: Key = None
) -> JSONResponse:
    """Selected queues the deep scan, any other word takes waiting work back."""
    return await curate(application, actor, PLACES, asked, key)
