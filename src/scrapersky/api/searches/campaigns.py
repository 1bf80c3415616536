"""Campaigns: many searches with one progress, one budget and one file; stopped and continued as a whole."""

from collections.abc import Collection
from typing import Annotated

from fastapi import Response
from pydantic import BaseModel, Field, WithJsonSchema

from scrapersky.actions.searches import campaigns as actions
from scrapersky.actions.searches.campaign_queries import QueryDefaults, RejectedQuery, WrittenQuery, read_queries
from scrapersky.actions.searches.campaigns import BadCampaign, CampaignRequest
from scrapersky.actions.searches.cancel_search import cancel
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.resources.routes import ApiResource, add_list_route, empty_router
from scrapersky.api.schemas.fields import PREFIX, Count, Number, RequestModel, ResponseModel, RowId
from scrapersky.api.searches.areas import given_where
from scrapersky.api.searches.searches import (
    MAX_RESULTS,
    ContinueSearch,
    CostEstimate,
    ListedSearch,
    RequestedRules,
    SearchCancelled,
    SearchDetail,
    SearchSummary,
    as_estimate,
    read_detail,
    with_progress,
)
from scrapersky.core.text_rules import AnyText, Text
from scrapersky.providers.registry import DECLARED, DEFAULT_PROVIDER
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import CAMPAIGNS as RESOURCE
from scrapersky.store.listing.resources import Word
from scrapersky.store.searches import campaigns
from scrapersky.store.steps import AdvanceRules

MAX_QUERIES = 2_000  # of one request


_LIMIT = WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 1_000_000})  # described, not checked


class CampaignQuery(RequestModel):
    """One search of a campaign. A value that cannot be used puts this search alone into `rejected`."""

    what: AnyText = Field(description="what to search for: `dentists`, or `dentists in Turku`", examples=["dentists"])
    where: AnyText | None = Field(None, description="where to search; left out: as for all", examples=["Turku"])
    country: AnyText | None = Field(None, description="the country of `where`: name or two letters", examples=["FI"])
    provider: AnyText | None = Field(None, description="the provider; left out: as for all", examples=["osm"])
    limit: Annotated[int, Number, _LIMIT] | None = Field(
        None, description="the maximum number of places, 1 to 1,000,000; left out: as for all", examples=[60]
    )


class NewCampaign(RequestModel):
    """The searches of a campaign, and what they may cost together."""

    name: Text | None = Field(None, description="a name for people", examples=["Dentists of Finland"])
    queries: Annotated[list[CampaignQuery], Field(min_length=1, max_length=MAX_QUERIES)] = Field(
        description="the searches; equal ones are made once"
    )
    where: Text | None = Field(None, description="where to search, for queries without `where`", examples=["Helsinki"])
    provider: Word = Field(
        DEFAULT_PROVIDER, description=f"for queries without one: {', '.join(DECLARED)}", examples=["osm"]
    )
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS), Number] | None = Field(
        None, description="the maximum number of places, for queries without one", examples=[60]
    )
    budget: Annotated[float, Field(ge=0, le=1_000_000), Number] | None = Field(
        None, description="what all searches together may cost; left out: twice the estimate", examples=[20]
    )
    rules: RequestedRules = Field(RequestedRules(), description="which rows advance automatically")
    refresh: bool = Field(False, strict=True, description="make all searches again", examples=[False])


class RejectedLine(ResponseModel):
    """A query that is not part of the campaign."""

    line: Count = Field(description="its position in `queries`, from 1", examples=[3])
    query: str = Field(description="what was to be searched for", examples=["dentists"])
    reason: str = Field(description="why it cannot be made", examples=["The area is missing."])


class SearchCounts(ResponseModel):
    """The searches of a campaign by their state."""

    searches: Count = Field(description="all of them", examples=[120])
    waiting: Count = Field(description="searches that are queued", examples=[20])
    working: Count = Field(description="searches that a worker makes now", examples=[2])
    completed: Count = Field(description="searches that were made", examples=[97])
    skipped: Count = Field(description="searches that cannot be made, such as of an unknown area", examples=[1])
    failed: Count = Field(description="searches that failed for good", examples=[0])
    stopped_by_budget: Count = Field(
        description="of the completed ones those that the budget ended: a larger budget continues them", examples=[0]
    )
    places: Count = Field(description="places that they found, each once", examples=[4180])
    businesses: Count = Field(
        description="businesses of these places: one may be several places, of several providers", examples=[3920]
    )


class CampaignResponse(BaseModel):
    """The campaign, its estimate, and the queries that are not part of it."""

    campaign: SearchSummary = Field(description="the campaign")
    estimate: CostEstimate = Field(description="what all searches together may cost at most")
    searches: SearchCounts = Field(description="its searches by their state")
    rejected: list[RejectedLine] = Field(max_length=MAX_QUERIES, description="queries that cannot be made")
    known: bool = Field(description="the same campaign existed, and continues", examples=[False])


class CampaignDetail(SearchDetail):
    """A campaign with the progress of all its searches."""

    searches: SearchCounts = Field(description="its searches by their state")


API_CAMPAIGNS = ApiResource(
    RESOURCE,
    "campaign",
    ListedSearch,
    CampaignDetail,
    list_description="The campaigns of your tenant. `GET /api/v3/searches?campaign_id=…` lists the searches of one.",
    complete=with_progress,
)
router = empty_router(API_CAMPAIGNS)
add_list_route(router, API_CAMPAIGNS)


@router.post(
    "",
    status_code=201,
    summary="Request a campaign",
    **requires(
        CURATOR,
        responses={**problems(400), 200: {"model": CampaignResponse, "description": "The campaign existed."}},
    ),
)
async def create_campaign(
    body: NewCampaign, application: CurrentApplication, actor: CurrentActor, response: Response
) -> CampaignResponse:
    """Make many searches as one campaign, or continue the same one. 429 over a quota.

    A query that cannot be made is left out and named in `rejected`; 422 if none can be made.
    """
    request, rejected = read_campaign(body, application.providers)
    cost = await actions.estimate(application.providers, request)
    async with application.database.session(actor.tenant_id) as session:
        campaign, known, total = await actions.request_campaign(session, actor, request, body.refresh, cost)
        answer = CampaignResponse(
            campaign=SearchSummary.model_validate(campaign),
            estimate=as_estimate(total),
            searches=SearchCounts.model_validate(await campaigns.counts(session, campaign.id)),
            rejected=[RejectedLine.model_validate(one) for one in rejected],
            known=known,
        )
        response.headers["Location"] = f"{PREFIX}/campaigns/{campaign.id}"
    response.status_code = 200 if known else 201
    return answer


async def estimate_campaign(body: NewCampaign, application: WebApplication) -> tuple[int, CostEstimate]:
    """Return how many searches the campaign has, and what they may cost together. Raises BadCampaign."""
    request, _ = read_campaign(body, application.providers)
    return len(request.searches), as_estimate(await actions.estimate(application.providers, request))


def read_campaign(body: NewCampaign, providers: Collection[str]) -> tuple[CampaignRequest, list[RejectedQuery]]:
    """Return the searches of a request for these providers, and the queries that cannot be made.

    Raises BadCampaign if none can.
    """
    rules = AdvanceRules.model_validate(body.rules.model_dump(mode="json"))
    written = [
        WrittenQuery(
            line,
            one.what,
            one.where or "",
            one.provider or "",
            "" if one.limit is None else str(one.limit),
            one.country or "",
        )
        for line, one in enumerate(body.queries, 1)
    ]
    defaults = QueryDefaults(rules, body.provider, given_where(body.where, None), body.limit)
    found, rejected = read_queries(written, defaults, providers)
    if not found:
        raise BadCampaign(f"No query can be made; {rejected[0]}")
    cents = round(body.budget * 100) if body.budget is not None else None
    return CampaignRequest.of(found, rules, body.name, cents), rejected


@router.get("/{id}", summary="One campaign", **requires(VIEWER, 404))
async def get_campaign(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> CampaignDetail:
    """Return the progress of all its searches together; the rows are counted at most once per second."""
    async with application.database.session(actor.tenant_id) as session:
        campaign = await paginate.get(session, RESOURCE, actor.tenant_id, row_id)
        detail = await read_detail(session, campaign)
        counts = SearchCounts.model_validate(await campaigns.counts(session, row_id))
    return CampaignDetail(**detail.model_dump(), searches=counts)


@router.post("/{id}/stop", summary="Stop a campaign", **requires(CURATOR, 404))
async def stop_campaign(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchCancelled:
    """Withdraw the queued work of all its searches. Rows that are processing are finished; nothing is lost."""
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, RESOURCE, actor.tenant_id, row_id)
        return SearchCancelled(withdrawn=await cancel(session, actor, row_id))


@router.post("/{id}/continue", summary="Continue a campaign", **requires(CURATOR, 400, 404))
async def continue_campaign(
    row_id: RowId, body: ContinueSearch, application: CurrentApplication, actor: CurrentActor
) -> CampaignDetail:
    """Continue a stopped campaign, or give it another budget or other rules. 429 over a quota.

    Searches that the budget had ended continue where they stopped.
    """
    cents = round(body.budget * 100) if body.budget is not None else None
    rules = AdvanceRules.model_validate(body.rules.model_dump(mode="json")) if body.rules is not None else None
    async with application.database.session(actor.tenant_id) as session:
        await actions.continue_campaign(session, actor, row_id, cents, rules)
    return await get_campaign(row_id, application, actor)


class NewName(RequestModel):
    """A name for people."""

    name: Text | None = Field(None, description="the name; left out: none", examples=["Dentists of Finland"])


@router.post("/{id}/rename", summary="Rename a campaign", **requires(CURATOR, 400, 404))
async def rename_campaign(
    row_id: RowId, body: NewName, application: CurrentApplication, actor: CurrentActor
) -> SearchSummary:
    """Give a campaign a name for people."""
    async with application.database.session(actor.tenant_id) as session:
        await paginate.get(session, RESOURCE, actor.tenant_id, row_id)
        return SearchSummary.model_validate(await actions.rename(session, actor, row_id, body.name))
