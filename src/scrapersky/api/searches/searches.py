"""Searches: request one, estimate its cost, follow its progress, read its results, cancel it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.actions.searches import cancel_search as cancellation
from scrapersky.actions.searches import request_search
from scrapersky.actions.searches.request_search import SearchCost
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.resources.history import add_history_route
from scrapersky.api.resources.routes import ApiResource, add_list_route, empty_router
from scrapersky.api.resources.rows import queue_states
from scrapersky.api.schemas.fields import PREFIX, Count, Number, RequestModel, ResponseModel, RowId
from scrapersky.api.schemas.listing import QueueStates, Summary
from scrapersky.api.searches.areas import AreaCandidate, WhereParts, given_where, places_to_choose
from scrapersky.core.errors import Conflict
from scrapersky.core.text_rules import Text
from scrapersky.core.vocabularies import CAMPAIGN, HiddenReason, Status
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.models import Search
from scrapersky.providers.areas.read_search import MAX_NAMES
from scrapersky.providers.registry import DECLARED, DEFAULT_PROVIDER, read_search
from scrapersky.store.accounts import users
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import SEARCHES as RESOURCE
from scrapersky.store.listing.resources import Word
from scrapersky.store.searches import snapshot
from scrapersky.store.searches.request import SearchRequest
from scrapersky.store.steps import PAGE_KINDS, STEPS, AdvanceRules

MAX_RESULTS = 1_000_000
ListedRows = Literal["contacts", "with_email", "with_phone", "with_name", "with_name_or_email", "businesses", "domains"]


class RequestedRules(AdvanceRules):
    """Which rows advance to each step without a person's selection: none, all, or those that fit."""

    page_kinds: tuple[PageKind, ...] = Field(
        tuple(PageKind(kind) for kind in PAGE_KINDS),
        max_length=len(PageKind),
        description="with `kinds`: the kinds of pages that are read",
    )
    pages_per_site: Annotated[int, Number] = Field(5, ge=0, le=1000, description="how many pages of one site are read")


class NewSearch(RequestModel):
    """What to search for, where, and what it may cost."""

    text: Text = Field(description="what to search for: `dentists`, or `dentists in Helsinki`", examples=["dentists"])
    area: Text | None = Field(None, description="where to search: `Helsinki`", examples=["Helsinki"])
    where: WhereParts | None = Field(None, description="instead of `area`: towns, a circle, a box or a polygon")
    provider: Word = Field(DEFAULT_PROVIDER, description=f"the provider: {', '.join(DECLARED)}", examples=["osm"])
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS), Number] | None = Field(
        None, description="the maximum number of places", examples=[60]
    )
    budget: Annotated[float, Field(ge=0, le=1_000_000), Number] | None = Field(
        None,
        description="what the search may cost in the provider's currency; it stops before it would cost more",
        examples=[2.5],
    )
    rules: RequestedRules = Field(RequestedRules(), description="which rows advance automatically")
    refresh: bool = Field(
        False, strict=True, description="search again although the same search was completed", examples=[False]
    )
    estimate_only: bool = Field(
        False, strict=True, description="return the estimate only; do not create the search", examples=[False]
    )


class CostEstimate(BaseModel):
    """The estimated maximum cost of a search, including details that an earlier run has left."""

    calls: Count | None = Field(description="calls to the provider; empty: no estimate", examples=[3])
    cents: Count | None = Field(
        description="their cost in cents of the provider's currency; empty: no estimate", examples=[10]
    )
    explanation: str = Field(
        description="how the estimate was computed, or why there is none",
        examples=["3 pages of 20 places at 3.2 cents"],
    )


class SearchSummary(Summary):
    """A search and its results so far."""

    name: str | None = Field(description="a name that a person gave it", examples=["Dentists of Finland"])
    text: str = Field(description="what was searched for", examples=["dentists"])
    area: str | None = Field(description="where it was searched", examples=["Helsinki"])
    area_request: dict[str, Any] | None = Field(
        description="what `area` alone does not tell: several names, the country, a circle, a box, a polygon",
        examples=[{"names": ["Springfield"], "country": "US"}],
    )
    area_found: list[dict[str, Any]] | None = Field(
        max_length=MAX_NAMES,
        description="the areas on the map that were searched; empty until they are known",
        examples=[[{"name": "Helsinki, Uusimaa, Suomi", "country": "FI", "edges": [59.9, 24.8, 60.3, 25.3]}]],
    )
    provider: str = Field(description="where the places come from; `campaign` for a campaign", examples=["osm"])
    campaign_id: UUID | None = Field(description="the campaign that pays for it, if one does")
    result_limit: Count | None = Field(description="the maximum number of places; empty: all", examples=[60])
    budget_cents: Count | None = Field(
        description="what the search may cost in cents; empty: twice its estimate", examples=[250]
    )
    cost_cents: Count = Field(description="the cost of all calls so far, including details", examples=[10])
    call_count: Count = Field(description="calls to the provider so far, including free ones", examples=[3])
    details_count: Count = Field(description="calls for the details of one place", examples=[0])
    details_cents: Count = Field(description="the cost of calls for details", examples=[0])
    result_count: Count = Field(description="places found so far", examples=[58])
    stopped_by_budget: bool = Field(
        description="the provider has more places: a larger budget continues", examples=[False]
    )
    notes: str | None = Field(
        description="what the result lacks, or how the request was read",
        examples=["“dentists in Helsinki” was read as dentists, in Helsinki."],
    )
    cancelled_by: str | None = Field(description="the name of the person who cancelled it", examples=["ada"])
    place_search_status: Status = Field(
        description="the status of the search itself; its later steps are in `steps` of one search"
    )
    place_search_error: str | None = Field(
        description="why the search waits, was skipped or failed",
        examples=["the provider answered 429: its quota is used up"],
    )


class ProgressSummary(ResponseModel):
    """The progress of a search at one moment."""

    counted_at: datetime = Field(description="when the rows were counted", examples=["2026-11-15T14:03:20Z"])
    is_done: bool = Field(description="no work is left", examples=[False])
    share_done: float = Field(
        description="the share of its rows that have finished the step they are in, 0 to 1", examples=[0.62]
    )
    first_contact_at: datetime | None = Field(
        description="when its first contact was found", examples=["2026-11-15T14:01:02Z"]
    )
    left_out: dict[Literal["rejected", "suppressed", "merged"], Count] = Field(
        description="contacts that its files leave out: people rejected them, a suppression withholds them, or they "
        "were merged into others",
        examples=[{"rejected": 3}],
    )
    found: dict[str, Count] = Field(
        description="the number of contacts, and of distinct email addresses, phone numbers, people and domains",
        examples=[{"contacts": 264, "emails": 145, "phones": 98, "people": 119, "domains": 57}],
    )
    listed: dict[ListedRows, Count] = Field(
        description="the number of rows of its lists: contacts, those with an email address, a phone number or a "
        "person's name, people and mailboxes (with a name or an email address), businesses and domains",
        examples=[{"contacts": 264, "with_email": 150, "with_phone": 120, "with_name": 119}],
    )
    hidden: dict[HiddenReason, Count] = Field(
        description="the number of sites that gave no contact because they show nothing to a plain reader, by reason",
        examples=[{"javascript": 12, "bot_check": 3}],
    )
    undecided: dict[str, Count] = Field(
        description="rows that wait for the decision of a person, by the step they would enter, up to 10,000 each",
        examples=[{"deep_scan": 12}],
    )


class ListedSearch(SearchSummary):
    """A search of the list, with its progress."""

    progress: ProgressSummary | None = Field(
        description="its latest snapshot; empty until it was counted, a few searches per request",
        examples=[
            {
                "counted_at": "2026-11-15T14:03:20Z",
                "is_done": False,
                "share_done": 0.62,
                "first_contact_at": "2026-11-15T14:01:02Z",
                "left_out": {},
                "found": {},
                "listed": {},
                "hidden": {},
                "undecided": {},
            }
        ],
    )


class SearchResponse(BaseModel):
    """The estimate, how the request was read, and the search."""

    estimate: CostEstimate = Field(description="what the search may cost at most")
    text: str = Field(description="what is searched for, as the request was read", examples=["dentists"])
    area: str | None = Field(description="where it is searched, as the request was read", examples=["Helsinki"])
    search: SearchSummary | None = Field(description="the search; with `estimate_only` the same one, if it exists")
    known: bool = Field(
        description="the same search existed; unless `estimate_only` was set it has the new rules now",
        examples=[False],
    )


class ContinueSearch(RequestModel):
    """What a search may cost and which rows advance from now on."""

    budget: Annotated[float, Field(ge=0, le=1_000_000), Number] | None = Field(
        None, description="what it may cost in the provider's currency; left out: as before", examples=[5]
    )
    rules: RequestedRules | None = Field(
        None, description="which rows advance automatically; left out: as before, or as before it was cancelled"
    )


class IsCampaign(Conflict):
    """This is a campaign."""


class StepProgress(BaseModel):
    """The rows of this search in one step."""

    workflow: str = Field(description="the name of the step's workflow", examples=["deep_scan"])
    waiting: Count = Field(description="rows that are queued", examples=[12])
    working: Count = Field(description="rows that a worker processes now", examples=[2])
    completed: Count = Field(description="rows that went through the step", examples=[40])
    skipped: Count = Field(description="rows that the step does not fit", examples=[4])
    failed: Count = Field(description="rows that failed for good: dead letters", examples=[0])


class SearchReason(ResponseModel):
    """A reason why rows were skipped, failed or postponed."""

    workflow: str = Field(description="the step in which it occurred", examples=["domain_metadata"])
    status: str = Field(description="Skipped, Error or Queued", examples=["Skipped"])
    reason: str = Field(description="the reason, as the rows have it", examples=["robots.txt forbids the site"])
    rows: Count = Field(description="how many rows have this reason", examples=[4])
    until: datetime | None = Field(
        description="when the first postponed row is tried again", examples=["2026-11-15T14:09:00Z"]
    )


class SearchWait(ResponseModel):
    """Rows of a step that are queued for a later time."""

    workflow: str = Field(description="the step", examples=["page_curation"])
    rows: Count = Field(description="the number of rows", examples=[4])
    until: datetime = Field(description="the earliest of their times", examples=["2026-11-15T14:09:00Z"])
    reason: str = Field(description="why the first of them waits", examples=["robots.txt could not be read"])


class SearchDetail(SearchSummary, ProgressSummary):
    """A search with the progress of each step, counted at most once per second."""

    requested_by: str | None = Field(description="the name of the person who requested it first", examples=["ada"])
    rules: dict[str, Any] | None = Field(
        description="which rows advance without a person, by step",
        examples=[{"deep_scan": "all", "page_curation": "kinds", "pages_per_site": 5}],
    )
    queues: QueueStates = Field(description="its state in the queue of searches, under the name of the queue")
    steps: list[StepProgress] = Field(max_length=len(STEPS), description="in the order of the pipeline")
    reasons: list[SearchReason] = Field(description="the most frequent first")
    waits: list[SearchWait] = Field(max_length=len(STEPS), description="what its steps wait for, the earliest first")
    hidden: dict[HiddenReason, Count] = Field(
        description="the number of sites that gave no contact because they show nothing to a plain reader, by reason",
        examples=[{"javascript": 12, "bot_check": 3}],
    )


class SearchCancelled(BaseModel):
    """The work that was withdrawn."""

    withdrawn: dict[str, Count] = Field(
        description="queued rows of each step; rows that are processing are finished", examples=[{"deep_scan": 12}]
    )


async def with_progress(session: AsyncSession, rows: Sequence[Any]) -> Mapping[UUID, Mapping[str, Any]]:
    """Return the progress of the searches of a page."""
    found = await snapshot.of_list(session, [row.id for row in rows])
    return {row.id: {"progress": found.get(row.id)} for row in rows}


SEARCHES = ApiResource(RESOURCE, "search", ListedSearch, SearchDetail, complete=with_progress)
router = empty_router(SEARCHES)
add_list_route(router, SEARCHES)


@dataclass(frozen=True)
class AreaQuestion:
    """The area of a request may be several places: what is searched for, the name, and the places to choose from."""

    what: str
    name: str
    radius_metres: float | None  # around the place
    places: Sequence[AreaCandidate]


async def area_question(body: NewSearch, application: WebApplication) -> AreaQuestion | None:
    """Return what a person has to choose before this request can be made; None if its area is clear."""
    declared = DECLARED.get(body.provider)
    if declared is None or not declared.needs_area:
        return None
    what, where = read_search(body.text, given_where(body.area, body.where), body.provider)
    places = await places_to_choose(application, where)
    return AreaQuestion(what, where.names[0], where.radius_metres, places) if places else None


@router.post(
    "",
    status_code=201,
    summary="Request a search",
    **requires(
        CURATOR,
        responses={
            **problems(400),
            200: {"model": SearchResponse, "description": "The search existed, or `estimate_only` was set."},
        },
    ),
)
async def create_search(
    body: NewSearch, application: CurrentApplication, actor: CurrentActor, response: Response
) -> SearchResponse:
    """Create a search and queue it, or give the same existing search the new rules and budget. 429 over a quota.

    A search that ended because its budget was spent continues with a larger budget.
    """
    cents = round(body.budget * 100) if body.budget is not None else None
    rules = AdvanceRules.model_validate(body.rules.model_dump(mode="json"))
    what, where = read_search(body.text, given_where(body.area, body.where), body.provider)
    request = SearchRequest(what, where, body.provider, body.limit, cents, rules)
    cost = await request_search.estimate(application.providers, request)
    async with application.database.session(actor.tenant_id) as session:
        if body.estimate_only:
            response.status_code = 200
            same, total = await request_search.rehearse(session, actor, request, cost)
            return _as_response(request, same, same is not None, total)
        search, known, total = await request_search.request_search(session, actor, request, body.refresh, cost)
        answer = _as_response(request, search, known, total)
        response.headers["Location"] = f"{PREFIX}/searches/{search.id}"
    response.status_code = 200 if known else 201
    return answer


@router.get("/{id}", summary="One search", **requires(VIEWER, 404))
async def get_search(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchDetail:
    """Return the progress of each step, the reasons why rows were left out, and what was found so far.

    The rows are counted for one reader at a time, at most once per second, and less often if counting takes long.
    """
    async with application.database.session(actor.tenant_id) as session:
        return await read_detail(session, await paginate.get(session, RESOURCE, actor.tenant_id, row_id))


async def read_detail(session: AsyncSession, search: Search) -> SearchDetail:
    """Return a search or a campaign with its progress."""
    counted = await snapshot.current(session, search)
    person = await users.name_of(session, search.requested_by) if search.requested_by else None
    return SearchDetail(
        **SearchSummary.model_validate(search).model_dump(),
        **ProgressSummary.model_validate(counted).model_dump(),
        requested_by=person,
        rules=search.rules,
        queues=queue_states(RESOURCE, search),
        steps=[StepProgress(**vars(step)) for step in counted.steps],
        reasons=[
            SearchReason(workflow=one.step, status=one.status, reason=one.reason, rows=one.rows, until=one.until)
            for one in counted.reasons
        ],
        waits=[SearchWait.model_validate(wait) for wait in counted.waits],
    )


add_history_route(router, RESOURCE, "search")


@router.post("/{id}/cancel", summary="Cancel a search", **requires(CURATOR, 404))
async def cancel_search(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchCancelled:
    """Withdraw its queued work and turn its rules off. Requesting the search again restores the rules."""
    async with application.database.session(actor.tenant_id) as session:
        return SearchCancelled(withdrawn=await cancellation.cancel(session, actor, row_id))


@router.post("/{id}/continue", summary="Continue a search", **requires(CURATOR, 400, 404, 409))
async def continue_search(
    row_id: RowId, body: ContinueSearch, application: CurrentApplication, actor: CurrentActor
) -> SearchResponse:
    """Continue a cancelled search, or give a search another budget or other rules. 429 over a quota.

    A search that ended because its budget was spent continues with a larger budget; rows that were withdrawn are queued
    again.
    """
    async with application.database.session(actor.tenant_id) as session:
        search = await paginate.get(session, RESOURCE, actor.tenant_id, row_id)
        if search.provider == CAMPAIGN:
            raise IsCampaign(f"Use POST {PREFIX}/campaigns/{row_id}/continue.")
        request = await request_search.same_request(session, actor, row_id)
    if body.budget is not None:
        request = replace(request, budget_cents=round(body.budget * 100))
    if body.rules is not None:
        request = replace(request, rules=AdvanceRules.model_validate(body.rules.model_dump(mode="json")))
    cost = await request_search.estimate(application.providers, request)
    async with application.database.session(actor.tenant_id) as session:
        search, known, total = await request_search.request_search(session, actor, request, cost=cost)
        return _as_response(request, search, known, total)


def _as_response(request: SearchRequest, search: Search | None, known: bool, cost: SearchCost) -> SearchResponse:
    summary = SearchSummary.model_validate(search) if search else None
    return SearchResponse(estimate=as_estimate(cost), text=request.text, area=request.area, search=summary, known=known)


def as_estimate(cost: SearchCost) -> CostEstimate:
    """Return the estimate of a cost, or why there is none."""
    if cost.estimate is None:
        return CostEstimate(calls=None, cents=None, explanation=f"There is no estimate now: {cost.why_unknown}")
    return CostEstimate(calls=cost.estimate.calls, cents=cost.estimate.cents, explanation=cost.estimate.explanation)
