"""Sitemaps: the files that list a site's pages, and the gate before their import."""

from datetime import datetime
from typing import Annotated, Literal
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
from scrapersky.store.listing.resources import SITEMAPS

router = APIRouter(prefix="/sitemaps", tags=["sitemaps"], responses=problems(422, 503))

SitemapWord = Literal["urlset", "index", "text", "rss", "atom", "links"]


class SitemapFilter(RequestModel):
    """Which sitemaps are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    sitemap_import_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    domain_id: UUID | None = Field(None, description="only of this domain")
    kind: SitemapWord | None = Field(None, description="only of this kind; `links` is a home page in place of one")
    text: Text | None = Field(None, description="how the address begins, with its https://")


SitemapDecision = Selection[CurateIds, CurateMatching[SitemapFilter]]


class SitemapQuery(SitemapFilter, ListQuery):
    """Which sitemaps, in which order."""

    sort: ByUpdate = "-updated_at"


class SitemapSummary(CuratedSummary):
    """A file that lists pages."""

    domain_id: UUID
    url: str
    kind: str | None
    discovered_by: str | None
    url_count: int | None
    size_bytes: int | None
    last_modified: datetime | None
    sitemap_import_status: Status
    sitemap_import_error: str | None


class SitemapDetail(SitemapSummary, Detail):
    """All that is known about a sitemap."""

    parent_id: UUID | None
    partial_reason: str | None


@router.get("", summary="Sitemaps, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_sitemaps(
    query: Annotated[SitemapQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[SitemapSummary]:
    """Your own, filtered and sorted; `text` is how the address begins, with its https://."""
    return await list_page(application, actor, SITEMAPS, SitemapSummary, query)


@router.get("/{id}", summary="One sitemap", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_sitemap(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SitemapDetail:
    """With its queues, and the rows before and after it on the line."""
    return SitemapDetail.model_validate(await row_detail(application, actor, SITEMAPS, row_id))


@router.post(
    "/curation",
    summary="Decide about sitemaps",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_sitemaps(
    body: SitemapDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the import, any other word takes waiting work back."""
    return await curate(application, actor, SITEMAPS, body, key)
