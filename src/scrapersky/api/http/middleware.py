"""The middleware before the routes: request id, host and origin checks, rate limit, body limits, deadlines, log."""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.api.http import authorization, browser_cookie, rate_limit
from scrapersky.api.http.body_limits import MAX_LIST_BYTES
from scrapersky.api.http.browser_cookie import LOOPBACK_NAMES, host_name
from scrapersky.api.http.client_address import TrustedProxies, is_loopback, split_list
from scrapersky.api.http.problems import Problem, extra_headers, problem_of, respond_with_problem
from scrapersky.api.http.request_bodies import (
    MAX_HELD_BYTES,
    BodyMemory,
    BodyMemoryFull,
    BodyReader,
    BodyTooLarge,
    ClientDisconnected,
    replay,
)
from scrapersky.api.http.security_headers import CorsOrigins, add_security_headers
from scrapersky.api.http.strict_requests import IMPORT_PATHS
from scrapersky.api.schemas.fields import PREFIX
from scrapersky.core.settings import Settings

log = structlog.get_logger(__name__)

BODY_SECONDS = 10.0  # for any body
BYTES_PER_SECOND = 64_000  # a body gets a further second for each of these
STALL_SECONDS = 30.0  # a client that reads nothing for so long is disconnected: it may hold a database connection
MAX_HEADERS, MAX_HEADER_BYTES = 100, 32_768  # httptools has no limit of its own
SLOW_TIME_FACTOR = 10  # an import or a file of leads may take so many times SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class RequestGuard:
    """ASGI middleware. What it refuses reaches no route; every exception of a route becomes a problem document."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        local_only: bool,
        max_body_bytes: Callable[[Scope], int] = lambda _: MAX_LIST_BYTES,
        body_seconds: float = BODY_SECONDS,
        held_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        self._app = app
        self._body_memory, self._max_body_bytes = BodyMemory(held_bytes), max_body_bytes
        self._local_only = local_only
        self._is_production = settings.environment == "production"
        self._hosts = frozenset(split_list(settings.allowed_hosts))
        self._proxies = TrustedProxies(settings.trusted_proxies)
        self._body_seconds, self._response_seconds = body_seconds, settings.response_timeout_seconds
        self.origins = CorsOrigins(settings.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Assign the request id, then refuse the request or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = scope["request_id"] = _request_id(headers.get("x-request-id"))
        self._proxies.apply_forwarded_headers(scope, headers)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await _Exchange(self, scope, headers, send).run(receive)

    async def handle(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Check the request, read its body, call the routes within the time limit."""
        if (
            len(headers.raw) > MAX_HEADERS
            or sum(len(name) + len(value) for name, value in headers.raw) > MAX_HEADER_BYTES
        ):
            raise RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too many or too long.")
        self._check_host_and_origin(scope, headers)
        if preflight := self.origins.preflight(scope, headers):
            await preflight(scope, receive, send)
            return
        if "app" in scope:
            await rate_limit.limit_address(scope, scope["app"].state.application)
        with self._body_memory.reading() as reader:
            body = await self._body(scope, headers, receive, self._max_body_bytes(scope), reader)
            if browser_cookie.is_console_path(scope["path"]):
                scope["form_body"] = body  # an error page may keep what a person typed
            seconds = self._response_seconds * (SLOW_TIME_FACTOR if _is_slow(scope["path"]) else 1)
            if scope["method"] == "HEAD":
                scope, send = _as_get(scope), _headers_only(send)
            await self._within_time(scope, replay(body, receive), send, seconds)

    def is_over_https(self, scope: Scope) -> bool:
        """Return whether the response may carry Strict-Transport-Security."""
        return self._is_production and scope["scheme"] == "https"

    def _check_host_and_origin(self, scope: Scope, headers: Headers) -> None:
        host = host_name(headers.get("host"))
        if self._local_only and not (is_loopback(scope) and host in LOOPBACK_NAMES):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "In development only requests of this machine are served.")
        if self._hosts and not self._is_allowed_host(host, scope):
            raise RequestRefused(HTTPStatus.MISDIRECTED_REQUEST, "This service does not serve that host name.")
        if scope["method"] not in SAFE_METHODS and self._is_forged(scope, headers):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "A page of another origin may not send this request.")

    def _is_allowed_host(self, host: str, scope: Scope) -> bool:
        local = host in LOOPBACK_NAMES and is_loopback(scope)
        is_probe = scope["path"] in rate_limit.UNLIMITED_PATHS  # probes use an address, not a listed name
        return local or host in self._hosts or is_probe

    def _is_forged(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a page of another origin may have sent this change; browsers set both headers themselves.

        A change in the console, or with its cookie, must prove its origin; a program sends neither header.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if site == "same-origin":
            return False
        is_own = origin is not None and origin.split("://")[-1] == headers.get("host")
        is_other_site = site in ("cross-site", "same-site")
        if browser_cookie.is_console_path(scope["path"]) or browser_cookie.secret_of(scope, headers):
            return is_other_site or not is_own
        if origin is not None and origin in self.origins:
            return False
        return is_other_site or (origin is not None and not is_own)

    async def _body(
        self, scope: Scope, headers: Headers, receive: Receive, max_bytes: int, reader: BodyReader
    ) -> bytes:
        async def check_credential() -> None:
            if "app" in scope:
                await authorization.check_credential(scope, headers, scope["app"].state.application)

        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        if len(length) > 18 or int(length) > max_bytes:
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body may have at most {max_bytes:,} bytes.")
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(started + self._body_seconds) as deadline:

                def extend(received: int) -> None:
                    deadline.reschedule(started + self._body_seconds + received / BYTES_PER_SECOND)

                return await reader.read(receive, max_bytes, check_credential, extend)
        except BodyTooLarge:
            raise RequestRefused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body may have at most {max_bytes:,} bytes."
            ) from None
        except BodyMemoryFull:
            raise RequestRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, "Too many large bodies are in memory. Retry later."
            ) from None
        except TimeoutError:
            raise RequestRefused(
                HTTPStatus.REQUEST_TIMEOUT,
                f"The body did not arrive in {self._body_seconds:g} s, nor at {BYTES_PER_SECOND:,} bytes a second.",
            ) from None

    async def _within_time(self, scope: Scope, receive: Receive, send: Send, seconds: float) -> None:
        """Call the routes; raise RequestRefused unless the response has started in time. Its end has no deadline."""
        async with asyncio.timeout(seconds) as deadline:

            async def send_started(message: Message) -> None:
                deadline.reschedule(None)
                await send(message)

            try:
                await self._app(scope, receive, send_started)
            except asyncio.CancelledError:
                if deadline.expired():
                    raise RequestRefused(
                        HTTPStatus.SERVICE_UNAVAILABLE,
                        f"The request took longer than {seconds:g} seconds and was cancelled. Request less at once.",
                    ) from None
                raise


def _is_slow(path: str) -> bool:
    """Return whether a response may begin late: an import stores its rows first, a file of leads sorts all of them."""
    return path.startswith(IMPORT_PATHS) or "/leads." in path


class RequestRefused(Exception):
    """The request was refused before it reached a route."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(title=status.phrase, status=status, detail=detail)


class HeadSent(Exception):
    """The headers of the response to a HEAD request were sent; its body need not be produced."""


def _as_get(scope: Scope) -> Scope:
    """Return the scope of a HEAD request as GET for the routes; both share the rate limits that are counted."""
    scope.setdefault("rates", {})
    return {**scope, "method": "GET"}


def _headers_only(send: Send) -> Send:
    """Return a send function that passes on the headers and replaces the body by an empty one."""

    async def send_headers(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        if message.get("more_body"):
            raise HeadSent

    return send_headers


class _Exchange:
    """One request and its response, with the headers of every response and a log line."""

    def __init__(self, guard: RequestGuard, scope: Scope, headers: Headers, send: Send) -> None:
        self._guard, self._scope, self._headers, self._send = guard, scope, headers, send
        self._request_id: str = scope["request_id"]
        self._status = 0
        self._started = time.perf_counter()

    async def run(self, receive: Receive) -> None:
        try:
            await self._guard.handle(self._scope, self._headers, receive, self._respond)
        except ClientDisconnected:
            log.debug("client_disconnected")
        except HeadSent:
            log.debug("head_response_sent")
        except Exception as error:  # noqa: BLE001 - every exception of a route becomes a response here
            await self._fail(error)
        self._log()

    async def _fail(self, error: Exception) -> None:
        problem = error.problem if isinstance(error, RequestRefused) else problem_of(error)
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request_failed", exc_info=error)
        elif problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            log.warning("service_unavailable", error=f"{type(error).__name__}: {error}"[:500])
        if self._status:
            raise error  # part of the response was sent: the server closes the connection
        response = respond_with_problem(self._scope, problem, self._request_id, extra_headers(error))
        await response(self._scope, _disconnect, self._respond)

    async def _respond(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._add_headers(MutableHeaders(scope=message))
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._send(message)
        except TimeoutError:
            log.warning("client_stalled", path=self._scope["path"][:200])
            raise ClientDisconnected from None

    def _add_headers(self, headers: MutableHeaders) -> None:
        headers["X-Request-Id"] = self._request_id
        headers.update(rate_limit.rate_headers(self._scope))
        self._guard.origins.add_headers(self._headers.get("origin"), headers)
        add_security_headers(headers, self._guard.is_over_https(self._scope))

    def _log(self) -> None:
        scope, seconds = self._scope, round(time.perf_counter() - self._started, 4)
        if "app" in scope:
            metrics = scope["app"].state.application.metrics
            metrics.count_request(scope["method"], _route_path(scope), self._status, seconds)
        level = logging.DEBUG if scope["path"] in rate_limit.UNLIMITED_PATHS else logging.INFO
        log.log(
            level,
            "request_served",
            method=scope["method"],
            path=scope["path"][:200],
            status=self._status,
            seconds=seconds,
        )


def _request_id(given: str | None) -> str:
    """Return the client's own request id if it is safe for logs and headers, else a new one."""
    return given if given and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else uuid4().hex


def _route_path(scope: Scope) -> str | None:
    """Return the path of the route with its parameters by name; None if no route matched."""
    path = getattr(scope.get("route"), "path", None)  # without the prefix of the API
    return f"{PREFIX}{path}" if path and scope["path"].startswith(f"{PREFIX}/") else path


async def _disconnect() -> Message:
    return {"type": "http.disconnect"}
