"""Deliveries: what went where and why not; send contacts, cancel queued deliveries."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.deliveries.deliveries import CancelIds, CancelMatching, SendIds, SendMatching, SendResult
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.contacts import CONTACTS
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import MAX_PAGE
from scrapersky.api.searches.searches import SEARCHES, SearchSummary
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import Column, Grid
from scrapersky.console.draw.words import sent_in_words
from scrapersky.console.forms import BadForm, explain, wrong_field
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import counted, mark
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.grid import read_grid
from scrapersky.core import clock
from scrapersky.core.vocabularies import Curation, Verdict
from scrapersky.store.listing.shown import CountChanged

HERE = f"{CONSOLE}/deliveries"
OFFERED_SEARCHES = 50
DELIVERIES = Grid(
    deliveries.API,
    mark("Deliveries"),
    ("contact",),
    mark("contact"),
    (
        Column("destination", mark("destination")),
        Column("delivery_status", mark("state"), "status"),
        Column("delivery_attempts", mark("attempts"), "number"),
        Column("delivered_at", mark("accepted"), "time"),
        Column("external_id", mark("id there")),
        Column("updated_at", mark("changed"), "time"),
    ),
    mark("Nothing was sent yet. A destination sends contacts by its rule, or you send them."),
)
ASKED = ("curation_status", "verdict", "search_id")  # filters of contacts that the form has a field for


async def show(asked: CurrentPage) -> Response:
    """Draw the deliveries, the latest first."""
    shown = await read_grid(asked, DELIVERIES, HERE)
    query = urlencode(shown.fields)
    queued, as_of = 0, clock.now().isoformat()
    if asked.may("operator") and dict(shown.fields).get("delivery_status") == "Queued" and not asked.part:
        waiting = _cancelled(asked, as_of=as_of, preview=True)
        queued = (await deliveries.cancel_deliveries(waiting, asked.application, asked.actor)).withdrawn
    return page(
        asked,
        "deliveries.html",
        shown=shown,
        here=HERE,
        query=query,
        queued=queued,
        as_of=as_of,
        path_of_contact=path_of_contact,
    )


async def show_new(asked: CurrentPage) -> Response:
    """Draw which contacts are to be sent where; with a destination also how many they are."""
    return await _draw_new(asked, dict(asked.request.query_params), [])


async def send(asked: CurrentPage, form: SentForm) -> Response:
    """Queue the deliveries of the contacts that were shown."""
    ids, fields = form.all("id"), {name: form.get(name) for name in form.values if name != "id"}
    if not fields.get("destination_id"):
        return await _draw_new(asked, fields, ids)
    try:
        if ids:
            body: SendIds | SendMatching = SendIds.model_validate(
                {"destination_id": fields["destination_id"], "ids": ids}
            )
        else:
            body = _matching(fields, expected=int(fields.get("expected", "")), as_of=fields.get("as_of"))
        answer = await deliveries.create_deliveries(body, asked.application, asked.actor)
    except (ValidationError, ValueError):
        raise BadForm(_("Choose a destination and which contacts are sent, and count them first.")) from None
    except CountChanged as error:
        return await _draw_new(asked, fields, ids, explain(error), error.status_code)
    there = f"{HERE}?{urlencode({'destination_id': fields['destination_id']})}"
    if answer.status_code == HTTPStatus.ACCEPTED:
        return redirect(asked, there, _("A job queues the deliveries; it takes a while."), is_job=True)
    return redirect(asked, there, sent_in_words(SendResult.model_validate_json(bytes(answer.body))))


async def cancel(asked: CurrentPage, form: SentForm) -> Response:
    """Withdraw queued deliveries: those of the form, or all that match the address."""
    back = own_path(form.get("back") or HERE)
    try:
        if form.get("matching"):
            body: CancelIds | CancelMatching = _cancelled(
                asked, expected=int(form.get("expected")), as_of=form.get("as_of")
            )
        else:
            body = CancelIds.model_validate({"ids": form.all("id")})
    except ValueError:
        raise BadForm(_("Choose queued deliveries.")) from None
    try:
        done = await deliveries.cancel_deliveries(body, asked.application, asked.actor)
    except CountChanged as error:
        return redirect(asked, back, _("Nothing was changed. %(why)s") % {"why": explain(error)})
    said = counted("%(count)s was taken back.", "%(count)s were taken back.", done.withdrawn)
    return redirect(asked, back, said if done.withdrawn else _("Nothing was queued any more."))


def _cancelled(asked: PageRequest, **more: Any) -> CancelMatching:
    """Return the request to cancel all queued deliveries that match the address. Raises ValidationError."""
    return CancelMatching.model_validate({"filter": _sent_filters(asked), **more})


def _sent_filters(asked: PageRequest) -> dict[str, list[str]]:
    params = asked.request.query_params
    return {name: params.getlist(name) for name in deliveries.API.resource.filters if params.get(name)}


async def _draw_new(
    asked: PageRequest,
    fields: Mapping[str, str],
    ids: Sequence[str],
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    query = destinations.API.query.model_validate({"enabled": True, "limit": MAX_PAGE, "count": False})
    offered = await list_page(
        asked.application, asked.actor, destinations.API.resource, destinations.DestinationSummary, query
    )
    latest = SEARCHES.query.model_validate({"limit": OFFERED_SEARCHES, "count": False})
    searches = await list_page(asked.application, asked.actor, SEARCHES.resource, SearchSummary, latest)
    chosen = {"curation_status": "Selected", "verdict": "deliverable", "destination_id": "", "search_id": "", **fields}
    counted, as_of = None, clock.now().isoformat()
    if chosen["destination_id"] and not ids:
        try:
            body = _matching(chosen, preview=True)
        except ValidationError as error:
            problem, status = wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY
        else:
            answer = await deliveries.create_deliveries(body, asked.application, asked.actor)
            counted = SendResult.model_validate_json(bytes(answer.body))
    context: dict[str, Any] = {
        "destinations": offered.items,
        "searches": searches.items,
        "chosen": chosen,
        "others": {name: value for name, value in _filters(chosen).items() if name not in ASKED},
        "decisions": [(word.value, word.value) for word in Curation],
        "verdicts": [(word.value, word.value) for word in Verdict],
        "filters": _filters(chosen),
    }
    return page(
        asked, "send.html", status, ids=ids, counted=counted, as_of=as_of, problem=problem, here=HERE, **context
    )


def _matching(fields: Mapping[str, str], **more: Any) -> SendMatching:
    """Return the request for all contacts that match the filters among the fields. Raises ValidationError."""
    given = {"destination_id": fields["destination_id"], "filter": _filters(fields), **more}
    return SendMatching.model_validate(given)


def _filters(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields[name] for name in CONTACTS.resource.filters if fields.get(name)}


def path_of_contact(row: Any) -> str:
    """Return the page of the contact of a delivery; of the end of a run the list of searches."""
    return f"{CONSOLE}/contacts/{row.contact_id}" if row.contact_id else f"{CONSOLE}/searches"
