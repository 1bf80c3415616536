"""Every page and every action of the console, each with the role that it needs."""

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from scrapersky.api.downloads import FileFormat
from scrapersky.api.http.authorization import ADMIN as ADMIN_ROLE
from scrapersky.api.http.authorization import CURATOR, OPERATOR, VIEWER, CurrentUser, authenticate, public, requires
from scrapersky.api.http.browser_cookie import CONSOLE, STATIC
from scrapersky.api.http.rate_limit import limit_actor
from scrapersky.api.schemas.fields import RowId
from scrapersky.console import assets
from scrapersky.console.answers import redirect
from scrapersky.console.columns import GRIDS, Grid
from scrapersky.console.gates import CurrentPage, SentForm
from scrapersky.console.language import choose_language
from scrapersky.console.pages import privacy
from scrapersky.console.pages.accounts import account, login, people
from scrapersky.console.pages.deliveries import deliveries, destinations
from scrapersky.console.pages.line import contacts, lead_files, new_search, schedules, searches
from scrapersky.console.pages.listing import decide, find, grid, place_map, row, views
from scrapersky.console.pages.operations import audit, dead_letters, jobs, line, queues, runs, system
from scrapersky.console.pages.transfer import files, imports

Handler = Callable[..., Any]
ANYONE = public()
TO_VIEW, TO_CURATE = requires(VIEWER, browser=True), requires(CURATOR, browser=True)
TO_OPERATE, TO_ADMINISTER = requires(OPERATOR, browser=True), requires(ADMIN_ROLE, browser=True)
# People of the operator tenant: its operators control the line, its admins manage the installation.
TO_CONTROL = requires(OPERATOR, browser=True, operators=True)
TO_MANAGE = requires(ADMIN_ROLE, browser=True, operators=True)


async def lead_to_console() -> Response:
    """Redirect from the root of the service to the console."""
    return RedirectResponse(CONSOLE, HTTPStatus.SEE_OTHER)


async def first_page(asked: CurrentPage) -> Response:
    """Redirect to the line; while there is no search, to the form of a new one."""
    starts = asked.may(CURATOR) and await searches.has_none(asked)
    return redirect(asked, f"{CONSOLE}/searches/new" if starts else f"{CONSOLE}/line")


async def refuse_unknown(_asked: CurrentPage) -> Response:
    """Refuse an address that no page has, so that the error page keeps the rail. Raises HTTPException."""
    raise HTTPException(HTTPStatus.NOT_FOUND)


# Method, path below /console, handler, role.
Routes = tuple[tuple[str, str, Handler, dict[str, Any]], ...]

ACCOUNT: Routes = (
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
    ("POST", "/account/preferences", account.choose_preferences, TO_VIEW),
    ("GET", "/help", account.show_help, TO_VIEW),
)

WORK: Routes = (
    ("GET", "/searches", searches.show_list, TO_VIEW),
    ("GET", "/searches/new", new_search.show_new, TO_CURATE),
    ("POST", "/searches", new_search.start, TO_CURATE),
    ("GET", "/searches/{id}", searches.show, TO_VIEW),
    ("POST", "/searches/{id}/cancel", searches.cancel, TO_CURATE),
    ("GET", "/searches/{id}/change", searches.show_change, TO_CURATE),
    ("POST", "/searches/{id}/change", searches.change, TO_CURATE),
    ("GET", "/searches/{id}/schedule", schedules.show, TO_VIEW),
    ("POST", "/searches/{id}/schedule", schedules.keep, TO_CURATE),
    ("GET", "/schedules", schedules.show_list, TO_VIEW),
    ("POST", "/schedules/{id}/pause", schedules.pause, TO_CURATE),
    ("POST", "/schedules/{id}/resume", schedules.resume, TO_CURATE),
    ("POST", "/schedules/{id}/remove", schedules.remove, TO_CURATE),
    ("POST", "/searches/{id}/rename", searches.rename, TO_CURATE),
    ("GET", "/searches/{id}/deliver", searches.show_deliver, TO_OPERATE),
    ("POST", "/searches/{id}/deliver", searches.deliver, TO_OPERATE),
    ("GET", "/searches/{id}/leads.{ending}", lead_files.download, TO_VIEW),
    ("GET", "/find", find.show, TO_VIEW),
    ("GET", "/map", place_map.show, TO_VIEW),
    ("GET", "/contacts/new", contacts.show_new, TO_CURATE),
    ("POST", "/contacts", contacts.create, TO_CURATE),
    ("GET", "/contacts/duplicates", contacts.show_duplicates, TO_VIEW),
    ("POST", "/contacts/merge", contacts.merge, TO_CURATE),
    ("POST", "/contacts/suppress", contacts.suppress, TO_CURATE),
    ("GET", "/contacts/deliver", contacts.show_deliver, TO_OPERATE),
    ("POST", "/contacts/deliver", contacts.deliver, TO_OPERATE),
    ("GET", "/contacts/{id}/edit", contacts.show_edit, TO_CURATE),
    ("POST", "/contacts/{id}/edit", contacts.edit, TO_CURATE),
    ("POST", "/contacts/{id}/split", contacts.split, TO_CURATE),
    ("POST", "/businesses/{id}/website", row.set_website, TO_CURATE),
    ("POST", "/businesses/{id}/split", row.split_business, TO_CURATE),
    ("POST", "/businesses/{id}/join", row.join_business, TO_CURATE),
    ("POST", "/views/{id}/delete", views.delete, TO_VIEW),
    ("POST", "/undo/{id}", decide.undo, TO_CURATE),
)

OPERATE: Routes = (
    ("GET", "/line", line.show, TO_VIEW),
    ("POST", "/line/{name}/pause", line.pause, TO_CONTROL),
    ("POST", "/line/{name}/resume", line.resume, TO_CONTROL),
    ("POST", "/line/{name}/run", line.run, TO_CONTROL),
    ("GET", "/queues", queues.show_first, TO_VIEW),
    ("GET", "/queues/{name}", queues.show, TO_VIEW),
    ("POST", "/queues/{name}/release", queues.release, TO_OPERATE),
    ("POST", "/queues/{name}/retry", queues.retry, TO_OPERATE),
    ("GET", "/dead-letters", dead_letters.show, TO_VIEW),
    ("GET", "/dead-letters/rows", dead_letters.show_rows, TO_VIEW),
    ("GET", "/dead-letters/retry", dead_letters.confirm_retry, TO_OPERATE),
    ("POST", "/dead-letters/retry", dead_letters.retry, TO_OPERATE),
    ("GET", "/dead-letters/drop", dead_letters.confirm_drop, TO_OPERATE),
    ("POST", "/dead-letters/drop", dead_letters.drop, TO_OPERATE),
    ("GET", "/runs", runs.show, TO_CONTROL),
    ("GET", "/jobs", jobs.show, TO_VIEW),
    ("POST", "/jobs/{id}/cancel", jobs.cancel, TO_CURATE),
    ("GET", "/system", system.show, TO_CONTROL),
    ("GET", "/system/settings", system.show_settings, TO_MANAGE),
    ("GET", "/system/tenants", system.show_tenants, TO_MANAGE),
    ("GET", "/system/tenants/{id}", system.show_tenant, TO_MANAGE),
    ("POST", "/system/tenants/{id}", system.change_tenant, TO_MANAGE),
)

# In and out: imports, deliveries, destinations.
TRANSFER: Routes = (
    ("GET", "/import", imports.show, TO_OPERATE),
    ("POST", "/import/look", imports.look, TO_OPERATE),
    ("POST", "/import/rehearse", imports.rehearse, TO_OPERATE),
    ("POST", "/import/run", imports.run, TO_OPERATE),
    ("GET", "/import/reports/{id}", imports.show_report, TO_OPERATE),
    ("GET", "/deliveries", deliveries.show, TO_VIEW),
    ("GET", "/deliveries/new", deliveries.show_new, TO_OPERATE),
    ("POST", "/deliveries", deliveries.send, TO_OPERATE),
    ("POST", "/deliveries/cancel", deliveries.cancel, TO_OPERATE),
    ("GET", "/destinations", destinations.show_list, TO_VIEW),
    ("GET", "/destinations/new", destinations.show_new, TO_ADMINISTER),
    ("POST", "/destinations", destinations.create, TO_ADMINISTER),
    ("GET", "/destinations/{id}", destinations.show, TO_VIEW),
    ("POST", "/destinations/{id}", destinations.change, TO_ADMINISTER),
    ("POST", "/destinations/{id}/state", destinations.switch, TO_ADMINISTER),
    ("POST", "/destinations/{id}/test", destinations.test, TO_OPERATE),
    ("POST", "/destinations/{id}/rotate", destinations.rotate, TO_ADMINISTER),
    ("POST", "/destinations/{id}/retire", destinations.retire, TO_ADMINISTER),
    ("POST", "/destinations/{id}/remove", destinations.remove, TO_ADMINISTER),
    ("GET", "/files", files.show, TO_VIEW),
    ("GET", "/files/{name}.{ending}", files.download, TO_VIEW),
)

# People, privacy, audit.
ADMIN: Routes = (
    ("GET", "/people", people.show, TO_ADMINISTER),
    ("POST", "/people/invitations", people.invite, TO_ADMINISTER),
    ("POST", "/people/{id}", people.change, TO_ADMINISTER),
    ("POST", "/people/{id}/end-logins", people.end_logins, TO_ADMINISTER),
    ("POST", "/people/invitations/{id}/withdraw", people.withdraw, TO_ADMINISTER),
    ("GET", "/keys", people.show_keys, TO_VIEW),
    ("POST", "/keys", people.create_key, TO_VIEW),
    ("POST", "/keys/{id}/revoke", people.revoke_key, TO_VIEW),
    ("GET", "/privacy", privacy.show, TO_VIEW),
    ("POST", "/privacy/suppressions", privacy.suppress, TO_CURATE),
    ("POST", "/privacy/suppressions/{id}/remove", privacy.remove, TO_OPERATE),
    ("POST", "/privacy/subject", privacy.look_up, TO_ADMINISTER),
    ("POST", "/privacy/erase", privacy.erase, TO_ADMINISTER),
    ("GET", "/audit", audit.show, TO_ADMINISTER),
    ("GET", "/audit/export.{ending}", audit.export, TO_ADMINISTER),
)

ROUTES: Routes = (*ACCOUNT, *WORK, *OPERATE, *TRANSFER, *ADMIN)


@cache
def console_routes() -> list[BaseRoute]:
    """Return every route of the console with its full path."""
    router = APIRouter(
        include_in_schema=False, dependencies=[Depends(choose_language), Depends(authenticate), Depends(limit_actor)]
    )
    router.add_api_route("/", lead_to_console, methods=["GET"], **ANYONE)
    router.add_api_route(f"{STATIC}{{version}}/{{name}}", assets.serve, methods=["GET"], **ANYONE)
    for method, path, handler, declared in ROUTES:
        router.add_api_route(f"{CONSOLE}{path}", handler, methods=[method], **declared)
    for noun in GRIDS.values():
        _add_noun(router, noun)
    router.add_api_route(f"{CONSOLE}/{{path:path}}", refuse_unknown, methods=["GET"], **TO_VIEW)  # after all others
    return router.routes


def _add_noun(router: APIRouter, noun: Grid) -> None:
    """Add the list of a noun, one row of it, its file, and decisions about rows."""

    async def show_list(asked: CurrentPage) -> Response:
        return await grid.show_list(asked, noun)

    async def show_row(row_id: RowId, asked: CurrentPage) -> Response:
        return await row.show(asked, noun, row_id)

    async def keep_layout(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
        return await grid.keep_layout(asked, user_id, noun, form)

    async def save_view(asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
        return await views.save(asked, user_id, noun, form)

    async def export(ending: FileFormat, asked: CurrentPage) -> Response:
        return await decide.export(asked, noun, ending)

    async def decide_rows(asked: CurrentPage, form: SentForm) -> Response:
        return await decide.decide(asked, noun, form)

    async def show_matching(asked: CurrentPage) -> Response:
        return await decide.show_matching(asked, noun)

    async def decide_matching(asked: CurrentPage, form: SentForm) -> Response:
        return await decide.decide_matching(asked, noun, form)

    async def queue(asked: CurrentPage, form: SentForm) -> Response:
        return await decide.queue(asked, noun, form)

    for method, path, handler, declared in (
        ("GET", "", show_list, TO_VIEW),
        ("POST", "/layout", keep_layout, TO_VIEW),
        ("POST", "/views", save_view, TO_VIEW),
        ("GET", "/export.{ending}", export, TO_VIEW),
        ("POST", "/curation", decide_rows, TO_CURATE),
        ("GET", "/matching", show_matching, TO_CURATE),
        ("POST", "/matching", decide_matching, TO_CURATE),
        ("POST", "/queue", queue, TO_OPERATE),
        ("GET", "/{id}", show_row, TO_VIEW),
    ):
        name = f"{handler.__name__}_{noun.name}"
        router.add_api_route(f"{CONSOLE}/{noun.name}{path}", handler, methods=[method], name=name, **declared)
