"""Contacts: write, edit, merge, split, suppress, deliver."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.deliveries.deliveries import SendIds, SendMatching, SendResult
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import contacts
from scrapersky.api.line.contacts import ContactChange, ContactDetail, EditableFields, MergeContacts, NewContact
from scrapersky.api.privacy.suppressions import SuppressIds, suppress_contacts
from scrapersky.api.resources.rows import list_page, row_detail
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS
from scrapersky.console.draw.words import sent_in_words
from scrapersky.console.forms import BadForm, SentFields, explain
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm, own_path
from scrapersky.console.language import counted, counted_each
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.decide import matching_rows, sent_rows
from scrapersky.console.pages.listing.filters import id_of
from scrapersky.console.pages.listing.grid import list_filter
from scrapersky.console.pages.listing.to_send import count_to_send
from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.core.errors import ScraperSkyError
from scrapersky.store.contacts.edit import ContactChanged, ContactExists
from scrapersky.store.listing.paginate import UnknownRow
from scrapersky.store.listing.shown import CountChanged

HERE = f"{CONSOLE}/contacts"
GRID = GRIDS["contacts"]
FIELDS = tuple(each for each in CONTACT_FIELDS if each.is_editable)
DUPLICATES_PER_PAGE = 25


async def show_new(asked: CurrentPage) -> Response:
    """Draw the form of a new contact."""
    return _form(asked, dict(asked.request.query_params), HERE)


async def create(asked: CurrentPage, form: SentForm) -> Response:
    """Create a contact, or show the form again with what is wrong."""
    given = _given(form)
    try:
        body = NewContact.model_validate(
            {**{name: value for name, value in given.items() if value}, "auto_queue": form.get("auto_queue") == "yes"}
        )
        created = await contacts.create_contact(body, asked.application, asked.actor, Response())
    except ValidationError as error:
        return _form(asked, given, HERE, wrong=_by_field(error), status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except ScraperSkyError as error:
        return _form(asked, given, HERE, problem=error, status=error.status_code)
    return redirect(asked, f"{HERE}/{created.id}", _("The contact was created."))


async def show_edit(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw the form of a contact."""
    row = await _contact(asked, row_id)
    return _form(asked, _values(row), f"{HERE}/{row_id}/edit", row=row)


async def edit(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Change a contact; if somebody has changed or deleted it meanwhile, say so and keep what was typed."""
    given, path = _given(form), f"{HERE}/{row_id}/edit"
    try:
        row = await _contact(asked, row_id)
    except UnknownRow as error:  # somebody has deleted it
        return _form(asked, given, HERE, problem=error, status=error.status_code)
    changes = {name: value or None for name, value in given.items() if value != _values(row)[name]}
    try:
        body = ContactChange.model_validate({**changes, "updated_at": form.get("updated_at") or None})
        await contacts.change_contact(row_id, body, asked.application, asked.actor, Response())
    except ValidationError as error:
        wrong, status = _by_field(error), HTTPStatus.UNPROCESSABLE_ENTITY
        return _form(asked, given, path, row=row, wrong=wrong, seen=form.get("updated_at"), status=status)
    except ContactChanged as error:
        return _form(asked, given, path, row=row, problem=error, shows_both=True, status=error.status_code)
    except ScraperSkyError as error:
        return _form(asked, given, path, row=row, problem=error, status=error.status_code)
    return redirect(asked, f"{HERE}/{row_id}", _("The contact was changed.") if changes else _("Nothing was changed."))


async def show_duplicates(asked: CurrentPage) -> Response:
    """Draw the contacts that share an email address or a phone number."""
    by: Literal["email", "phone"] = "phone" if asked.request.query_params.get("by") == "phone" else "email"
    cursor = asked.request.query_params.get("cursor") or None
    found = await contacts.list_duplicate_contacts(asked.application, asked.actor, by, cursor, DUPLICATES_PER_PAGE)
    following = f"{HERE}/duplicates?{urlencode({'by': by, 'cursor': found.next_cursor})}" if found.next_cursor else ""
    return page(asked, "duplicates.html", found=found, by=by, following=following)


async def merge(asked: CurrentPage, form: SentForm) -> Response:
    """Merge contacts of one person into the one that stays."""
    keep, others = id_of(form.get("keep")), [id_of(one) for one in form.all("merge") if one != form.get("keep")]
    if not others:
        raise BadForm(_("Choose the contact that stays, and tick at least one other that is merged into it."))
    for other in others:
        await contacts.merge_contacts(MergeContacts(keep=keep, merge=other), asked.application, asked.actor)
    notice = _("Merged %(count)s contacts into one.") % {"count": len(others) + 1}
    return redirect(asked, own_path(form.get("back") or f"{HERE}/{keep}"), notice)


async def split(row_id: RowId, asked: CurrentPage) -> Response:
    """Split a contact that was put together from several pages."""
    parts = await contacts.split_contact(row_id, asked.application, asked.actor)
    return redirect(
        asked,
        f"{HERE}/{row_id}",
        _("The contact was split into %(count)s; both keep the name.") % {"count": len(parts)},
    )


async def suppress(asked: CurrentPage, form: SentForm) -> Response:
    """Suppress the addresses and numbers of contacts; without a confirmation ask first."""
    ids, back = _ids(form), own_path(form.get("back") or HERE)
    if not ids:
        return redirect(asked, back, _("No row was selected: tick the boxes of the rows first."))
    if form.get("sure") != "yes":
        return page(asked, "suppress.html", ids=ids, back=back)
    body = SuppressIds(ids=ids, kinds=["email", "phone"], reason=form.get("reason") or None)
    done = await suppress_contacts(body, asked.application, asked.actor)
    one, many = "%(count)s address or number is suppressed now.", "%(count)s addresses and numbers are suppressed now."
    affected = (done.contacts, "%(count)s contact has one of them.", "%(count)s contacts have one of them.")
    return redirect(asked, back, counted_each(counted(one, many, done.added), affected))


async def show_deliver(asked: CurrentPage) -> Response:
    """Ask where all contacts that match are to be delivered."""
    return await _ask_destination(asked, (), HERE)


async def deliver(asked: CurrentPage, form: SentForm) -> Response:
    """Deliver the contacts of the form, or all that match; without a destination ask first."""
    back, ids = own_path(form.get("back") or HERE), _ids(form)
    if not form.get("destination_id"):
        return await _ask_destination(asked, ids, back)
    chosen: SendIds | SendMatching
    if ids:
        chosen = SendIds(destination_id=id_of(form.get("destination_id")), ids=ids)
    else:
        try:
            chosen = SendMatching(
                destination_id=id_of(form.get("destination_id")),
                filter=list_filter(GRID, asked),
                expected=int(form.get("expected")),
                as_of=form.get("as_of"),
            )
        except ValueError:
            raise BadForm(_("Open the list again and choose contacts to deliver.")) from None
    try:
        answer = await deliveries.create_deliveries(chosen, asked.application, asked.actor)
    except CountChanged as error:
        return await _ask_destination(asked, (), back, explain(error), error.status_code)
    if answer.status_code == HTTPStatus.ACCEPTED:
        return redirect(asked, back, _("A job queues the deliveries; it takes a while."), is_job=True)
    return redirect(asked, back, sent_in_words(SendResult.model_validate_json(bytes(answer.body))))


async def _ask_destination(
    asked: PageRequest, ids: Sequence[UUID], back: str, problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    api = destinations.API
    query = api.query.model_validate({"enabled": True, "limit": 100, "count": False})
    found = await list_page(asked.application, asked.actor, api.resource, api.summary, query, api.complete)
    matching = None if ids else await matching_rows(asked, GRID, ())
    to_send = None
    if matching and found.items:
        to_send = await count_to_send(asked, found.items[0].id, list_filter(GRID, asked), matching.as_of)
    context = {"ids": ids, "matching": matching, "destinations": found.items, "back": back, "problem": problem}
    return page(asked, "deliver.html", status, counted=to_send, **context)


async def _contact(asked: PageRequest, row_id: UUID) -> Any:
    return await row_detail(asked.application, asked.actor, GRID.api.resource, ContactDetail, row_id)


def _values(row: Any) -> dict[str, str]:
    return {each.name: getattr(row, each.name, None) or "" for each in FIELDS}


def _given(form: SentFields) -> dict[str, str]:
    return {each.name: form.get(each.name) for each in FIELDS}


def _ids(form: SentFields) -> list[UUID]:
    return list(sent_rows(form).ids)


def _form(
    asked: PageRequest,
    given: Mapping[str, str],
    action: str,
    *,
    row: Any = None,
    wrong: Mapping[str, str] | None = None,
    problem: ScraperSkyError | None = None,
    shows_both: bool = False,
    seen: str | None = None,
    status: int = HTTPStatus.OK,
) -> Response:
    """Draw the form with what was typed; beside it the stored version, if somebody has changed it meanwhile."""
    context = {
        "fields": [(each, given.get(each.name, "")) for each in FIELDS],
        "notes": {name: field.description for name, field in EditableFields.model_fields.items()},
        "row": row,
        "now": _values(row) if shows_both else None,
        "wrong": wrong or {},
        "problem": problem,
        "is_gone": isinstance(problem, UnknownRow),
        "existing": problem.members["id"] if isinstance(problem, ContactExists) else None,
        "updated_at": seen or (row.updated_at.isoformat() if row else ""),
    }
    return page(asked, "contact_form.html", status, action=action, **context)


def _by_field(error: ValidationError) -> dict[str, str]:
    """Return what is wrong with each field, in words."""
    words = {
        "email": _("Write it like anna@molar.fi."),
        "phone": _("Write it like +358912345678."),
        "fax": _("As a phone number."),
    }
    return {
        str(one["loc"][0]): words.get(str(one["loc"][0])) or _(one["msg"].removeprefix("Value error, "))
        for one in error.errors()
        if one["loc"]
    }
