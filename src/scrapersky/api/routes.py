"""All routes of the API."""

import asyncio
from functools import cache

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from scrapersky.api.accounts import api_keys, auth, quotas, tenants, users
from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.http.authorization import VIEWER, requires
from scrapersky.api.http.body_limits import BodyLimits
from scrapersky.api.http.problems import problems
from scrapersky.api.http.route_dependencies import ROUTE_DEPENDENCIES
from scrapersky.api.http.strict_requests import refuse_unknown_fields
from scrapersky.api.line import contacts, find, leads, place_map, resources, same_business, undo, views, websites
from scrapersky.api.openapi import openapi_document
from scrapersky.api.operations import audit, dead_letters, dev_tools, health, jobs, queue_items, runs, system, workflows
from scrapersky.api.privacy import erasures, subjects, suppressions
from scrapersky.api.resources.routes import resource_router
from scrapersky.api.schemas.fields import PREFIX
from scrapersky.api.searches import areas, campaigns, schedules, search_runs, searches
from scrapersky.api.transfer import exports, imports, submissions

description = APIRouter(tags=["description"])


@description.get("/openapi.json", summary="The OpenAPI description", include_in_schema=False, **requires(VIEWER))
async def openapi(request: Request) -> Response:
    """Return the OpenAPI description; it is built once, in a thread, because that takes more than a second."""
    state = request.app.state
    if state.openapi is None:
        state.openapi = asyncio.create_task(asyncio.to_thread(_openapi_json, request.app))
    # A request that ends early does not end the task: the next request gets its result.
    return Response(await asyncio.shield(state.openapi), media_type=JSONResponse.media_type)


def _openapi_json(app: FastAPI) -> bytes:
    body = bytes(JSONResponse(openapi_document(app)).body)
    app.openapi_schema = None  # only the JSON is kept: the document takes 4 MB more
    return body


ROUTERS = (
    auth.router,
    users.router,
    users.invitation_router,
    api_keys.router,
    tenants.router,
    quotas.router,
    audit.router,
    searches.router,
    campaigns.router,
    schedules.router,
    search_runs.router,
    leads.router,
    leads.campaign_router,
    place_map.router,
    *(resource_router(resource) for resource in resources.RESOURCES),
    websites.router,
    same_business.router,
    contacts.router,
    undo.router,
    views.router,
    find.router,
    areas.router,
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
    workflows.router,
    queue_items.router,
    dead_letters.router,
    runs.router,
    system.router,
    dev_tools.router,
    description,
)


@cache  # building the models of all routes takes a while
def all_routes() -> list[BaseRoute]:
    """Return every route with its full path and its dependencies."""
    every = APIRouter(
        dependencies=ROUTE_DEPENDENCIES,
        responses=problems(401, 403, 429, 500),
        generate_unique_id_function=operation_id,
    )
    for router in ROUTERS:
        every.include_router(
            router, prefix=PREFIX, dependencies=[Depends(refuse_unknown_fields)], responses=problems(422, 503)
        )
    every.include_router(health.router)  # probes may send any query
    return every.routes


@cache
def body_limits() -> BodyLimits:
    """Return the size limits of the bodies of all routes."""
    return BodyLimits(PREFIX, (route for router in ROUTERS for route in router.routes))


def operation_id(route: APIRoute) -> str:
    """Return the name of the route's function, a verb and a resource."""
    return route.name
