"""Domains: the web sites of the businesses, and the gate before their pages."""

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
from scrapersky.api.schemas.listing import ByName, CuratedSummary, Detail, Listing, ListQuery, RowId, page_of, story_of
from scrapersky.api.schemas.selection import Either
from scrapersky.core.vocabularies import Curation, Status
from scrapersky.store.listing.resources import DOMAINS

router = APIRouter(prefix="/domains", tags=["domains"], responses=answers(422, 503))


class DomainFilter(RequestModel):
    """Which domains are meant; nothing set means all of yours."""

    curation_status: Curation | None = Field(None, description="only with this decision")
    domain_metadata_status: Status | None = Field(None, description="only in this state of the queue")
    sitemap_analysis_status: Status | None = Field(None, description="only in this state of the queue")
    search_id: UUID | None = Field(None, description="only of this search")
    text: Text | None = Field(None, description="how the domain begins, in small letters")


DomainDecision = Either[CurateIds, CurateMatching[DomainFilter]]


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


@router.get("", summary="Domains, the latest first", responses=answers(400), openapi_extra=may(VIEWER))
async def list_domains(
    query: Annotated[DomainQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[DomainSummary]:
    """Your own, filtered and sorted; `text` is how the domain begins, in small letters."""
    return await page_of(application, actor, DOMAINS, DomainSummary, query)


@router.get("/{id}", summary="One domain", responses=answers(404), openapi_extra=may(VIEWER))
async def get_domain(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DomainDetail:
    """With its queues, and the rows before and after it on the line."""
    return DomainDetail.model_validate(await story_of(application, actor, DOMAINS, row_id))


@router.post(
    "/curation",
    summary="Decide about domains",
    response_model=CurationAnswer,
    responses=CURATION_ANSWERS,
    openapi_extra=may(CURATOR),
)
async def curate_domains(
    asked: DomainDecision, application: CurrentApplication, actor: CurrentActor, key: Key = None
) -> JSONResponse:
    """Selected queues the metadata, or the sitemap analysis where that is done; any other word takes both back."""
    return await curate(application, actor, DOMAINS, asked, key)
