"""The route factory: list, get and curation routes from the declaration of a resource."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import CURATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.resources.counts import add_counts_route
from scrapersky.api.resources.curation import (
    CURATION_RESPONSES,
    CurateIds,
    CurateMatching,
    CurationResult,
    IdempotencyKey,
    curate,
    curation_body,
)
from scrapersky.api.resources.history import add_history_route
from scrapersky.api.resources.models import filter_model, query_model, with_columns, with_references
from scrapersky.api.resources.rows import Complete, list_page, row_detail
from scrapersky.api.schemas.fields import RequestModel, RowId
from scrapersky.api.schemas.listing import CuratedSummary, Detail, ListQuery, Summary, listing_of
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import references
from scrapersky.store.listing.columns import ColumnMeaning
from scrapersky.store.listing.references import REFERENCES
from scrapersky.store.listing.resources import Resource


@dataclass(frozen=True)
class ApiResource:
    """A resource of the API: the models of its rows, and what curation does to them."""

    resource: Resource
    singular: str
    summary: type[Summary]  # a row in the list
    detail: type[Summary]  # one row by its id
    list_description: str = "The rows of your tenant, filtered and sorted."
    get_description: str = "One row; with its queues and its provenance if it is in the pipeline."
    curation_description: str | None = None  # without one there is no curation route
    complete: Complete | None = None  # reads the fields of the summary that are no columns
    mask: Callable[[Any, Actor], Any] = lambda row, _: row  # hides what this actor may not see in a row of the list

    @cached_property
    def filter(self) -> type[RequestModel]:
        """The model of its filters."""
        return filter_model(self.resource)

    @cached_property
    def query(self) -> type[ListQuery]:
        """The model of the query of its list."""
        return query_model(self.resource)


def curated_resource(
    resource: Resource,
    singular: str,
    about: str,
    *,
    summary: str,
    detail: str,
    curation: str,
    descriptions: Mapping[str, ColumnMeaning] | None = None,
    in_pipeline: bool = True,
) -> ApiResource:
    """Declare a curated resource: `summary` and `detail` name the columns of a row in the list and of one row.

    A row in the pipeline also has its queues and its provenance (store/listing/lineage.py).
    """
    name, table = singular.capitalize(), resource.model
    listed = with_references(
        with_columns(f"{name}Summary", CuratedSummary, table, about, summary, descriptions), resource
    )
    mixin = Detail if in_pipeline else None
    whole = f"All columns of a {singular}."
    one = with_columns(f"{name}Detail", listed, table, whole, detail, descriptions, mixin=mixin)
    complete = partial(references.names, resource=resource) if resource.name in REFERENCES else None
    return ApiResource(resource, singular, listed, one, curation_description=curation, complete=complete)


def resource_router(api: ApiResource, tag: str | None = None) -> APIRouter:
    """Return a router with the list, get and curation routes of a resource."""
    router = empty_router(api, tag)
    add_list_route(router, api)
    if api.curation_description:
        add_curation_route(router, api)
    add_get_route(router, api)
    add_history_route(router, api.resource, api.singular)
    return router


def empty_router(api: ApiResource, tag: str | None = None) -> APIRouter:
    """Return a router at the path of the resource, for routes besides those of the factory."""
    return APIRouter(prefix=f"/{api.resource.name}", tags=[tag or api.resource.name], route_class=ListRoute)


def add_list_route(router: APIRouter, api: ApiResource) -> None:
    """Add `GET /`: one page of the list."""
    query_type, page_type = api.query, listing_of(api.summary)

    async def list_rows(
        query: Annotated[query_type, Query()],  # type: ignore[valid-type]
        application: CurrentApplication,
        actor: CurrentActor,
    ) -> Response:
        page = await list_page(application, actor, api.resource, api.summary, cast("ListQuery", query), api.complete)
        page.items = [api.mask(row, actor) for row in page.items]
        return Response(page.model_dump_json(), media_type="application/json")

    router.add_api_route(
        "",
        list_rows,
        methods=["GET"],
        name=f"list_{api.resource.name}",
        summary=f"{api.resource.name.capitalize()}, the latest first",
        description=api.list_description,
        response_model=page_type,
        **requires(VIEWER, 400),
    )
    add_counts_route(router, api.resource)


def add_get_route(router: APIRouter, api: ApiResource) -> None:
    """Add `GET /{id}`: one row."""

    async def get_row(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> Summary:
        return await row_detail(application, actor, api.resource, api.detail, row_id, api.complete)

    router.add_api_route(
        "/{id}",
        get_row,
        methods=["GET"],
        name=f"get_{api.singular}",
        summary=f"One {api.singular}",
        description=api.get_description,
        response_model=api.detail,
        **requires(VIEWER, 404),
    )


def add_curation_route(router: APIRouter, api: ApiResource) -> None:
    """Add `POST /curation`: set the curation status of rows by ids or by filter."""
    body_type = curation_body(api.resource.name, api.filter)

    async def curate_rows(
        body: body_type,  # type: ignore[valid-type]
        application: CurrentApplication,
        actor: CurrentActor,
        key: IdempotencyKey = None,
    ) -> JSONResponse:
        return await curate(application, actor, api.resource, cast("CurateIds | CurateMatching", body), key)

    router.add_api_route(
        "/curation",
        curate_rows,
        methods=["POST"],
        name=f"curate_{api.resource.name}",
        summary=f"Set the curation status of {api.resource.name}",
        description=api.curation_description,
        response_model=CurationResult,
        **requires(CURATOR, responses=CURATION_RESPONSES),
    )
