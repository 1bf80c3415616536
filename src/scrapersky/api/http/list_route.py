"""The route class of lists: a page has an ETag, and a client that has the page gets 304 without a body."""

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, get_type_hints

from fastapi import Depends, Header, Request
from fastapi.datastructures import DefaultPlaceholder
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="If-None-Match",
        pattern="^[ -~]+$",
        max_length=500,
        description="the `ETag` of the page you have: 304 if it is the same",
        examples=['W/"9f86d081884c7d659a2feaa0c55ad015"'],
    ),
]
ANY = "*"  # If-None-Match: any version


async def _read_etags(known: IfNoneMatch = None) -> None:
    """Declare and check the header; ListRoute reads it."""


class ListRoute(APIRoute):
    """A route; if its response is a model with `items`, that response has an ETag."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        model = options.get("response_model")
        if model is None or isinstance(model, DefaultPlaceholder):
            model = get_type_hints(endpoint).get("return")
        has_items = isinstance(model, type) and issubclass(model, BaseModel) and "items" in model.model_fields
        self.is_list = has_items and "GET" in (options.get("methods") or ())
        if self.is_list:
            before = [one for one in options.get("dependencies") or () if one.dependency is not _read_etags]
            options["dependencies"] = [*before, Depends(_read_etags)]
            unchanged = {304: {"description": "The page is the one that has this ETag."}}
            options["responses"] = {**(options.get("responses") or {}), **unchanged}
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler; that of a list adds the ETag, or responds with 304."""
        handle = super().get_route_handler()

        async def handle_list(request: Request) -> Response:
            return _tagged(await handle(request), request.headers.get("if-none-match", ""))

        return handle_list if self.is_list else handle


def _tagged(response: Response, known: str) -> Response:
    """Return the page with its ETag, or 304 if the client has it."""
    tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    if {tag, ANY} & {one.strip() for one in known.split(",")}:
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response
