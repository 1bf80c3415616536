"""Login, welcome (the first admin, or a person who was invited) and logout."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from scrapersky.api.accounts import auth, users
from scrapersky.api.accounts.auth import LoginRequest
from scrapersky.api.accounts.users import AcceptInvitation, InvitationDetail
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http import browser_cookie
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.console.answers import PAGE_HEADERS, plain_page
from scrapersky.console.forms import MAX_FIELDS, explain
from scrapersky.console.gates import CurrentPage, SentForm, is_sandbox, own_path
from scrapersky.console.language import gettext as _
from scrapersky.core.errors import AccessRefused, Conflict, NotAuthorized
from scrapersky.core.secrets import tokens
from scrapersky.core.secrets.passwords import MIN_LENGTH
from scrapersky.store.accounts import tenants

VISITOR = "visitor"  # the name of somebody who looks at the demo


class InsecureConnection(NotAuthorized):
    """A browser keeps no login of this page: it came over plain http from another machine."""


async def show_login(request: Request, application: CurrentApplication) -> Response:
    """Draw the login form."""
    return await _login_page(request, application, {"next": request.query_params.get("next", "")})


async def log_in(request: Request, application: CurrentApplication, form: SentForm) -> Response:
    """Check the password, start a session and lead to the page that was asked for."""
    fields = {name: form.get(name) for name in ("tenant", "name", "next", "kept", "kept_path")}
    name = _cookie_name(request)
    try:
        body = LoginRequest(
            tenant=fields["tenant"] or tenants.DEFAULT,
            name=fields["name"],
            password=(form.all("password") or [""])[-1],
        )
        response = _send_again(request, fields) if fields["kept"] else _lead_to(own_path(fields["next"]))
        return await _start(request, application, body, name, response)
    except ValidationError:
        return await _login_page(request, application, fields, _("Type your name and your password."), 422)
    except AccessRefused as error:
        response = await _login_page(request, application, fields, _(str(error)), error.status_code)
        if retry := error.headers.get("Retry-After"):
            response.headers["Retry-After"] = retry
        return response


async def log_out(asked: CurrentPage) -> Response:
    """End this session at once; the browser forgets its cookies and what pages stored."""
    await auth.logout(asked.application, asked.actor)
    headers = {**PAGE_HEADERS, "Clear-Site-Data": '"cookies", "storage"'}
    response = RedirectResponse(f"{CONSOLE}/login", HTTPStatus.SEE_OTHER, headers)
    browser_cookie.remove_secret(response, _cookie_name(asked.request))
    return response


async def show_welcome(request: Request, application: CurrentApplication) -> Response:
    """Draw the form in which an invited person chooses a name and a password."""
    sent = request.query_params
    token = sent.get("token", "")[:200]
    invitation = await users.get_invitation(token, application)
    looks = "yes" if sent.get("look") == "yes" and is_sandbox(application) else ""
    return _welcome_page(request, invitation, {"token": token, "look": looks, "next": sent.get("next", "")[:300]})


async def accept(request: Request, application: CurrentApplication, form: SentForm) -> Response:
    """Create the user and log in; the person need not type the password again."""
    fields = {name: form.get(name) for name in ("token", "name", "look", "next")}
    password = (form.all("password") or [""])[-1]
    if fields["look"] == "yes" and is_sandbox(application):  # a visitor of the demo, who logs in only once
        fields["name"], password = VISITOR, tokens.new_secret()
    cookie = _cookie_name(request)
    invitation = await users.get_invitation(fields["token"], application)
    try:
        body = AcceptInvitation(token=fields["token"], name=fields["name"], password=password)
        user = await users.accept_invitation(body, request, application)
    except ValidationError as error:
        return _welcome_page(request, invitation, fields, _sentence(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except Conflict as error:  # the invitation stays open: another name may be free
        return _welcome_page(request, invitation, fields, explain(error), HTTPStatus.CONFLICT)
    login = LoginRequest(tenant=invitation.tenant, name=user.name, password=body.password)
    return await _start(request, application, login, cookie, _lead_to(own_path(fields["next"])))


def _lead_to(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER, PAGE_HEADERS)


def _send_again(request: Request, fields: Mapping[str, str]) -> Response:
    """Draw the form that was sent when the login had ended; the person decides whether it is sent again."""
    kept = parse_qsl(fields["kept"], keep_blank_values=True)[:MAX_FIELDS]
    return plain_page(request, "send_again.html", path=own_path(fields["kept_path"]), fields=kept)


async def _start(
    request: Request, application: WebApplication, body: LoginRequest, cookie: str, response: Response
) -> Response:
    """Start a session and give its secret to the browser with the response."""
    secret = tokens.new_secret()
    await auth.start_session(request, application, body, secret)
    browser_cookie.set_secret(response, cookie, secret)
    return response


def _cookie_name(request: Request) -> str:
    name = browser_cookie.cookie_name(request.scope, request.headers)
    if name is None:
        raise InsecureConnection(
            _(
                "Open the console over https, or as http://localhost on this machine. "
                "Behind a proxy that ends https, set SCRAPERSKY_TRUSTED_PROXIES."
            )
        )
    return name


async def _login_page(
    request: Request,
    application: WebApplication,
    fields: Mapping[str, Any],
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    async with application.database.engine_session() as session:
        several = len(await tenants.page(session, limit=2)) > 1
    shown = {"tenant": "", "name": "", "next": "", "kept": "", "kept_path": "", **fields}
    return plain_page(request, "login.html", status, fields=shown, problem=problem, asks_tenant=several)


def _welcome_page(
    request: Request,
    invitation: InvitationDetail,
    fields: Mapping[str, Any],
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    shown = {"name": "", "look": "", "next": "", **fields}
    context = {"fields": shown, "invitation": invitation, "problem": problem, "min_length": MIN_LENGTH}
    return plain_page(request, "welcome.html", status, **context)


def _sentence(error: ValidationError) -> str:
    wrong = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
    if "password" in wrong:
        return _("The password needs %(count)s characters or more.") % {"count": MIN_LENGTH}
    return _("Type a name of 1 to 100 characters.")
