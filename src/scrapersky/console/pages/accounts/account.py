"""Your account: your choices, your logins, your password; and the help."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts import auth
from scrapersky.api.accounts.auth import PasswordChange, PreferencesChange, WrongPassword
from scrapersky.api.http.authorization import CurrentUser
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import THEME, THEMES, page, redirect
from scrapersky.console.forms import BadForm
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.glossary import GLOSSARY, KEYS
from scrapersky.console.language import gettext as _
from scrapersky.core.preferences import CHOICES, time_zones
from scrapersky.core.secrets.passwords import MIN_LENGTH

YEAR_SECONDS = 31_536_000
HERE = f"{CONSOLE}/account"


async def show(asked: CurrentPage, user_id: CurrentUser) -> Response:
    """Draw the account of the person."""
    return await _draw(asked, user_id)


async def change_password(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
    """Change the password; other logins end."""
    try:
        current, new = ((form.all(name) or [""])[-1] for name in ("current", "new"))
        body = PasswordChange(current=current, new=new)
        await auth.change_password(body, asked.request, asked.application, asked.actor, user_id)
    except ValidationError:
        sentence = _("The new password needs %(count)s characters or more.") % {"count": MIN_LENGTH}
        return await _draw(asked, user_id, sentence, HTTPStatus.UNPROCESSABLE_ENTITY)
    except WrongPassword as error:
        return await _draw(asked, user_id, _(str(error)), HTTPStatus.UNPROCESSABLE_ENTITY)
    return redirect(asked, HERE, _("Your password was changed; your other logins have ended."))


async def end_login(row_id: RowId, asked: CurrentPage) -> Response:
    """End one of the person's logins."""
    await auth.end_session(row_id, asked.application, asked.actor)
    return redirect(asked, HERE, _("The login has ended."))


async def choose_theme(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
    """Keep the choice of colours, and lead back to the page it was made on."""
    return await _keep(asked, user_id, {"theme": form.get("theme")}, own_path(form.get("back") or HERE))


async def choose_preferences(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
    """Keep how pages look and behave for the person."""
    chosen = {name: form.get(name) for name in (*CHOICES, "time_zone")} | {"keys": form.get("keys") == "on"}
    return await _keep(asked, user_id, chosen, HERE, _("Your choices are kept, for every browser that you use."))


async def show_help(asked: CurrentPage) -> Response:
    """Draw the keys, and what the words for states mean."""
    return page(asked, "help.html", keys=KEYS, glossary=GLOSSARY)


async def _keep(
    asked: PageRequest, user_id: CurrentUser, chosen: Mapping[str, Any], back: str, notice: str | None = None
) -> Response:
    """Keep choices; the theme also in this browser, for the pages before a login. Raises BadForm."""
    try:
        body = PreferencesChange.model_validate(chosen)
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][-1]).replace("_", " ")
        raise BadForm(_("The choice of %(field)s is none that is offered.") % {"field": field}) from None
    kept = await auth.change_preferences(body, asked.application, asked.actor, user_id)
    response = redirect(asked, back, notice)
    if kept.theme in THEMES:
        response.set_cookie(THEME, kept.theme, YEAR_SECONDS, path=CONSOLE, httponly=True, samesite="lax")
    else:
        response.delete_cookie(THEME, path=CONSOLE)
    return response


async def _draw(asked: PageRequest, user_id: CurrentUser, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    logins = await auth.list_sessions(asked.application, asked.actor, user_id)
    context = {"logins": logins.items, "problem": problem, "min_length": MIN_LENGTH, "time_zones": time_zones()}
    return page(asked, "account.html", status, **context)
