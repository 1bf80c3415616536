"""Businesses: what the deep scan learned, and the gate before their web domains."""

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
    Listing,
    ListQuery,
    RowId,
    list_page,
    row_detail,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.resources import BUSINESSES

router = APIRouter(prefix="/businesses", tags=["businesses"], responses=problems(422, 503))


class BusinessFilter(RequestModel):
    """Which businesses are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    domain_extraction_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    has_website: Flag | None = Field(None, description="with a web site, or without")
    has_phone: Flag | None = Field(None, description="with a phone number, or without")
    text: Text | None = Field(None, description="how the name begins")


BusinessDecision = Selection[CurateIds, CurateMatching[BusinessFilter]]


class BusinessQuery(BusinessFilter, ListQuery):
    """Which businesses, in which order."""

    sort: ByName = "-updated_at"


class BusinessSummary(CuratedSummary):
    """A business one could write to."""

    search_id: UUID | None
    place_id: UUID | None
    name: str
    address: str | None
    city: str | None
    country: str | None
    phone: str | None
    website: str | None
    categories: list[str]
    rating: float | None
    rating_count: int | None
    business_status: str | None
    domain_extraction_status: Status
    domain_extraction_error: str | None


class BusinessDetail(BusinessSummary, Detail):
    """All that is known about a business."""

    street: str | None
    region: str | None
    postcode: str | None
    latitude: float | None
    longitude: float | None
    timezone: str | None
    price_level: int | None
    profiles: dict[str, Any] | None
    hours: dict[str, Any] | None
    details: dict[str, Any] | None


@router.get("", summary="Businesses, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_businesses(
    query: Annotated[BusinessQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[BusinessSummary]:
    """Your own, filtered and sorted; `text` is how the name begins."""
    return await list_page(application, actor, BUSINESSES, BusinessSummary, query)


@router.get("/{id}", summary="One business", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_business(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> BusinessDetail:
    """With its queues, and the rows before and after it on the line."""
    return BusinessDetail.model_validate(await row_detail(application, actor, BUSINESSES, row_id))


@router.post(
    "/curation",
    summary="Decide about businesses",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_businesses(
    body: BusinessDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the domain extraction, any other word takes waiting work back."""
    return await curate(application, actor, BUSINESSES, body, key)
