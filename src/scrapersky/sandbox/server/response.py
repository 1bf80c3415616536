"""Requests and responses of the sandbox."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in."""

    method: str
    host: str  # without the port
    path: str
    query: str
    headers: Mapping[str, str]  # lower case names
    body: bytes = b""
    secure: bool = False  # it came over https


@dataclass(frozen=True, slots=True)
class Response:
    """A status and a body. It may be late, be cut off, or never be sent."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_seconds: float = 0.0  # before anything comes
    drip_seconds: float = 0.0  # the body comes in pieces over this time
    cut: bool = False  # only half of what was promised comes
    hang_up: bool = False  # nothing comes at all


def json_response(value: object, status: int = 200) -> Response:
    """Build a JSON response."""
    return Response(status, json.dumps(value, ensure_ascii=False).encode(), "application/json; charset=utf-8")


def redirect(location: str) -> Response:
    """Build a permanent redirect."""
    return Response(301, b"", headers={"Location": location})


def page_response(status: int, text: str) -> Response:
    """Build a short HTML page with this text."""
    title = HTTPStatus(status).phrase
    return Response(status, f"<!doctype html><title>{status} {title}</title><h1>{title}</h1><p>{text}</p>".encode())
