"""Every page and every action of the console, each with the role that it needs."""

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from scrapersky.api.http.authorization import CURATOR, OPERATOR, VIEWER, authenticate, public, requires
from scrapersky.api.http.browser_cookie import CONSOLE, STATIC
from scrapersky.api.http.rate_limit import limit_actor
from scrapersky.api.schemas.fields import RowId
from scrapersky.console import assets
from scrapersky.console.answers import redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.gates import CurrentPage, SentForm
from scrapersky.console.pages import account, grid, line, login, searches

Handler = Callable[..., Any]
ANYONE = public()
TO_VIEW, TO_CURATE = requires(VIEWER, browser=True), requires(CURATOR, browser=True)
TO_CONTROL = requires(OPERATOR, browser=True, operators=True)


async def lead_to_console() -> Response:
    """Lead from the root of the service to the console."""
    return RedirectResponse(CONSOLE, HTTPStatus.SEE_OTHER)


async def first_page(asked: CurrentPage) -> Response:
    """Lead to the line; while there is no search, to the form of a new one."""
    starts = asked.may(CURATOR) and await searches.has_none(asked)
    return redirect(asked, f"{CONSOLE}/searches/new" if starts else f"{CONSOLE}/line")


# Method, path below /console, handler, role.
ROUTES: tuple[tuple[str, str, Handler, dict[str, Any]], ...] = (
    ("GET", "", first_page, TO_VIEW),
    ("GET", "/login", login.show_login, ANYONE),
    ("POST", "/login", login.log_in, ANYONE),
    ("GET", "/welcome", login.show_welcome, ANYONE),
    ("POST", "/welcome", login.accept, ANYONE),
    ("POST", "/logout", login.log_out, TO_VIEW),
    ("GET", "/account", account.show, TO_VIEW),
    ("POST", "/account/password", account.change_password, TO_VIEW),
    ("POST", "/account/logins/{id}/end", account.end_login, TO_VIEW),
    ("POST", "/account/theme", account.choose_theme, TO_VIEW),
    ("GET", "/line", line.show, TO_VIEW),
    ("POST", "/line/{name}/pause", line.pause, TO_CONTROL),
    ("POST", "/line/{name}/resume", line.resume, TO_CONTROL),
    ("POST", "/line/{name}/run", line.run, TO_CONTROL),
    ("GET", "/searches", searches.show_list, TO_VIEW),
    ("GET", "/searches/new", searches.show_new, TO_CURATE),
    ("POST", "/searches", searches.start, TO_CURATE),
    ("GET", "/searches/{id}", searches.show, TO_VIEW),
    ("POST", "/searches/{id}/cancel", searches.cancel, TO_CURATE),
    ("GET", "/searches/{id}/leads.{ending}", searches.download, TO_VIEW),
    ("POST", "/undo/{id}", grid.undo, TO_CURATE),
)


@cache
def console_routes() -> list[BaseRoute]:
    """Return every route of the console with its full path."""
    router = APIRouter(include_in_schema=False, dependencies=[Depends(authenticate), Depends(limit_actor)])
    router.add_api_route("/", lead_to_console, methods=["GET"], **ANYONE)
    router.add_api_route(f"{STATIC}{{version}}/{{name}}", assets.serve, methods=["GET"], **ANYONE)
    for method, path, handler, declared in ROUTES:
        router.add_api_route(f"{CONSOLE}{path}", handler, methods=[method], **declared)
    for noun in GRIDS.values():
        _add_noun(router, noun)
    return router.routes


def _add_noun(router: APIRouter, noun: Grid) -> None:
    """Add the list of a noun, one row of it, and decisions about rows."""

    async def show_list(asked: CurrentPage) -> Response:
        return await grid.show_list(asked, noun)

    async def show_row(row_id: RowId, asked: CurrentPage) -> Response:
        return await grid.show_row(asked, noun, row_id)

    async def decide(asked: CurrentPage, form: SentForm) -> Response:
        return await grid.decide(asked, noun, form)

    async def show_matching(asked: CurrentPage) -> Response:
        return await grid.show_matching(asked, noun)

    async def decide_matching(asked: CurrentPage, form: SentForm) -> Response:
        return await grid.decide_matching(asked, noun, form)

    path = f"{CONSOLE}/{noun.name}"
    router.add_api_route(path, show_list, methods=["GET"], name=f"show_{noun.name}", **TO_VIEW)
    router.add_api_route(f"{path}/curation", decide, methods=["POST"], name=f"decide_{noun.name}", **TO_CURATE)
    matching = f"{path}/matching"
    router.add_api_route(matching, show_matching, methods=["GET"], name=f"show_matching_{noun.name}", **TO_CURATE)
    router.add_api_route(matching, decide_matching, methods=["POST"], name=f"decide_matching_{noun.name}", **TO_CURATE)
    router.add_api_route(f"{path}/{{id}}", show_row, methods=["GET"], name=f"show_one_of_{noun.name}", **TO_VIEW)
