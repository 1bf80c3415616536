"""What a page answers with: a whole page, one part of it, a redirect with a notice, an error page."""

import hashlib
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from scrapersky import __version__
from scrapersky.api.http.browser_cookie import CONSOLE, is_console_path
from scrapersky.api.http.problems import Problem
from scrapersky.api.http.security_headers import CONTENT_SECURITY_POLICY
from scrapersky.api.schemas.cursors import BadCursor, text
from scrapersky.console.assets import assets
from scrapersky.console.draw import bars, words
from scrapersky.console.gates import PageRequest
from scrapersky.console.navigation import sections
from scrapersky.core.errors import UnknownName

PAGE_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; require-trusted-types-for 'script'; trusted-types console",
    "X-Robots-Tag": "noindex, nofollow",
    "Vary": "Console-Part",
}
PART = "console-part"  # the header that asks for one block of a page
NOTICE, THEME = "scrapersky-notice", "scrapersky-theme"  # cookies
NOTICE_SECONDS = 60
MAX_NOTICE_LENGTH = 500
MAX_KEPT_BYTES = 20_000  # of a form whose login has ended
THEMES = ("light", "dark")


class UnknownPart(UnknownName):
    """The page has no such part."""


@dataclass(frozen=True)
class Shell:
    """What surrounds every page of a person who is logged in."""

    asked: PageRequest
    sections: Any
    notice: str | None
    undo: str | None  # the id of the action that the notice is about, if it can be undone


def _same(message: str) -> str:
    return message


def _counted(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


@cache
def environment() -> Environment:
    """Build the template environment: escaping on, unknown names are errors, every word through gettext."""
    made = Environment(
        loader=PackageLoader("scrapersky.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    install = made.install_gettext_callables  # type: ignore[attr-defined]
    install(_same, _counted, newstyle=True)
    made.globals.update(asset=assets().path, version=__version__, console=CONSOLE, urlencode=urlencode)
    made.globals.update({name: getattr(words, name) for name in ("web_address", "host_of", "path_of")})
    made.globals["stacked_bar"] = bars.stacked_bar
    made.filters.update({name: getattr(words, name) for name in ("when", "number", "duration", "cut")})
    made.globals["ui"] = made.get_template("macros.html").module
    return made


def page(asked: PageRequest, template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
    """Draw a page within the shell, or only the part that the request names; 304 if the client has the same."""
    shell = Shell(asked, sections(asked), *_notice(asked))
    response = _draw(asked.request, template, status, {"shell": shell, "theme": _theme(asked.request), **context})
    if shell.notice:
        response.delete_cookie(NOTICE, path=CONSOLE)
    return response


def plain_page(request: Request, template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
    """Draw a page without the shell: for people who are not logged in."""
    return _draw(request, template, status, {"theme": _theme(request), **context})


def redirect(asked: PageRequest, path: str, notice: str | None = None, action_id: UUID | None = None) -> Response:
    """Lead to another page after a change; that page shows the notice once, and offers to undo the action."""
    response = RedirectResponse(path, HTTPStatus.SEE_OTHER, PAGE_HEADERS)
    if notice:
        signed = asked.application.cursors.encode(NOTICE, [notice[:MAX_NOTICE_LENGTH], str(action_id or "")])
        secure = asked.request.url.scheme == "https"
        response.set_cookie(
            NOTICE, signed, NOTICE_SECONDS, path=CONSOLE, secure=secure, httponly=True, samesite="strict"
        )
    return response


def error_page(scope: Scope, problem: Problem) -> Response:
    """Draw an error as a page; where a login is missing, lead to it and back."""
    request = Request(scope)
    asked: PageRequest | None = scope.get("page_request")
    is_part = PART in request.headers
    if problem.status == HTTPStatus.UNAUTHORIZED and is_console_path(request.url.path) and not is_part:
        return _lead_to_login(request) if scope["method"] == "GET" else _ask_login(request)
    shell = Shell(asked, sections(asked), None, None) if asked else None
    context = {"shell": shell, "theme": _theme(request), "problem": problem}
    html = environment().get_template("error.html").render(context)
    return HTMLResponse(html, problem.status, PAGE_HEADERS)


def _lead_to_login(request: Request) -> Response:
    address = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return RedirectResponse(f"{CONSOLE}/login?next={quote(address)}", HTTPStatus.SEE_OTHER, PAGE_HEADERS)


def _ask_login(request: Request) -> Response:
    """Draw the login form with what was sent: it is sent again only when the person says so after the login."""
    body: bytes = request.scope.get("form_body", b"")
    address = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    keeps = len(body) <= MAX_KEPT_BYTES and b"password" not in request.url.path.encode()
    kept = {"kept": body.decode(errors="replace") if keeps else "", "kept_path": address if keeps else ""}
    fields = {"tenant": "", "name": "", "next": "", **kept}
    problem = "Your login has ended. Log in again: what you sent is kept."
    context = {"fields": fields, "problem": problem if keeps else "Your login has ended.", "asks_tenant": True}
    return plain_page(request, "login.html", HTTPStatus.UNAUTHORIZED, **context)


def _draw(request: Request, name: str, status: int, context: dict[str, Any]) -> Response:
    template = environment().get_template(name)
    part = request.headers.get(PART)
    if part is None:
        html = template.render(context)
    elif part in template.blocks:
        html = "".join(template.blocks[part](template.new_context(context)))
    else:
        raise UnknownPart(f"This page has no part {part[:60]!a}.")
    tag = f'W/"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    if status == HTTPStatus.OK and tag in Headers(scope=request.scope).get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={**PAGE_HEADERS, "ETag": tag})
    return HTMLResponse(html, status, {**PAGE_HEADERS, "ETag": tag})


def _theme(request: Request) -> str | None:
    chosen = request.cookies.get(THEME)
    return chosen if chosen in THEMES else None


def _notice(asked: PageRequest) -> tuple[str | None, str | None]:
    """Return the notice of the action before, and the id with which that can be undone."""
    sent = asked.request.cookies.get(NOTICE)
    if not sent or PART in asked.request.headers:
        return None, None
    try:
        notice, action_id = asked.application.cursors.decode(sent, NOTICE, text, text)
    except BadCursor:
        return None, None
    return notice, action_id or None
