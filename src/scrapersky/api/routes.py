"""All routes, behind the one door."""

from functools import cache

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from scrapersky.api.accounts import api_keys, auth, quotas, tenants, users
from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.http.authorization import VIEWER, add_security_scheme, authenticate, requires
from scrapersky.api.http.problems import describe_problem_responses, problems
from scrapersky.api.http.rate_limit import limit_actor
from scrapersky.api.http.strict_json import refuse_duplicate_members
from scrapersky.api.http.strict_query import refuse_unknown_fields
from scrapersky.api.line import businesses, contacts, domains, pages, places, searches, sitemaps
from scrapersky.api.operations import audit, dead_letters, dev_tools, health, jobs, queue_items, runs, workflows
from scrapersky.api.privacy import erasures, subjects, suppressions
from scrapersky.api.transfer import exports, imports, submissions

PREFIX = "/api/v3"
ROUTE_DEPENDENCIES = [
    Depends(authenticate),
    Depends(limit_actor),
    Depends(refuse_duplicate_members),
]  # of every route, in this order
STRICT = [Depends(refuse_unknown_fields)]  # not of probes: whoever polls them may add what he likes

PEOPLE = (auth.router, users.router, users.invitation_router, api_keys.router)
HOUSE = (tenants.router, quotas.router, audit.router)

RESOURCES = (
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
ENGINE = (workflows.router, queue_items.router, dead_letters.router, runs.router, dev_tools.router)

description = APIRouter(tags=["description"])


@description.get("/openapi.json", summary="This description", include_in_schema=False, openapi_extra=requires(VIEWER))
async def openapi(request: Request) -> JSONResponse:
    """The API in the words of OpenAPI."""
    return JSONResponse(add_security_scheme(describe_problem_responses(request.app.openapi())))


@cache  # what a route takes and gives is read from its types, and that takes a while
def all_routes() -> list[BaseRoute]:
    """Every route of the house, with its full path, behind the gates."""
    every = APIRouter(
        dependencies=ROUTE_DEPENDENCIES,
        responses=problems(401, 403, 429, 500),
        generate_unique_id_function=operation_id,
    )
    for router in (
        *PEOPLE,
        *HOUSE,
        *RESOURCES,
        workflows.router,
        queue_items.router,
        dead_letters.router,
        runs.router,
        dev_tools.router,
    ):
        every.include_router(router, prefix=PREFIX, dependencies=STRICT)
    every.include_router(description, prefix=PREFIX, dependencies=STRICT)
    every.include_router(health.router)
    return every.routes


def operation_id(route: APIRoute) -> str:
    """The name of the function: it is the verb and the noun."""
    return route.name
