"""The one renderer of errors: RFC 9457 problem documents, never a stack, never the text of an unforeseen exception."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import asyncpg
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from scrapersky.api.http.authorization import authenticate_first
from scrapersky.api.schemas.selection import BY_FILTER, BY_IDS
from scrapersky.core.database import is_connection_error
from scrapersky.core.errors import ScraperSkyError

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MAX_FIELDS = 50  # wrong fields named in one document
NAME_LENGTH = 100  # characters of a field's name that are repeated

# What a database says that is there but cannot do it at this moment.
BUSY = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.ReadOnlySQLTransactionError,
)


class WrongField(BaseModel):
    """A field of the request that does not do."""

    field: str = Field(description="where it is: `body.ids.3`, `query.limit`")
    message: str = Field(description="what is wrong with it")


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field("about:blank", description="the kind of problem, the same for every case of it")
    title: str = Field(description="the sentence of the kind")
    status: int = Field(description="the status code of this answer")
    detail: str | None = Field(None, description="what is wrong in this case, and the cure")
    request_id: str | None = Field(None, description="also in X-Request-Id and in the log")
    errors: list[WrongField] | None = Field(None, description="the fields that are wrong")


DESCRIPTIONS = {
    400: "The cursor is not one of this list, or the body could not be read.",
    401: "Say who you are: a token or a key as `Authorization: Bearer`.",
    403: "Your role does not allow this.",
    404: "There is nothing of this name or id.",
    405: "This path knows other methods.",
    408: "The request did not arrive in time.",
    409: "It makes sense, but not in the present state.",
    413: "The body has more bytes than it may.",
    415: "The body is of no kind that can be read.",
    421: "The service is not called by this name.",
    422: "A field is wrong; the document names it.",
    429: "This was asked for too often; try again after Retry-After.",
    500: "The fault is ours; the log has more under the request id.",
    503: "The database is away or busy, or it took too long; try again after Retry-After.",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The problems a route may answer with, for its documentation."""
    return {code: {"description": DESCRIPTIONS[code], "model": Problem} for code in codes}


def describe_problem_responses(described: dict[str, Any]) -> dict[str, Any]:
    """The framework describes every model as plain JSON; problems have a type of their own."""
    for path, operations in described["paths"].items():
        for operation in operations.values():
            for code in _everywhere(path, operation):
                operation["responses"].setdefault(str(code), _described(code))
            for response in operation["responses"].values():
                content = response.get("content", {})
                if content.get("application/json", {}).get("schema", {}).get("$ref", "").endswith("/Problem"):
                    content[MEDIA_TYPE] = content.pop("application/json")
    return described


def _everywhere(path: str, operation: Mapping[str, Any]) -> list[int]:
    """A query may have a field that nobody knows; a body may be no JSON, or not said to be."""
    return [*([422] if path.startswith("/api/") else []), *([400, 415] if "requestBody" in operation else [])]


def _described(code: int) -> dict[str, Any]:
    shown = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": DESCRIPTIONS[code], "content": {MEDIA_TYPE: shown}}


def problem_of(error: BaseException) -> Problem:
    """The document for whatever was raised."""
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        return Problem(title=status.phrase, status=status, detail=_sentence(error, status))
    if isinstance(error, ScraperSkyError) and error.status_code < 500:
        members: Mapping[str, Any] = getattr(error, "members", {})
        return Problem(
            type=_kind(type(error).__name__),
            title=error.title,
            status=error.status_code,
            detail=str(error) or None,
            errors=[WrongField(field=_place(name), message=str(error) or error.title) for name in error.fields] or None,
            **members,
        )
    if _is_too_slow(error):
        return Problem(
            type=_kind("TooSlow"),
            title="This took too long.",
            status=503,
            detail="A statement exceeded SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS. Narrow the filter.",
        )
    if _is_away(error):
        return Problem(
            type=_kind("Unavailable"),
            title="Something this needs is away at the moment.",
            status=503,
            detail="The database is away or busy. Try again in a moment: asking twice does no harm.",
        )
    return Problem(
        type=_kind("Unforeseen"),
        title="Something went wrong on our side.",
        status=500,
        detail="It was written to the log under the request id.",
    )


def render_problem(problem: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that carries a problem."""
    shown = problem.model_copy(update={"request_id": request_id}).model_dump(mode="json", exclude_none=True)
    extra = dict(headers or {})
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        extra["Retry-After"] = str(RETRY_AFTER_SECONDS)
    # ASCII only: a name that somebody made up may hold what UTF-8 cannot.
    return Response(json.dumps(shown).encode(), problem.status, extra, MEDIA_TYPE)


def extra_headers(error: BaseException) -> Mapping[str, str] | None:
    """Headers that an error wants in its answer: Allow, Retry-After, WWW-Authenticate."""
    headers: Mapping[str, str] | None = getattr(error, "headers", None)
    return headers


def allow_header(request: Request) -> dict[str, str]:
    """The methods that this path knows, of all routes: the framework names those of the first one only."""
    routes, scope = request.app.router.routes, request.scope
    known = [
        method
        for method in METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return {"Allow": ", ".join([*(["HEAD"] if "GET" in known else []), *known])}


def add_error_handlers(app: FastAPI) -> None:
    """Let the framework's own errors be problems too."""

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, RequestValidationError) or getattr(error, "status_code", 0) == HTTPStatus.BAD_REQUEST:
            await authenticate_first(request)  # the framework reads JSON before it asks who sends it
        headers = allow_header(request) if getattr(error, "status_code", 0) == HTTPStatus.METHOD_NOT_ALLOWED else None
        return render_problem(problem_of(error), request.scope["request_id"], headers or extra_headers(error))

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, refused)


def _place(name: str) -> str:
    """Where a wrong field is: in the body, unless it says otherwise."""
    return name if name.startswith("header.") else f"body.{name}"


def _invalid(error: RequestValidationError) -> Problem:
    if any(problem["type"] == "json_invalid" for problem in error.errors()):
        return Problem(
            type=_kind("BrokenJson"),
            title="The body is no JSON.",
            status=400,
            detail=f"It makes no sense from character {error.errors()[0]['loc'][-1]} on.",
        )
    wrong = [
        WrongField(
            field=".".join(str(part)[:NAME_LENGTH] for part in _without_tag(problem["loc"])),
            message=str(problem["msg"]).removeprefix("Value error, "),
        )
        for problem in error.errors()[:MAX_FIELDS]
    ]
    return Problem(
        type=_kind("InvalidRequest"),
        title="A field of the request is wrong.",
        status=422,
        detail="; ".join(f"{one.field}: {one.message}" for one in wrong[:3]),
        errors=wrong,
    )


def _without_tag(loc: Sequence[str | int]) -> Sequence[str | int]:
    """The place without the word that tells bodies with ids from those with a filter."""
    return (loc[0], *loc[2:]) if len(loc) > 1 and loc[1] in (BY_IDS, BY_FILTER) else loc


def _sentence(error: HTTPException, status: HTTPStatus) -> str | None:
    return None if error.detail == status.phrase else str(error.detail)


def _cause(error: BaseException) -> BaseException | None:
    """What the driver said, also through SQLAlchemy."""
    return getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else error


def _is_too_slow(error: BaseException) -> bool:
    return isinstance(_cause(error), asyncpg.QueryCanceledError)


def _is_away(error: BaseException) -> bool:
    cause = _cause(error)
    if isinstance(error, ScraperSkyError):
        return error.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    return isinstance(error, PoolTimeout) or isinstance(cause, BUSY) or is_connection_error(error)


def _kind(name: str) -> str:
    return "urn:scrapersky:problem:" + re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
