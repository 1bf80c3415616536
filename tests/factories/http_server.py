"""A real HTTP server on loopback that sends the replies of a test and records the requests."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """One reply; a body that is not text is sent as JSON."""

    body: Any = ""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[ReceivedRequest], Reply | Awaitable[Reply]]


class ScriptedServer:
    """Set `replies[path]` to a list (each is sent once, the last one repeatedly) or to a function of the request."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Reply] | Handler] = {}
        self.requests: list[ReceivedRequest] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [one.path for one in self.requests]

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self._application())
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._serve)
        return application

    async def _serve(self, request: web.Request) -> web.Response:
        asked = ReceivedRequest(
            request.method, request.path, dict(request.query), dict(request.headers), await request.read(), monotonic()
        )
        self.requests.append(asked)
        script = self.replies.get(request.path, [Reply("no such page", 404, "text/plain")])
        if isinstance(script, list):
            reply = script.pop(0) if len(script) > 1 else script[0]
        else:
            made = script(asked)
            reply = made if isinstance(made, Reply) else await made
        body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        return web.Response(
            text=body, status=reply.status, content_type=reply.content_type, headers=reply.headers or None
        )
