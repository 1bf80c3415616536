"""The wall before the routes: a request id, a pace, bounded bodies, known names, and an answer whatever happens."""

import asyncio
import logging
import re
import time
from http import HTTPStatus
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.api.http import authorization, rate_limit
from scrapersky.api.http.client_address import TrustedProxies, is_loopback, split_list
from scrapersky.api.http.head_requests import HeadSent, as_get, headers_only
from scrapersky.api.http.problems import Problem, extra_headers, problem_of, render_problem
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
from scrapersky.api.http.strict_json import IMPORTS
from scrapersky.core.settings import Settings

log = structlog.get_logger(__name__)

BODY_BYTES = 1_000_000
IMPORT_BYTES = 10_000_000  # a table that somebody has
BODY_SECONDS = 10.0  # for any body, and
STEADY_BYTES = 64_000  # for each so many a second more: a slow line is no crime, a standing one is
STALL_SECONDS = 30.0  # a reader that takes nothing for so long keeps a connection of the database for nothing
MAX_HEADERS, HEADER_BYTES = 100, 32_768  # the server's fast parser knows no limit of its own
SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))


class RequestGuard:
    """An ASGI wrapper. Nothing that it refuses reaches a route; nothing that a route raises reaches the server."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        local_only: bool,
        body_seconds: float = BODY_SECONDS,
        held_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        self._app = app
        self._bodies = BodyMemory(held_bytes)
        self._local_only = local_only
        self._is_production = settings.environment == "production"
        self._hosts = frozenset(split_list(settings.allowed_hosts))
        self._proxies = TrustedProxies(settings.trusted_proxies)
        self._body_seconds, self._answer_seconds = body_seconds, settings.response_timeout_seconds
        self.origins = CorsOrigins(settings.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the request its id, then refuse it or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = scope["request_id"] = _request_id(headers.get("x-request-id"))
        self._proxies.look_through(scope, headers)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await _Exchange(self, scope, headers, send).run(receive)

    async def answer(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Look at who asks, read the body, then let the routes answer."""
        if len(headers.raw) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers.raw) > HEADER_BYTES:
            raise RequestRefused(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "There are too many headers, or too long ones."
            )
        self._refuse_strangers(scope, headers)
        if preflight := self.origins.preflight(scope, headers):
            await preflight(scope, receive, send)
            return
        if "app" in scope:
            await rate_limit.limit_address(scope, scope["app"].state.application)
        is_import = scope["path"].startswith(IMPORTS)
        with self._bodies.reading() as reading:
            body = await self._body(scope, headers, receive, IMPORT_BYTES if is_import else BODY_BYTES, reading)
            seconds = self._answer_seconds * (10 if is_import else 1)
            if scope["method"] == "HEAD":
                scope, send = as_get(scope), headers_only(send)
            await self._within_time(scope, replay(body, receive), send, seconds)

    def is_over_https(self, scope: Scope) -> bool:
        """Whether browsers may be told to come by HTTPS only."""
        return self._is_production and scope["scheme"] == "https"

    def _refuse_strangers(self, scope: Scope, headers: Headers) -> None:
        name = _name_of(headers.get("host"))
        if self._local_only and not (is_loopback(scope) and name in LOOPBACK_NAMES):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "In development only this machine is served.")
        if self._hosts and not self._is_known(name, scope):
            raise RequestRefused(HTTPStatus.MISDIRECTED_REQUEST, "This service is not called by that name.")
        if scope["method"] not in SAFE and self._is_cross_site(headers):
            raise RequestRefused(HTTPStatus.FORBIDDEN, "A page of another site may not change anything here.")

    def _is_known(self, name: str, scope: Scope) -> bool:
        """Probes ask by an address that nobody listed."""
        local = name in LOOPBACK_NAMES and is_loopback(scope)
        return local or name in self._hosts or scope["path"] in rate_limit.UNLIMITED_PATHS

    def _is_cross_site(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None and origin in self.origins:
            return False
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return True
        return origin is not None and origin.split("://")[-1] != headers.get("host")

    async def _body(self, scope: Scope, headers: Headers, receive: Receive, most: int, reading: BodyReader) -> bytes:
        async def refuse_strangers() -> None:
            if "app" in scope:
                await authorization.check_credential(headers, scope["app"].state.application)

        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        if len(length) > 18 or int(length) > most:
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {most:,} bytes.")
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(began + self._body_seconds) as deadline:

                def go_on(received: int) -> None:
                    deadline.reschedule(began + self._body_seconds + received / STEADY_BYTES)

                return await reading.read(receive, most, refuse_strangers, go_on)
        except BodyTooLarge:
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {most:,} bytes.") from None
        except BodyMemoryFull:
            raise RequestRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, "Too many large bodies are read at this moment."
            ) from None
        except TimeoutError:
            raise RequestRefused(
                HTTPStatus.REQUEST_TIMEOUT,
                f"The body did not arrive in {self._body_seconds:g} seconds, nor at {STEADY_BYTES:,} bytes a second.",
            ) from None

    async def _within_time(self, scope: Scope, receive: Receive, send: Send, seconds: float) -> None:
        """The answer must have begun when the time is over; how long it then flows is up to its reader."""
        async with asyncio.timeout(seconds) as deadline:

            async def begin(message: Message) -> None:
                deadline.reschedule(None)
                await send(message)

            try:
                await self._app(scope, receive, begin)
            except asyncio.CancelledError:
                if deadline.expired():
                    raise RequestRefused(
                        HTTPStatus.SERVICE_UNAVAILABLE,
                        f"It took longer than {seconds:g} seconds and was given up. Ask for less at once.",
                    ) from None
                raise


class RequestRefused(Exception):
    """The request does not get as far as a route."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.problem = Problem(title=status.phrase, status=status, detail=why)


class _Exchange:
    """One request and its answer, which gets our headers and a line in the log."""

    def __init__(self, guard: RequestGuard, scope: Scope, headers: Headers, send: Send) -> None:
        self._guard, self._scope, self._headers, self._send = guard, scope, headers, send
        self._request_id: str = scope["request_id"]
        self._status = 0
        self._started = time.perf_counter()

    async def run(self, receive: Receive) -> None:
        try:
            await self._guard.answer(self._scope, self._headers, receive, self._answer)
        except ClientDisconnected:
            log.debug("client_disconnected")
        except HeadSent:
            log.debug("head_response_sent")
        except Exception as error:  # noqa: BLE001 - whatever a route raises becomes an answer, here and nowhere else
            await self._fail(error)
        self._log()

    async def _fail(self, error: Exception) -> None:
        problem = error.problem if isinstance(error, RequestRefused) else problem_of(error)
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request_failed", exc_info=error)
        elif problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            log.warning("service_unavailable", error=f"{type(error).__name__}: {error}"[:500])
        if self._status:
            raise error  # half an answer is out: only the server can cut the line
        await render_problem(problem, self._request_id, extra_headers(error))(self._scope, _nothing, self._answer)

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._head(MutableHeaders(scope=message))
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._send(message)
        except TimeoutError:
            log.warning("client_stalled", path=self._scope["path"][:200])
            raise ClientDisconnected from None

    def _head(self, headers: MutableHeaders) -> None:
        headers["X-Request-Id"] = self._request_id
        headers.update(rate_limit.rate_headers(self._scope))
        self._guard.origins.tell(self._headers.get("origin"), headers)
        add_security_headers(headers, self._guard.is_over_https(self._scope))

    def _log(self) -> None:
        scope, seconds = self._scope, round(time.perf_counter() - self._started, 4)
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
    """The caller's own, if it looks like one; it goes into logs and headers."""
    return given if given and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else uuid4().hex


def _name_of(host: str | None) -> str:
    """The name in a Host header, without port and brackets. A page that rebinds its name to us is told by it."""
    return re.sub(r":\d{0,5}$", "", host or "").strip("[]").lower()


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
