"""Domains: the web sites of the businesses, and the gate before their pages."""

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
    Listing,
    ListQuery,
    RowId,
    list_page,
    row_detail,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.resources import DOMAINS

router = APIRouter(prefix="/domains", tags=["domains"], responses=problems(422, 503))


class DomainFilter(RequestModel):
    """Which domains are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    domain_metadata_status: Status | None = Field(None, description="only in this state of the queue")
    sitemap_analysis_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    text: Text | None = Field(None, description="how the domain begins, in small letters")


DomainDecision = Selection[CurateIds, CurateMatching[DomainFilter]]


class DomainQuery(DomainFilter, ListQuery):
    """Which domains, in which order."""

    sort: ByName = "-updated_at"


class DomainSummary(CuratedSummary):
    """The web site of one business or of several."""

    search_id: UUID | None
    name: str
    unicode_name: str | None
    country: str | None
    title: str | None
    language: str | None
    generator: str | None
    http_status: int | None
    sitemap_result: str | None
    sitemap_reason: str | None
    domain_metadata_status: Status
    domain_metadata_error: str | None
    sitemap_analysis_status: Status
    sitemap_analysis_error: str | None


class DomainDetail(DomainSummary, Detail):
    """All that is known about a domain."""

    start_url: str | None
    final_url: str | None
    description: str | None
    favicon: str | None
    logo: str | None
    technologies: list[str]
    facts: dict[str, Any] | None


@router.get("", summary="Domains, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_domains(
    query: Annotated[DomainQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[DomainSummary]:
    """Your own, filtered and sorted; `text` is how the domain begins, in small letters."""
    return await list_page(application, actor, DOMAINS, DomainSummary, query)


@router.get("/{id}", summary="One domain", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_domain(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DomainDetail:
    """With its queues, and the rows before and after it on the line."""
    return DomainDetail.model_validate(await row_detail(application, actor, DOMAINS, row_id))


@router.post(
    "/curation",
    summary="Decide about domains",
    response_model=CurationResult,
    responses=CURATION_RESPONSES,
    openapi_extra=requires(CURATOR),
)
async def curate_domains(
    body: DomainDecision, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Selected queues the metadata, or the sitemap analysis where that is done; any other word takes both back."""
    return await curate(application, actor, DOMAINS, body, key)
