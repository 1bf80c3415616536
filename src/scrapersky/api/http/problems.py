"""Errors as problem documents (RFC 9457), without stack traces and without texts of unexpected exceptions."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import asyncpg
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from scrapersky.api.http.browser_cookie import is_console_path
from scrapersky.api.schemas.fields import HttpStatus
from scrapersky.api.schemas.selection import BY_FILTER, BY_IDS
from scrapersky.core.database import is_connection_error
from scrapersky.core.errors import BadGateway, ScraperSkyError

Responses = dict[int | str, dict[str, Any]]

MEDIA_TYPE = "application/problem+json"
REFERENCE = "#/components/schemas/{model}"
RETRY_AFTER_SECONDS = 2
MAX_FIELDS = 50  # wrong fields in one document
MAX_NAME_LENGTH = 100  # characters of a field's name in the document

# The detail of FastAPI where the parser of JSON raises another error than that of bad syntax.
UNREADABLE_BODY = "There was an error parsing the body"
# Errors of a database that is reachable, but cannot execute the statement at this moment.
BUSY = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.ReadOnlySQLTransactionError,
)


class WrongField(BaseModel):
    """A field of the request that is not valid."""

    field: str = Field(description="where it is: `body.ids.3`, `query.limit`", examples=["query.limit"])
    message: str = Field(description="what is wrong with it", examples=["Input should be greater than or equal to 1"])


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(
        "about:blank", description="the problem type, a URN", examples=["urn:scrapersky:problem:invalid-request"]
    )
    title: str = Field(
        description="the sentence of the problem type", examples=["A field of the request is not valid."]
    )
    status: HttpStatus = Field(description="the status code of the response", examples=[422])
    detail: str | None = Field(
        None,
        description="what is wrong in this case, and how to correct it",
        examples=["query.limit: Input should be greater than or equal to 1"],
    )
    request_id: str | None = Field(
        None, description="also in X-Request-Id and in the log", examples=["1288517123c146ddacdc3f1a0a10d29c"]
    )
    errors: list[WrongField] | None = Field(None, max_length=MAX_FIELDS, description="the fields that are not valid")


ErrorPage = Callable[[Scope, Problem], Response]  # `app.state.error_page`, set by the console

DESCRIPTIONS = {
    400: "The cursor is not one of this list, or the body could not be parsed.",
    401: "Authentication is required: send an access token or an API key as `Authorization: Bearer`.",
    403: "The role does not allow this.",
    404: "There is no such name or id.",
    405: "The path does not support this method.",
    408: "The request did not arrive in time.",
    409: "The request conflicts with the current state.",
    413: "The body is too large.",
    415: "The Content-Type of the body is not supported.",
    421: "The service does not serve this host name.",
    422: "A field is not valid; the document names it.",
    429: "Too many requests; retry after Retry-After.",
    500: "An internal error; the log has the details under the request id.",
    502: "A service of others that this asks refuses; the document says why.",
    503: "The database is unavailable or busy, or the request took too long; retry after Retry-After.",
}


def problems(*codes: int) -> Responses:
    """Describe the problems that a route may respond with.

    As a reference: of each `model`, FastAPI would build a serializer for each code of each route.
    """
    shown = {"schema": {"$ref": REFERENCE.format(model=Problem.__name__)}}
    return {code: {"description": DESCRIPTIONS[code], "content": {MEDIA_TYPE: shown}} for code in codes}


def describe_problem_responses(described: dict[str, Any]) -> dict[str, Any]:
    """Add the schema of problems, and to each route with a body the problems of that body."""
    schema = Problem.model_json_schema(ref_template=REFERENCE)
    described["components"]["schemas"] |= {**schema.pop("$defs"), Problem.__name__: schema}
    for operations in described["paths"].values():
        for operation in operations.values():
            for code, response in problems(400, 415).items() if "requestBody" in operation else ():
                operation["responses"].setdefault(str(code), response)  # invalid JSON, wrong media type
    return described


def problem_of(error: BaseException) -> Problem:
    """Return the problem document for an exception."""
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException) and error.detail == UNREADABLE_BODY:
        return _invalid_json("It is nested too deeply, has a number of thousands of digits, or is not text in UTF-8.")
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        return Problem(title=status.phrase, status=status, detail=_detail(error, status))
    if isinstance(error, ScraperSkyError) and (error.status_code < 500 or isinstance(error, BadGateway)):
        members: Mapping[str, Any] = getattr(error, "members", {})
        return Problem(
            type=_urn(type(error).__name__),
            title=error.title,
            status=error.status_code,
            detail=str(error) or None,
            errors=[WrongField(field=_location(name), message=str(error) or error.title) for name in error.fields]
            or None,
            **members,
        )
    if _is_too_slow(error):
        return Problem(
            type=_urn("TooSlow"),
            title="The request took too long.",
            status=503,
            detail="A statement exceeded SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS. Narrow the filter.",
        )
    if _is_unavailable(error):
        return Problem(
            type=_urn("Unavailable"),
            title="A part that the request needs is unavailable.",
            status=503,
            detail=f"{_unavailable_part(error)} Retry in a moment: repeating the request is safe.",
        )
    return Problem(
        type=_urn("InternalError"),
        title="An internal error occurred.",
        status=500,
        detail="The log has the details under the request id.",
    )


def respond_with_problem(
    scope: Scope, problem: Problem, request_id: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a page if a browser asks for one and the application has error pages, else the problem document."""
    page: ErrorPage | None = getattr(scope["app"].state, "error_page", None) if "app" in scope else None
    if page is None or not _wants_page(scope):
        return render_problem(problem, request_id, headers)
    kept = {name: value for name, value in (headers or {}).items() if name != "WWW-Authenticate"}
    response = page(scope, problem.model_copy(update={"request_id": request_id}))
    response.headers.update(kept | _retry_header(problem))
    return response


def _wants_page(scope: Scope) -> bool:
    if is_console_path(scope["path"]):
        return True
    return not scope["path"].startswith("/api/") and "text/html" in Headers(scope=scope).get("accept", "")


def render_problem(problem: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem."""
    shown = problem.model_copy(update={"request_id": request_id}).model_dump(mode="json", exclude_none=True)
    extra = {**(headers or {}), **_retry_header(problem)}
    # ASCII only: the name of a field in the request may contain lone surrogates.
    return Response(json.dumps(shown).encode(), problem.status, extra, MEDIA_TYPE)


def _retry_header(problem: Problem) -> dict[str, str]:
    unavailable = problem.status == HTTPStatus.SERVICE_UNAVAILABLE
    return {"Retry-After": str(RETRY_AFTER_SECONDS)} if unavailable else {}


def extra_headers(error: BaseException) -> Mapping[str, str] | None:
    """Return the headers of an error: Allow, Retry-After, WWW-Authenticate."""
    headers: Mapping[str, str] | None = getattr(error, "headers", None)
    return headers


def _location(name: str) -> str:
    """Return the location of a wrong field: the body, unless it is a header or a parameter."""
    return name if name.startswith(("header.", "query.")) else f"body.{name}"


def _invalid(error: RequestValidationError) -> Problem:
    if any(problem["type"] == "json_invalid" for problem in error.errors()):
        return _invalid_json(_json_error(error.errors()[0]["loc"][-1]))
    wrong = [
        WrongField(
            field=".".join(str(part)[:MAX_NAME_LENGTH] for part in _without_tag(problem["loc"])),
            message=str(problem["msg"]).removeprefix("Value error, "),
        )
        for problem in error.errors()[:MAX_FIELDS]
    ]
    return Problem(
        type=_urn("InvalidRequest"),
        title="A field of the request is not valid.",
        status=422,
        detail="; ".join(f"{one.field}: {one.message}" for one in wrong[:3]),
        errors=wrong,
    )


def _invalid_json(detail: str) -> Problem:
    return Problem(type=_urn("InvalidJson"), title="The body is not valid JSON.", status=400, detail=detail)


def _json_error(position: str | int) -> str:
    if isinstance(position, int):
        return f"The JSON is not valid from character {position} on."
    return "Check the brackets, quotes and commas of the JSON."


def _without_tag(loc: Sequence[str | int]) -> Sequence[str | int]:
    """Return the location without the tag of the discriminated union of `ids` and `filter`."""
    return (loc[0], *loc[2:]) if len(loc) > 1 and loc[1] in (BY_IDS, BY_FILTER) else loc


def _detail(error: HTTPException, status: HTTPStatus) -> str | None:
    return None if error.detail == status.phrase else str(error.detail)


def _cause(error: BaseException) -> BaseException | None:
    """Return the driver's exception, also when SQLAlchemy wraps it."""
    return getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else error


def _is_too_slow(error: BaseException) -> bool:
    return isinstance(_cause(error), asyncpg.QueryCanceledError)


def _is_unavailable(error: BaseException) -> bool:
    cause = _cause(error)
    if isinstance(error, ScraperSkyError):
        return error.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    return isinstance(error, PoolTimeout) or isinstance(cause, BUSY) or is_connection_error(error)


def _unavailable_part(error: BaseException) -> str:
    return error.title if isinstance(error, ScraperSkyError) else "The database is unavailable or busy."


def _urn(name: str) -> str:
    return "urn:scrapersky:problem:" + re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
