"""The cookie of a login in a browser: its name, its flags, and how a request carries it."""

import re
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

CONSOLE = "/console"  # the path below which the cookie is a credential
STATIC = f"{CONSOLE}/static/"
PART = "console-part"  # the header that requests one block of a page, such as a live one
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
MAX_AGE_SECONDS = 30 * 86_400
MAX_COOKIE_BYTES = 8_192

_SECURE_NAME = "__Host-scrapersky"  # browsers accept it over https only, and only for the whole of this very host
_LOCAL_NAME = "scrapersky"


def is_console_path(path: str) -> bool:
    """Return whether the path belongs to the console."""
    return path == CONSOLE or path.startswith(f"{CONSOLE}/")


def cookie_name(scope: Scope, headers: Headers) -> str | None:
    """Return the name of the cookie; None if no login is possible: plain http to another machine."""
    if scope["scheme"] == "https":
        return _SECURE_NAME
    return _LOCAL_NAME if host_name(headers.get("host")) in LOOPBACK_NAMES else None


def secret_of(scope: Scope, headers: Headers) -> str | None:
    """Return the secret in the request's cookie, or None."""
    name, sent = cookie_name(scope, headers), "; ".join(headers.getlist("cookie"))
    if name is None or not sent or len(sent) > MAX_COOKIE_BYTES:
        return None
    try:
        found = SimpleCookie(sent).get(name)
    except CookieError:
        return None
    return found.value if found and re.fullmatch(r"[A-Za-z0-9_-]{20,100}", found.value) else None


def set_secret(response: Response, name: str, secret: str) -> None:
    """Let the browser keep the secret: unreadable for scripts, not sent with requests of other sites' forms."""
    secure = name == _SECURE_NAME
    response.set_cookie(name, secret, MAX_AGE_SECONDS, path="/", secure=secure, httponly=True, samesite="lax")


def remove_secret(response: Response, name: str) -> None:
    """Let the browser forget the secret."""
    response.delete_cookie(name, path="/", secure=name == _SECURE_NAME, httponly=True, samesite="lax")


def host_name(host: str | None) -> str:
    """Return the name in a Host header without port and brackets. Checking it prevents DNS rebinding."""
    return re.sub(r":\d{0,5}$", "", host or "").strip("[]").lower()
