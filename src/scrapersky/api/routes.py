"""All routes, behind the one door."""

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse

from scrapersky.api import (
    api_keys,
    audit,
    auth,
    businesses,
    contacts,
    dead_letters,
    deliveries,
    destinations,
    dev_tools,
    domains,
    erasures,
    exports,
    health,
    imports,
    items,
    jobs,
    pages,
    places,
    quotas,
    runs,
    searches,
    sitemaps,
    subjects,
    submissions,
    suppressions,
    tenants,
    users,
    workflows,
)
from scrapersky.api.access import VIEWER, describe_access, may
from scrapersky.api.problems import describe_problems

PREFIX = "/api/v3"

PEOPLE = (auth.router, users.router, users.invitation_router, api_keys.router)
HOUSE = (tenants.router, quotas.router, audit.router)

NOUNS = (
    searches.router,
    places.router,
    businesses.router,
    domains.router,
    sitemaps.router,
    pages.router,
    contacts.router,
    suppressions.router,
    erasures.router,
    subjects.router,
    jobs.router,
    jobs.scan_router,
    imports.router,
    submissions.router,
    exports.router,
    destinations.router,
    deliveries.router,
)
ENGINE = (workflows.router, items.router, dead_letters.router, runs.router, dev_tools.router)

description = APIRouter(tags=["description"])


@description.get("/openapi.json", summary="This description", include_in_schema=False, openapi_extra=may(VIEWER))
async def openapi(request: Request) -> JSONResponse:
    """The API in the words of OpenAPI."""
    return JSONResponse(describe_access(describe_problems(request.app.openapi())))


def all_routes() -> APIRouter:
    """Every route of the house, with its full path."""
    every = APIRouter()
    for router in (
        *PEOPLE,
        *HOUSE,
        *NOUNS,
        workflows.router,
        items.router,
        dead_letters.router,
        runs.router,
        dev_tools.router,
    ):
        every.include_router(router, prefix=PREFIX)
    every.include_router(description, prefix=PREFIX)
    every.include_router(health.router)
    return every


def operation_id(route: APIRoute) -> str:
    """The name of the function: it is the verb and the noun."""
    return route.name
