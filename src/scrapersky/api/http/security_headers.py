"""The headers of every answer: what a browser may do with it, and whose pages may read it."""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Scope

from scrapersky.api.http.client_address import split_list

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
YEAR_SECONDS = 31_536_000
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-Id"
RESPONSE_HEADERS = "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"


class CorsOrigins:
    """The origins of SCRAPERSKY_CORS_ORIGINS: exact ones, and never with a browser's cookies."""

    def __init__(self, listed: str) -> None:
        self._listed = frozenset(split_list(listed))

    def __contains__(self, origin: object) -> bool:
        return origin in self._listed

    def preflight(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """The answer to a browser that asks whether it may ask; None for every other request."""
        is_one = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if not is_one or headers.get("origin") not in self:
            return None
        allowed = {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": REQUEST_HEADERS,
            "Access-Control-Max-Age": "600",
        }
        return Response(status_code=204, headers=allowed)

    def tell(self, origin: str | None, answer: MutableHeaders) -> None:
        """Let the page of a listed origin read the answer."""
        if not self._listed:
            return
        answer.add_vary_header("Origin")
        if origin is not None and origin in self:
            answer["Access-Control-Allow-Origin"] = origin
            answer["Access-Control-Expose-Headers"] = RESPONSE_HEADERS
            answer["Cross-Origin-Resource-Policy"] = "cross-origin"


def add_security_headers(answer: MutableHeaders, over_https: bool) -> None:
    """What every answer carries, unless a route has said otherwise."""
    for name, value in SECURITY_HEADERS.items():
        answer.setdefault(name, value)
    if over_https:
        answer.setdefault("Strict-Transport-Security", f"max-age={YEAR_SECONDS}; includeSubDomains")
