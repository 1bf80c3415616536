"""Pages: the addresses worth reading, and the gate before they are read."""

from datetime import datetime
from typing import Annotated
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
    ByUpdate,
    CuratedSummary,
    Detail,
    Listing,
    ListQuery,
    RowId,
    list_page,
    row_detail,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.store.listing.resources import PAGES

router = APIRouter(prefix="/pages", tags=["pages"], responses=problems(422, 503))


class PageFilter(RequestModel):
    """Which pages are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    page_processing_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    domain_id: UUID | None = Field(None, description="only of this domain")
    sitemap_id: UUID | None = Field(None, description="only of this sitemap")
    kind: PageKind | None = Field(None, description="only of this kind")
    text: Text | None = Field(None, description="how the address begins, with its https://")


PageDecision = Selection[CurateIds, CurateMatching[PageFilter]]


class PageQuery(PageFilter, ListQuery):
    """Which pages, in which order."""

    sort: ByUpdate = "-updated_at"


class PageSummary(CuratedSummary):
    """A page of a domain, and what its address promises."""

    domain_id: UUID
    sitemap_file_id: UUID | None
    url: str
    kind: str | None
    kind_score: float | None
    kind_reason: str | None
    title: str | None
    last_modified: datetime | None
    contact_count: int | None
    page_processing_status: Status
    page_processing_error: str | None


class PageDetail(PageSummary, Detail):
    """All that is known about a page."""

    country: str | None
    depth: int | None
    http_status: int | None
    fetched_at: datetime | None


@router.get("", summary="Pages, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_pages(
    query: Annotated[PageQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[PageSummary]:
    """Your own, filtered and sorted; `text` is how the address begins, with its https://."""
    return await list_page(application, actor, PAGES, PageSummary, query)


@router.get("/{id}", summary="One page", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_page(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> PageDetail:
    """With its queues, and the rows before and after it on the line."""
    return PageDetail.model_validate(await row_detail(application, actor, PAGES, row_id))


@router.post(
    "/curation",
    summary="Decide about pages",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_pages(
    body: PageDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the reading of the page, any other word takes waiting work back."""
    return await curate(application, actor, PAGES, body, key)
