"""Headers of every response: what browsers may do with it, and which origins may read it (CORS)."""

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
    "Referrer-Policy": "same-origin",  # with no-referrer our own forms would send `Origin: null`
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
    """The origins of SCRAPERSKY_CORS_ORIGINS: exact matches, never with cookies."""

    def __init__(self, listed: str) -> None:
        self._listed = frozenset(split_list(listed))

    def __contains__(self, origin: object) -> bool:
        return origin in self._listed

    def preflight(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Return the response to a preflight request of a listed origin; None for every other request."""
        is_preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if not is_preflight or headers.get("origin") not in self:
            return None
        allowed = {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": REQUEST_HEADERS,
            "Access-Control-Max-Age": "600",
        }
        return Response(status_code=204, headers=allowed)

    def add_headers(self, origin: str | None, response: MutableHeaders) -> None:
        """Let pages of a listed origin read the response."""
        if not self._listed:
            return
        response.add_vary_header("Origin")
        if origin is not None and origin in self:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = RESPONSE_HEADERS
            response["Cross-Origin-Resource-Policy"] = "cross-origin"


def add_security_headers(response: MutableHeaders, over_https: bool) -> None:
    """Add the security headers that the route has not set itself."""
    for name, value in SECURITY_HEADERS.items():
        response.setdefault(name, value)
    if over_https:
        response.setdefault("Strict-Transport-Security", f"max-age={YEAR_SECONDS}; includeSubDomains")
