"""The wall before the routes: a request id, a bounded body, this machine only, and an answer whatever happens."""

import asyncio
import ipaddress
import re
import time
from collections.abc import Sequence
from http import HTTPStatus
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.api.problems import Problem, problem_of, render

log = structlog.get_logger(__name__)

BODY_BYTES = 1_000_000
IMPORT_BYTES = 10_000_000  # a table that somebody has
BODY_SECONDS = 10.0
MOST_HEADERS, HEADER_BYTES = 100, 32_768  # the server's fast parser knows no limit of its own
SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


class Guard:
    """An ASGI wrapper. Nothing that it refuses reaches a route; nothing that a route raises reaches the server."""

    def __init__(
        self, app: ASGIApp, *, local_only: bool, names: Sequence[str] = (), seconds: float = BODY_SECONDS
    ) -> None:
        self._app = app
        self._local_only = local_only
        self._names = frozenset([*LOOPBACK_NAMES, *names])
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the request its id, then refuse it or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(Headers(scope=scope).get("x-request-id"))
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await _Exchange(scope, send, request_id).run(self, receive)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then let the routes answer."""
        headers = Headers(scope=scope)
        if len(headers.raw) > MOST_HEADERS or sum(len(name) + len(value) for name, value in headers.raw) > HEADER_BYTES:
            raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "There are too many headers, or too long ones.")
        self._refuse_strangers(scope, headers)
        body = await self._body(headers, receive, _most(scope["path"]))
        await self._app(scope, _replay(body, receive), send)

    def _refuse_strangers(self, scope: Scope, headers: Headers) -> None:
        if self._local_only and not (
            _is_loopback(scope.get("client")) and _name_of(headers.get("host")) in self._names
        ):
            raise Refused(
                HTTPStatus.FORBIDDEN, "Only this machine is served. SCRAPERSKY_ALLOW_REMOTE=true changes that."
            )
        if scope["method"] not in SAFE and _is_cross_site(headers):
            raise Refused(HTTPStatus.FORBIDDEN, "A page of another site may not change anything here.")

    async def _body(self, headers: Headers, receive: Receive, most: int) -> bytes:
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise Refused(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        if len(length) > 18 or int(length) > most:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {most:,} bytes.")
        try:
            async with asyncio.timeout(self._seconds):
                return await _read(receive, most)
        except TimeoutError:
            raise Refused(
                HTTPStatus.REQUEST_TIMEOUT, f"The body did not arrive in {self._seconds:g} seconds."
            ) from None


class Refused(Exception):
    """The request does not get as far as a route."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.problem = Problem(title=status.phrase, status=status, detail=why)


class Gone(Exception):
    """The client went away before its request was complete."""


class _Exchange:
    """One request and its answer, which gets our headers and a line in the log."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope, self._send, self._request_id = scope, send, request_id
        self._status = 0
        self._started = time.perf_counter()

    async def run(self, guard: Guard, receive: Receive) -> None:
        try:
            await guard.answer(self._scope, receive, self._answer)
        except Gone:
            log.debug("client_gone")
        except Refused as error:
            await self._render(error.problem)
        except Exception as error:  # noqa: BLE001 - whatever a route raises becomes an answer, here and nowhere else
            await self._fail(error)
        self._log()

    async def _fail(self, error: Exception) -> None:
        problem = problem_of(error)
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request_failed", exc_info=error)
        elif problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            log.warning("request_unavailable", error=f"{type(error).__name__}: {error}"[:500])
        if self._status:
            raise error  # half an answer is out: only the server can cut the line
        await self._render(problem)

    async def _render(self, problem: Problem) -> None:
        await render(problem, self._request_id)(self._scope, _nothing, self._answer)

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._request_id
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)

    def _log(self) -> None:
        scope, seconds = self._scope, round(time.perf_counter() - self._started, 4)
        say = log.debug if scope["path"].startswith(("/health", "/metrics")) else log.info
        say("request_served", method=scope["method"], path=scope["path"][:200], status=self._status, seconds=seconds)


def _request_id(given: str | None) -> str:
    """The caller's own, if it looks like one; it goes into logs and headers."""
    return given if given and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else uuid4().hex


def _is_loopback(client: tuple[str, int] | None) -> bool:
    if client is None:  # a local socket
        return True
    try:
        return ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


def _name_of(host: str | None) -> str:
    """The name in a Host header, without port and brackets. A page that rebinds its name to us is told by it."""
    return re.sub(r":\d{0,5}$", "", host or "").strip("[]").lower()


def _is_cross_site(headers: Headers) -> bool:
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.split("://")[-1] != headers.get("host")


def _most(path: str) -> int:
    return IMPORT_BYTES if path.startswith("/api/v3/imports/") else BODY_BYTES


async def _read(receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if len(body) > most:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {most:,} bytes.")
        if not message.get("more_body"):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hands over the body that was read, then what the server says."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
