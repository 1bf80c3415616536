"""The pages for a browser: a start page, and a form that accepts an invitation. They use no script."""

from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError
from starlette.responses import HTMLResponse

from scrapersky import __version__
from scrapersky.api.accounts import users
from scrapersky.api.accounts.users import AcceptInvitation, InvitationToken
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import public
from scrapersky.api.operations import health
from scrapersky.api.schemas.fields import PREFIX
from scrapersky.core.errors import Conflict, ScraperSkyError
from scrapersky.core.passwords import MIN_LENGTH

router = APIRouter(include_in_schema=False)

STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c2430; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f1f3f6; border-radius: 4px; padding: .1rem .3rem; }
pre { padding: .75rem; overflow-x: auto; }
label { display: block; margin: 1rem 0; } input { display: block; font: inherit; width: 20rem; padding: .4rem; }
button { font: inherit; padding: .5rem 1.2rem; } .error { color: #a40000; }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #e4e8ee; } code, pre { background: #222833; } a { color: #8ab8ff; }
  .error { color: #ff8f8f; }
}
"""
STATES = {
    "ready": "It is ready.",
    "degraded": "It works, but some workflows need attention: <code>scrapersky status</code> names them.",
    "unready": "It is not ready: the database, the schema or the scheduler does not work.",
}


@router.get("/", **public())
async def start(request: Request, application: CurrentApplication) -> HTMLResponse:
    """Return the start page: whether the service works, and where to go on."""
    state = (await health.details(application, Response())).status
    base = escape(str(request.base_url).rstrip("/"))
    return _page(
        "scrapersky",
        f"""<p>scrapersky {escape(__version__)} is running here. {STATES[state]}</p>
<h2>First steps</h2>
<p>While no user can log in, <code>scrapersky serve</code> prints a link that creates the first admin. At the command
line, <code>scrapersky user create NAME --role admin</code> does the same, and <code>scrapersky user key NAME</code>
prints an API key.</p>
<p><code>scrapersky find "dentists in Helsinki"</code> makes a search without this service.</p>
<h2>Where to go</h2>
<ul>
<li><a href="/health/ready">/health/ready</a> and <a href="/health/live">/health/live</a>: for monitoring</li>
<li><code>/metrics</code> and <code>/health/details</code>: with a login, or with SCRAPERSKY_METRICS_TOKEN</li>
<li><code>{PREFIX}/openapi.json</code>: the description of the API, with a login or an API key</li>
</ul>
<pre>curl -H "Authorization: Bearer $KEY" {base}{PREFIX}/openapi.json
curl -H "Authorization: Bearer $KEY" {base}{PREFIX}/workflows</pre>""",
    )


@router.get("/start.css", **public())
async def style() -> Response:
    """Return the style of the pages; inline styles are forbidden by the content security policy."""
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "max-age=3600"})


@router.get("/invitation", **public())
async def show_invitation(token: InvitationToken, application: CurrentApplication) -> HTMLResponse:
    """Return the form in which the invited person chooses a name and a password."""
    try:
        invitation = await users.get_invitation(token, application)
    except ScraperSkyError as error:
        return _refusal(error)
    return _form(token, f"You become {invitation.role} of the tenant {invitation.tenant}.")


@router.post("/invitation", **public())
async def accept_invitation(request: Request, application: CurrentApplication) -> HTMLResponse:
    """Create the user from the form."""
    try:
        sent = dict(parse_qsl((await request.body()).decode(), max_num_fields=10))
    except ValueError:
        sent = {}
    try:
        body = AcceptInvitation.model_validate({name: sent.get(name, "") for name in ("token", "name", "password")})
        user = await users.accept_invitation(body, request, application)
    except ValidationError as error:
        return _form(sent.get("token", ""), problem=_sentence(error.errors()[0]), name=sent.get("name", ""))
    except Conflict as error:  # the invitation stays open: another name may be free
        return _form(sent.get("token", ""), problem=f"{error.title} {error}", name=sent.get("name", ""))
    except ScraperSkyError as error:
        return _refusal(error)
    return _page(
        "Welcome",
        f"""<p>{escape(user.name)} can log in now, as {escape(user.role)}.</p>
<h2>Next</h2>
<p>An API key: <code>scrapersky user key {escape(user.name)}</code>, or log in over HTTP:</p>
<pre>curl -H "Content-Type: application/json" -d '{{"name": "{escape(user.name)}", "password": "…"}}' \\
  {escape(str(request.base_url).rstrip("/"))}{PREFIX}/auth/login</pre>
<p><a href="/">The start page</a></p>""",
        HTTPStatus.CREATED,
    )


def _form(token: str, sentence: str = "", problem: str = "", name: str = "") -> HTMLResponse:
    told = f'<p class="error">{escape(problem)}</p>' if problem else f"<p>{escape(sentence)}</p>"
    return _page(
        "Invitation",
        f"""{told}
<form method="post" action="/invitation">
<input type="hidden" name="token" value="{escape(token)}">
<label>Name <input name="name" value="{escape(name)}" required maxlength="100" autocomplete="username"></label>
<label>Password, {MIN_LENGTH} characters or more
<input name="password" type="password" required minlength="{MIN_LENGTH}" autocomplete="new-password"></label>
<button>Create the account</button>
</form>""",
        HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK,
    )


def _refusal(error: ScraperSkyError) -> HTMLResponse:
    sentence = f'<p class="error">{escape(error.title)} {escape(str(error))}</p>'
    return _page("Invitation", f'{sentence}\n<p><a href="/">The start page</a></p>', error.status_code)


def _sentence(problem: Any) -> str:
    field = problem["loc"][0] if problem["loc"] else "form"
    return f"The {field} is not accepted: {problem['msg'].removeprefix('Value error, ')}."


def _page(title: str, content: str, status: int = HTTPStatus.OK) -> HTMLResponse:
    return HTMLResponse(
        f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><link rel="stylesheet" href="/start.css"></head>
<body><h1>{escape(title)}</h1>
{content}
</body>
</html>
""",
        status_code=status,
    )
