"""The run history: the cycles of all workflows on all hosts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import runs
from scrapersky.console.answers import page, redirect
from scrapersky.console.gates import CurrentPage
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.core.errors import BadRequest

HERE = f"{CONSOLE}/runs"
FILTERS = ("workflow", "since", "until")
# The columns of counts: the field, its heading, and the class of a number that is not zero.
COUNTS = (
    ("claimed", mark("claimed"), ""),
    ("completed", mark("done"), ""),
    ("skipped", mark("skipped"), ""),
    ("postponed", mark("later"), ""),
    ("retried", mark("again"), ""),
    ("failed", mark("failed"), "status-error"),
    ("returned", mark("returned"), ""),
    ("lost", mark("lost"), ""),
)


class BadTime(BadRequest):
    """A time of the address could not be read."""

    status_code = 422


async def show(asked: CurrentPage) -> Response:
    """Draw the runs, the latest first."""
    sent = asked.request.query_params
    if any(not value for _, value in sent.multi_items()):  # an empty field of the filter form
        return redirect(asked, _address(sent))
    filters = {name: sent[name] for name in FILTERS if name in sent}
    since, until = (_time(filters.get(name)) for name in ("since", "until"))
    listing = await runs.list_runs(
        asked.application, sent.getlist("workflow")[-1:], since, until, sent.get("cursor") or None, 50
    )
    chips = [(name, value, _address({**filters, name: ""})) for name, value in filters.items()]
    return page(
        asked,
        "runs.html",
        listing=listing,
        filters=filters,
        chips=chips,
        here=HERE,
        counts=COUNTS,
        steps=[workflow.name for workflow in asked.application.pipeline],
    )


def _address(fields: Mapping[str, str]) -> str:
    """Return the address of the list with the fields that have a value."""
    query = urlencode({name: value for name, value in fields.items() if value})
    return f"{HERE}?{query}" if query else HERE


def _time(text: str | None) -> datetime | None:
    """Read a time as a form or a link sends it; without a zone it is in UTC. Raises BadTime."""
    if text is None:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise BadTime(_("%(text)s is not a time. Write it as 2026-11-15T14:00.") % {"text": ascii(text[:40])}) from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
