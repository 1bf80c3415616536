"""People of the tenant: roles, invitations, logins; and API keys."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts import api_keys, users
from scrapersky.api.accounts.api_keys import CreatedApiKey, NewApiKey
from scrapersky.api.accounts.users import InviteRequest, NewInvitation, UserChange
from scrapersky.api.http.authorization import ADMIN, CurrentUser
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.schemas.fields import MAX_PAGE, RowId
from scrapersky.console.answers import page, redirect, secret_page
from scrapersky.console.forms import BadForm, explain
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark, ngettext
from scrapersky.core import clock
from scrapersky.core.errors import Conflict
from scrapersky.core.roles import Role, scopes_of

HERE, KEYS = f"{CONSOLE}/people", f"{CONSOLE}/keys"
LIFETIMES = {
    "30": mark("30 days"),
    "90": mark("90 days"),
    "365": mark("a year"),
    "": mark("no end"),
}  # of a key, in days


async def show(asked: CurrentPage) -> Response:
    """Draw the people of the tenant and the open invitations."""
    return await _draw(asked)


async def change(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Change the role of a person, or disable or enable them. The last admin stays."""
    try:
        body = UserChange.model_validate({name: form.get(name) for name in ("role",) if form.get(name)})
        if form.get("disabled"):
            body = UserChange(disabled=form.get("disabled") == "yes")
        user = await users.change_user(row_id, body, asked.application, asked.actor)
    except ValidationError:
        raise BadForm(_("Choose one of the roles %(roles)s.") % {"roles": ", ".join(Role)}) from None
    except Conflict as error:
        return await _draw(asked, explain(error), error.status_code)
    said = _("%(name)s cannot log in any more.") if user.disabled else _("%(name)s is %(role)s from now on.")
    return redirect(asked, HERE, said % {"name": user.name, "role": _(user.role)})


async def end_logins(row_id: RowId, asked: CurrentPage) -> Response:
    """End every login of a person."""
    done = await users.end_user_sessions(row_id, asked.application, asked.actor)
    return redirect(
        asked,
        HERE,
        ngettext("%(count)s login has ended.", "%(count)s logins have ended.", done.ended)
        % {"count": f"{done.ended:,}"},
    )


async def invite(asked: CurrentPage, form: SentForm) -> Response:
    """Create an invitation and show its link, once."""
    try:
        body = InviteRequest.model_validate({"role": form.get("role")})
    except ValidationError:
        raise BadForm(_("Choose one of the roles %(roles)s.") % {"roles": ", ".join(Role)}) from None
    made = await users.invite_user(body, asked.application, asked.actor)
    return secret_page(asked, "invited.html", made=made, link=_whole(asked, made), here=HERE)


async def withdraw(row_id: RowId, asked: CurrentPage) -> Response:
    """Withdraw an invitation."""
    await users.withdraw_invitation(row_id, asked.application, asked.actor)
    return redirect(asked, HERE, _("The invitation was withdrawn: its link does not work any more."))


async def show_keys(asked: CurrentPage, user_id: CurrentUser) -> Response:
    """Draw the API keys of the person; an admin sees those of the tenant."""
    return await _draw_keys(asked, user_id)


async def create_key(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
    """Create a key and show it, once."""
    days = form.get("days")
    values: dict[str, Any] = {"name": form.get("name"), "scopes": form.all("scope") or None}
    if days:
        if days not in LIFETIMES:
            raise BadForm(_("Choose how long the key is valid."))
        values["expires_at"] = (clock.now() + timedelta(days=int(days))).isoformat()
    try:
        made = await api_keys.create_api_key(NewApiKey.model_validate(values), asked.application, asked.actor, user_id)
    except ValidationError:
        said = _("A key needs a name of 1 to 100 characters, and scopes that are offered.")
        return await _draw_keys(asked, user_id, said, HTTPStatus.UNPROCESSABLE_ENTITY, form.get("name"))
    except Conflict as error:
        return await _draw_keys(asked, user_id, explain(error), error.status_code, form.get("name"))
    return _shown_key(asked, made)


async def revoke_key(row_id: RowId, asked: CurrentPage, user_id: CurrentUser) -> Response:
    """Revoke a key."""
    await api_keys.revoke_api_key(row_id, asked.application, asked.actor, user_id)
    return redirect(asked, KEYS, _("The key was revoked: requests with it are refused."))


def _shown_key(asked: PageRequest, made: CreatedApiKey) -> Response:
    return secret_page(asked, "new_key.html", made=made, here=KEYS, address=_address(asked))


async def _draw(asked: PageRequest, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    cursor = asked.request.query_params.get("cursor") or None
    listing = await users.list_users(asked.application, asked.actor, cursor)
    invitations = await users.list_invitations(asked.application, asked.actor)
    context = {"listing": listing, "invitations": invitations.items, "roles": list(Role), "here": HERE}
    return page(asked, "people.html", status, problem=problem, **context)


async def _draw_keys(
    asked: PageRequest, user_id: CurrentUser, problem: str = "", status: int = HTTPStatus.OK, name: str = ""
) -> Response:
    cursor = asked.request.query_params.get("cursor") or None
    listing = await api_keys.list_api_keys(asked.application, asked.actor, user_id, cursor)
    names = {user_id: asked.actor.name}
    if asked.actor.covers(ADMIN):
        people = await users.list_users(asked.application, asked.actor, None, MAX_PAGE)
        names |= {one.id: one.name for one in people.items}
    context = {"listing": listing, "names": names, "scopes": scopes_of(Role(asked.actor.role)), "now": clock.now()}
    return page(asked, "keys.html", status, problem=problem, name=name, lifetimes=LIFETIMES, here=KEYS, **context)


def _address(asked: PageRequest) -> str:
    """Return the address of this service as the browser of the person knows it."""
    return f"{asked.request.url.scheme}://{asked.request.headers.get('host', '')}"


def _whole(asked: PageRequest, made: NewInvitation) -> str:
    return f"{_address(asked)}{made.link}"
