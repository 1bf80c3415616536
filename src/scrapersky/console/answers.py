"""What a page answers with: a whole page, one part of it, a redirect with a notice, an error page."""

import hashlib
from collections.abc import Sequence
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
from scrapersky.api.http.browser_cookie import CONSOLE, PART, is_console_path
from scrapersky.api.http.problems import Problem
from scrapersky.api.http.security_headers import CONTENT_SECURITY_POLICY
from scrapersky.api.schemas.cursors import BadCursor, text
from scrapersky.console import language
from scrapersky.console.alarms import alarm_path, is_of_step
from scrapersky.console.assets import assets
from scrapersky.console.draw import bars, charts, rows, words
from scrapersky.console.forms import BadForm, parse_form
from scrapersky.console.gates import PageRequest, refused_request
from scrapersky.console.navigation import Entry, Section, bar, has_page, path_of, sections
from scrapersky.core import clock
from scrapersky.core.errors import UnknownName
from scrapersky.core.preferences import Preferences

PAGE_HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; require-trusted-types-for 'script'; trusted-types console",
    "X-Robots-Tag": "noindex, nofollow",
    "Vary": "Console-Part",
}
NOTICE, THEME = "scrapersky-notice", "scrapersky-theme"  # cookies
NOTICE_SECONDS = 60
MAX_NOTICE_LENGTH = 500
MAX_KEPT_BYTES = 60_000  # of a form whose login has ended
THEMES = ("light", "dark")
PASSING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)  # the same request may succeed later
# Of draw/words.py.
FILTERS = (
    "when",
    "number",
    "phone",
    "duration",
    "roughly",
    "money",
    "counted",
    "step_label",
    "cut",
    "search_name",
    "noun_of_results",
    "to_send",
    "not_sent",
)
PHRASES = {
    HTTPStatus.NOT_FOUND: language.mark("There is no such page."),
    HTTPStatus.METHOD_NOT_ALLOWED: language.mark("This page takes no such request."),
}


class UnknownPart(UnknownName):
    """The page has no such part."""


@dataclass(frozen=True)
class Shell:
    """What surrounds every page of a person who is logged in."""

    asked: PageRequest
    sections: Sequence[Section]
    notice: str | None
    undo: str | None  # the id of the action that the notice is about, if it can be undone
    is_job: bool = False  # the notice is about a job

    @property
    def bar(self) -> Sequence[Entry]:
        """The entries of the bar at the bottom of phones."""
        return bar(self.sections)


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
        auto_reload=False,
    )
    install = made.install_gettext_callables  # type: ignore[attr-defined]
    install(language.gettext, language.ngettext, newstyle=True)
    made.globals.update(asset=assets().path, version=__version__, console=CONSOLE, urlencode=urlencode)
    made.globals.update(language=language.current, has_page=has_page, path_of_entry=path_of)
    # What `_` returns counts as HTML: it takes texts of the template only. Words that are data are escaped.
    made.globals["translated"] = language.gettext
    made.globals.update(
        {name: getattr(words, name) for name in ("web_address", "host_of", "path_of", "marked", "moment", "program")}
    )
    made.globals.update(stacked_bar=bars.stacked_bar, sparkline=charts.sparkline, funnel_bar=charts.funnel_bar)
    made.globals.update(row_line=rows.row_line, heading=rows.heading, cell=rows.cell)
    made.globals["current_time"] = clock.now
    made.globals.update(alarm_path=alarm_path, is_of_step=is_of_step)
    made.globals.update(draw_bars=charts.bars, draw_lines=charts.lines)
    made.filters.update({name: getattr(words, name) for name in FILTERS})
    made.globals["ui"] = made.get_template("macros.html").module
    return made


def compile_templates() -> None:
    """Compile all templates, in a thread at the start; otherwise the first page that needs one would wait for it."""
    for name in environment().list_templates():
        environment().get_template(name)


def secret_page(asked: PageRequest, template: str, **context: Any) -> Response:
    """Draw a page that shows a secret once: it is not compressed, because the length would tell about the content."""
    response = page(asked, template, HTTPStatus.CREATED, **context)
    response.headers["Content-Encoding"] = "identity"
    return response


def page(asked: PageRequest, template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
    """Draw a page within the shell, or only the part that the request names; 304 if the client has the same."""
    shell = Shell(asked, sections(asked), *_notice(asked))
    response = _draw(asked.request, template, status, {"shell": shell, **_look(asked.request), **context})
    if shell.notice:
        response.delete_cookie(NOTICE, path=CONSOLE)
    return response


def plain_page(request: Request, template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
    """Draw a page without the shell: for people who are not logged in."""
    return _draw(request, template, status, {**_look(request), **context})


def redirect(
    asked: PageRequest, path: str, notice: str | None = None, action_id: UUID | None = None, *, is_job: bool = False
) -> Response:
    """Redirect to another page after a change; that page shows the notice once, and offers to undo the action.

    If a job does the work, the notice has a link to the jobs.
    """
    response = RedirectResponse(path, HTTPStatus.SEE_OTHER, PAGE_HEADERS)
    if notice:
        signed = asked.application.cursors.encode(NOTICE, [notice[:MAX_NOTICE_LENGTH], str(action_id or ""), is_job])
        secure = asked.request.url.scheme == "https"
        response.set_cookie(
            NOTICE, signed, NOTICE_SECONDS, path=CONSOLE, secure=secure, httponly=True, samesite="strict"
        )
    return response


def error_page(scope: Scope, problem: Problem) -> Response:
    """Draw an error as a page; where a login is missing, redirect to it and back."""
    request = Request(scope)
    language.set_language(request)
    asked: PageRequest | None = scope.get("page_request") or refused_request(request)
    is_part = PART in request.headers
    if problem.status == HTTPStatus.UNAUTHORIZED and is_console_path(request.url.path) and not is_part:
        return _lead_to_login(request) if scope["method"] == "GET" else _ask_login(request)
    shell = Shell(asked, sections(asked), None, None) if asked else None
    context = {"shell": shell, **_look(request), "problem": problem, "title": _title(problem)}
    context["without_filter"] = _without_filter(request, problem)
    context["tries_again"] = request.method == "GET" and problem.status in PASSING
    html = environment().get_template("error.html").render(context)
    return HTMLResponse(html, problem.status, PAGE_HEADERS)


def _without_filter(request: Request, problem: Problem) -> str | None:
    """Return the address of a list without the filter that is wrong, if the problem is about one."""
    name = (problem.model_extra or {}).get("wrong_filter")
    if not name or request.method != "GET":
        return None
    kept = [(other, value) for other, value in request.query_params.multi_items() if other != name]
    return f"{request.url.path}?{urlencode(kept)}" if kept else request.url.path


def _title(problem: Problem) -> str:
    """Return the sentence of a problem; the phrase of a status code is none."""
    status = HTTPStatus(problem.status)
    return language.gettext(PHRASES.get(status, problem.title) if problem.title == status.phrase else problem.title)


def _lead_to_login(request: Request) -> Response:
    address = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return RedirectResponse(f"{CONSOLE}/login?next={quote(address)}", HTTPStatus.SEE_OTHER, PAGE_HEADERS)


def _ask_login(request: Request) -> Response:
    """Draw the login form with what was sent: it is sent again only when the person says so after the login."""
    body: bytes = request.scope.get("form_body", b"")
    address = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    keeps = 0 < len(body) <= MAX_KEPT_BYTES and "password" not in request.url.path
    sent = _encoded(request, body) if keeps else ""
    kept = {"kept": sent, "kept_path": address if sent else ""}
    fields = {"tenant": "", "name": "", "next": "", **kept}
    kept_or_not = (
        language.gettext("Your login has ended. Log in again: what you sent is kept.")
        if sent
        else language.gettext(
            "Your login has ended. Log in again: then do it once more; what you sent could not be kept."
        )
    )
    context = {"fields": fields, "problem": kept_or_not, "asks_tenant": True}
    return plain_page(request, "login.html", HTTPStatus.UNAUTHORIZED, **context)


def _encoded(request: Request, body: bytes) -> str:
    try:
        return parse_form(request.headers.get("content-type", ""), body).encoded()
    except BadForm:
        return ""


def _draw(request: Request, name: str, status: int, context: dict[str, Any]) -> Response:
    template = environment().get_template(name)
    part = request.headers.get(PART)
    if part is None:
        html = template.render(context)
    elif part in template.blocks:
        html = "".join(template.blocks[part](template.new_context(context)))
    else:
        raise UnknownPart(language.gettext("This page has no part %(part)s.") % {"part": ascii(part[:60])})
    tag = f'W/"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    if status == HTTPStatus.OK and tag in Headers(scope=request.scope).get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={**PAGE_HEADERS, "ETag": tag})
    return HTMLResponse(html, status, {**PAGE_HEADERS, "ETag": tag})


def _look(request: Request) -> dict[str, Any]:
    """Return what the document says about the person's choices; before the login only the theme of the browser."""
    identity = request.scope.get("identity")
    chosen: Preferences = identity.preferences if identity else Preferences()
    theme = chosen.theme if identity else request.cookies.get(THEME)
    return {"preferences": chosen, "theme": theme if theme in THEMES else None}


def _notice(asked: PageRequest) -> tuple[str | None, str | None, bool]:
    """Return the notice of the action before, the id with which that can be undone, and whether a job does it."""
    sent = asked.request.cookies.get(NOTICE)
    if not sent or PART in asked.request.headers:
        return None, None, False
    try:
        notice, action_id, is_job = asked.application.cursors.decode(sent, NOTICE, text, text, bool)
    except BadCursor:
        return None, None, False
    return notice, action_id or None, is_job
