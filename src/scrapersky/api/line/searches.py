"""Searches: ask for one, see what it will cost, watch it step by step, read what it found, stop it."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, BeforeValidator, Field

from scrapersky.actions import cancel_search as cancellation
from scrapersky.actions import request_search
from scrapersky.actions.request_search import SearchCost
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResultPage, Text
from scrapersky.api.schemas.listing import (
    PREFIX,
    ByUpdate,
    Identifier,
    Listing,
    ListQuery,
    QueueState,
    RowId,
    Summary,
    list_page,
    queue_states,
)
from scrapersky.core.vocabularies import Status
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.providers.registry import DECLARED, DEFAULT_PROVIDER, read_search
from scrapersky.store.leads import read as leads
from scrapersky.store.leads.read import Per, Position
from scrapersky.store.leads.statements import PAGES
from scrapersky.store.line.steps import PAGE_KINDS, AdvanceRules
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import SEARCHES
from scrapersky.store.searches import progress as search_progress
from scrapersky.store.searches import results as search_results
from scrapersky.store.searches.request import SearchRequest

router = APIRouter(prefix="/searches", tags=["searches"], responses=problems(422, 503))

MAX_RESULTS = 1_000_000


def _number(given: object) -> object:
    if given is not None and type(given) not in (int, float):
        raise ValueError("must be a number, not text and not true or false")
    return given


class RequestedRules(AdvanceRules):
    """For each step: nothing, everything, or what fits goes on to it without a person's choice."""

    page_kinds: tuple[PageKind, ...] = Field(tuple(PageKind(kind) for kind in PAGE_KINDS), max_length=len(PageKind))
    pages_per_site: Annotated[int, BeforeValidator(_number)] = Field(5, ge=0, le=1000)


class NewSearch(RequestModel):
    """What to look for, where, and what it may cost."""

    text: Text = Field(description="what: `dentists`, or `dentists in Helsinki`")
    area: Text | None = Field(None, description="where: `Helsinki`")
    provider: Identifier = Field(DEFAULT_PROVIDER, description=f"the provider: {', '.join(DECLARED)}")
    limit: Annotated[int, BeforeValidator(_number)] | None = Field(
        None, ge=1, le=MAX_RESULTS, description="how many places at most"
    )
    budget: Annotated[float, BeforeValidator(_number)] | None = Field(
        None, ge=0, le=1_000_000, description="what it may cost in the provider's currency: it stops before"
    )
    rules: RequestedRules = Field(RequestedRules(), description="what goes on by itself")
    refresh: bool = Field(False, strict=True, description="search again although it was done before")
    estimate_only: bool = Field(False, strict=True, description="say what it would cost, and ask nobody")


class CostEstimate(BaseModel):
    """What a search will probably cost, at most, with what is left to look up of an earlier one."""

    calls: int | None
    cents: int | None
    explanation: str


class SearchSummary(Summary):
    """A search as it was asked for, and what came of it."""

    text: str
    area: str | None
    provider: str
    result_limit: int | None
    budget_cents: int | None
    cost_cents: int = Field(description="of all calls so far, details included")
    call_count: int = Field(description="calls to the provider so far, free ones included")
    details_count: int = Field(description="how many of the calls were for details of one place")
    details_cents: int = Field(description="how much of the cost was for them")
    result_count: int
    cut_short: str | None = Field(description="why it ended early")
    place_search_status: Status
    place_search_error: str | None


class SearchResponse(BaseModel):
    """The estimate, and the search unless only that was wanted."""

    estimate: CostEstimate
    search: SearchSummary | None
    known: bool = Field(description="the same was asked for before: that search is shown, its rules are the new ones")


class StepProgress(BaseModel):
    """How the rows of one step stand for this search."""

    workflow: str
    waiting: int
    working: int
    completed: int
    skipped: int
    failed: int


class StepReason(BaseModel):
    """Why rows were skipped or given up."""

    workflow: str
    status: str
    reason: str
    rows: int


class SearchDetail(SearchSummary):
    """A search step by step."""

    rules: dict[str, Any] | None
    queues: dict[str, QueueState]
    steps: list[StepProgress] = Field(description="in the order of the line")
    is_done: bool = Field(description="nothing is left to do")
    reasons: list[StepReason] = Field(description="the commonest first")
    found: dict[str, int] = Field(description="contacts in all, and distinct addresses, numbers, people, domains")


class SearchQuery(ListQuery):
    """Which searches, in which order."""

    sort: ByUpdate = "-updated_at"
    provider: Identifier | None = Field(None, description="only of this provider")
    place_search_status: Status | None = Field(None, description="only in this state of the queue")


class SearchCancelled(BaseModel):
    """What was taken back."""

    taken_back: dict[str, int] = Field(description="waiting rows of each step; those in hand are finished")


@router.get("", summary="Searches, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_searches(
    query: Annotated[SearchQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[SearchSummary]:
    """Your own, filtered by provider and state."""
    return await list_page(application, actor, SEARCHES, SearchSummary, query)


@router.post(
    "",
    status_code=201,
    summary="Ask for a search",
    responses={
        **problems(400),
        200: {"model": SearchResponse, "description": "It was there, or only the cost was asked."},
    },
    openapi_extra=requires(CURATOR),
)
async def create_search(
    body: NewSearch, application: CurrentApplication, actor: CurrentActor, response: Response
) -> SearchResponse:
    """Queued at once; the same again is the one that is there, with the new rules and budget. 429 over a quota.

    One that ended for want of money goes on with a larger budget.
    """
    cents = round(body.budget * 100) if body.budget is not None else None
    rules = AdvanceRules.model_validate(body.rules.model_dump(mode="json"))
    what, where = read_search(body.text, body.area, body.provider)
    request = SearchRequest(what, where, body.provider, body.limit, cents, rules)
    cost = await request_search.estimate(application.providers, request)
    async with application.database.session(actor.tenant_id) as session:
        if body.estimate_only:
            response.status_code = 200
            total = await request_search.total_cost(session, actor, request, cost)
            return SearchResponse(estimate=_as_estimate(total), search=None, known=False)
        search, known, total = await request_search.request_search(session, actor, request, body.refresh, cost)
        line = SearchSummary.model_validate(search)
    response.status_code = 200 if known else 201
    response.headers["Location"] = f"{PREFIX}/searches/{line.id}"
    return SearchResponse(estimate=_as_estimate(total), search=line, known=known)


@router.get("/{id}", summary="One search", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_search(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchDetail:
    """How every step stands, why rows were left behind, what was found so far."""
    async with application.database.session(actor.tenant_id) as session:
        search = await lists.get(session, SEARCHES, actor.tenant_id, row_id)
        steps = await search_progress.progress(session, row_id)
        reasons = await search_progress.top_reasons(session, row_id)
        found = await search_results.contact_counts(session, row_id)
    return SearchDetail(
        **SearchSummary.model_validate(search).model_dump(),
        rules=search.rules,
        queues=queue_states(SEARCHES, search),
        steps=[StepProgress(**vars(step)) for step in steps],
        is_done=search_progress.is_done(steps),
        reasons=[
            StepReason(workflow=step, status=status, reason=why, rows=rows) for step, status, why, rows in reasons
        ],
        found=found,
    )


@router.get(
    "/{id}/results", summary="What a search found", responses=problems(400, 404), openapi_extra=requires(VIEWER)
)
async def list_results(
    row_id: RowId,
    application: CurrentApplication,
    actor: CurrentActor,
    per: Annotated[
        Per, Query(description="one row per business with its best contacts, or one per contact")
    ] = "business",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[dict[str, Any]]:
    """The columns of a file of leads, in the order they were found; no row comes twice, also while the search runs."""
    here = f"results/{row_id}/{per}"
    after = Position(*cursors.decode(cursor, here, _part(per), UUID, UUID)) if cursor else Position()
    async with application.database.session(actor.tenant_id) as session:
        await lists.get(session, SEARCHES, actor.tenant_id, row_id)
        found = await leads.page(session, row_id, per, after, limit + 1)
    last = found[limit - 1][1] if len(found) > limit else None
    place: list[str | int | None] = [last.part, str(last.key), str(last.subkey)] if last else []
    return ResultPage(
        items=[row for row, _ in found[:limit]], next_cursor=cursors.encode(here, place) if last else None
    )


@router.post("/{id}/cancel", summary="Stop a search", responses=problems(404), openapi_extra=requires(CURATOR))
async def cancel_search(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> SearchCancelled:
    """Takes its waiting work back and lets nothing go on by itself. Asking for the search again gives it its rules."""
    async with application.database.session(actor.tenant_id) as session:
        return SearchCancelled(taken_back=await cancellation.cancel(session, actor, row_id))


def _as_estimate(cost: SearchCost) -> CostEstimate:
    if cost.estimate is None:
        return CostEstimate(calls=None, cents=None, explanation=f"There is no estimate now: {cost.why_unknown}")
    return CostEstimate(calls=cost.estimate.calls, cents=cost.estimate.cents, explanation=cost.estimate.explanation)


def _part(per: Per) -> Callable[[Any], int]:
    """A kind: the number of a part of this list."""

    def part(given: Any) -> int:
        found = cursors.integer(given)
        if not 0 <= found < len(PAGES[per]):
            raise ValueError("not a part of this list")
        return found

    return part
