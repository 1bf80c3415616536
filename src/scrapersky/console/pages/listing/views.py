"""Saved views of a list: save this one under a name, delete one."""

from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.authorization import CurrentUser
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import views
from scrapersky.api.line.views import VIEWED, NewView
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import redirect
from scrapersky.console.columns import Grid
from scrapersky.console.forms import BadForm, SentFields
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.filters import Fields


def query_of(grid: Grid, fields: Fields) -> str:
    """Return the query of a view: the filters and the sort, without the place in the list."""
    known = {*VIEWED[grid.name].resource.filters, "sort"}
    return urlencode([(name, value) for name, value in fields if name in known and value])


async def save(asked: PageRequest, user_id: CurrentUser, grid: Grid, form: SentFields) -> Response:
    """Save the list that is shown under a name."""
    query = query_of(grid, parse_qsl(form.get("query")))
    try:
        body = NewView(noun=grid.name, name=form.get("name"), query=query, shared=form.get("shared") == "yes")
    except ValidationError:
        raise BadForm(_("Give the view a name of 1 to 100 characters.")) from None
    view = await views.save_view(body, asked.application, asked.actor, user_id)
    address = f"{CONSOLE}/{grid.name}" + (f"?{view.query}" if view.query else "")
    return redirect(
        asked,
        address,
        (_("Saved the view %(name)s for all.") if view.shared else _("Saved the view %(name)s.")) % {"name": view.name},
    )


async def delete(row_id: RowId, asked: CurrentPage, user_id: CurrentUser, form: SentForm) -> Response:
    """Delete a view."""
    await views.delete_view(row_id, asked.application, asked.actor, user_id)
    return redirect(asked, own_path(form.get("back")), _("The view was deleted."))
