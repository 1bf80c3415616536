"""What every route depends on, and the models of routes built before the first request."""

from collections.abc import Iterable

from fastapi import Depends
from starlette.routing import BaseRoute

from scrapersky.api.http.authorization import authenticate
from scrapersky.api.http.rate_limit import limit_actor
from scrapersky.api.http.strict_requests import refuse_odd_objects

# Of every route, in this order.
ROUTE_DEPENDENCIES = [Depends(authenticate), Depends(limit_actor), Depends(refuse_odd_objects)]


def build_models(routes: Iterable[BaseRoute]) -> None:
    """Build the models of all routes now; FastAPI would build them on the event loop, when the first request comes."""
    scope = {"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []}
    for route in routes:
        route.matches(scope)
