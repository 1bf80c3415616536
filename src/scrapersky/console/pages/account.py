"""Your account: your logins, your password, the theme."""

from http import HTTPStatus

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.accounts import auth
from scrapersky.api.accounts.auth import PasswordChange, WrongPassword
from scrapersky.api.http.authorization import CurrentUser
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import THEME, THEMES, page, redirect
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.core.passwords import MIN_LENGTH

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
        sentence = f"The new password needs {MIN_LENGTH} characters or more."
        return await _draw(asked, user_id, sentence, HTTPStatus.UNPROCESSABLE_ENTITY)
    except WrongPassword as error:
        return await _draw(asked, user_id, str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    return redirect(asked, HERE, "Your password was changed; your other logins have ended.")


async def end_login(row_id: RowId, asked: CurrentPage) -> Response:
    """End one of the person's logins."""
    await auth.end_session(row_id, asked.application, asked.actor)
    return redirect(asked, HERE, "The login has ended.")


async def choose_theme(asked: CurrentPage, form: SentForm) -> Response:
    """Keep the choice of light or dark colours in this browser; anything else follows the operating system."""
    response = redirect(asked, own_path(form.get("back") or HERE))
    chosen = form.get("theme")
    if chosen in THEMES:
        response.set_cookie(THEME, chosen, YEAR_SECONDS, path=CONSOLE, httponly=True, samesite="lax")
    else:
        response.delete_cookie(THEME, path=CONSOLE)
    return response


async def _draw(asked: PageRequest, user_id: CurrentUser, problem: str = "", status: int = HTTPStatus.OK) -> Response:
    logins = await auth.list_sessions(asked.application, asked.actor, user_id)
    return page(asked, "account.html", status, logins=logins.items, problem=problem, min_length=MIN_LENGTH)
