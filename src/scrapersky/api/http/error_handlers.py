"""Handlers of the framework's own errors, which become problem documents as well."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from scrapersky.api.http.authorization import authenticate_first
from scrapersky.api.http.problems import extra_headers, problem_of, respond_with_problem

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def allow_header(request: Request) -> dict[str, str]:
    """Return the Allow header with the methods of all routes of this path; the framework names those of the first."""
    routes, scope = request.app.router.routes, request.scope
    supported = [
        method
        for method in METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return {"Allow": ", ".join([*(["HEAD"] if "GET" in supported else []), *supported])}


def add_error_handlers(app: FastAPI) -> None:
    """Render the framework's own errors as problems."""

    async def render(request: Request, error: Exception) -> Response:
        if isinstance(error, RequestValidationError) or getattr(error, "status_code", 0) == HTTPStatus.BAD_REQUEST:
            await authenticate_first(request)  # the framework parses JSON before it authenticates
        headers = allow_header(request) if getattr(error, "status_code", 0) == HTTPStatus.METHOD_NOT_ALLOWED else None
        extra = headers or extra_headers(error)
        return respond_with_problem(request.scope, problem_of(error), request.scope["request_id"], extra)

    app.add_exception_handler(HTTPException, render)
    app.add_exception_handler(RequestValidationError, render)
