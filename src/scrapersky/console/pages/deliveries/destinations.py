"""Destinations: make, change, test, enable and disable them. Secrets go in, and never come out."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.deliveries import deliveries, destinations
from scrapersky.api.deliveries.destinations import (
    KIND_SUMMARIES,
    CreatedDestination,
    DestinationChange,
    DestinationDetail,
    KindSummary,
    NewDestination,
    NewSecret,
)
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import MAX_PAGE, RowId
from scrapersky.console.answers import page, redirect, secret_page
from scrapersky.console.columns import Column, Grid
from scrapersky.console.forms import BadForm, SentFields, explain, wrong_field
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.console.pages.listing.grid import read_grid
from scrapersky.console.pages.operations.audit import audit_of
from scrapersky.core.errors import BadRequest, Conflict
from scrapersky.core.vocabularies import Curation, Verdict
from scrapersky.store.deliveries.destinations import DestinationChanged
from scrapersky.store.deliveries.outbox import failure_of
from scrapersky.store.deliveries.rules import DeliveryRule

HERE = f"{CONSOLE}/destinations"
DESTINATIONS = Grid(
    destinations.API,
    mark("Destinations"),
    ("name",),
    mark("name"),
    (Column("kind", mark("kind")), Column("updated_at", mark("changed"), "time")),
    mark("There is no destination yet: a web hook, or an account at a CRM, that takes contacts."),
)


async def show_list(asked: CurrentPage) -> Response:
    """Draw the destinations with their rules in words."""
    shown = await read_grid(asked, DESTINATIONS, HERE)
    return page(asked, "destinations.html", shown=shown, here=HERE, rule_words=rule_words, kinds=KIND_SUMMARIES)


async def show_new(asked: CurrentPage) -> Response:
    """Draw the kinds, or the form of a destination of one kind."""
    kind = KIND_SUMMARIES.get(asked.request.query_params.get("kind", ""))
    return _form(asked, kind, {})


async def create(asked: CurrentPage, form: SentForm) -> Response:
    """Create a destination; a secret that was generated is shown once."""
    kind = KIND_SUMMARIES.get(form.get("kind"))
    if kind is None:
        raise BadForm(_("Choose a kind: %(kinds)s.") % {"kinds": ", ".join(KIND_SUMMARIES)})
    fields = _fields(form)
    try:
        body = NewDestination.model_validate({"kind": kind.name, **_values(kind, form)})
        made = await destinations.create_destination(body, asked.application, asked.actor, Response())
    except ValidationError as error:
        return _form(asked, kind, fields, wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except (BadRequest, Conflict) as error:
        return _form(asked, kind, fields, explain(error), error.status_code)
    return _made(asked, made, _("The destination is there. Test it before you send contacts."))


async def show(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw one destination."""
    return await _draw(asked, row_id)


async def change(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Change a destination; if another person changed it meanwhile, show both versions."""
    found = await destinations.get_destination(row_id, asked.application, asked.actor)
    try:
        values = {**_values(KIND_SUMMARIES[found.kind], form), "updated_at": form.get("updated_at") or None}
        body = DestinationChange.model_validate(values)
        await destinations.change_destination(row_id, body, asked.application, asked.actor)
    except ValidationError as error:
        return await _draw(asked, row_id, wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY, _fields(form))
    except DestinationChanged as error:
        said = _(
            "Another person changed it meanwhile. Beside your values is what it is now; send yours again to replace it."
        )
        return await _draw(asked, row_id, said, error.status_code, _fields(form), is_conflict=True)
    except (BadRequest, Conflict) as error:
        return await _draw(asked, row_id, explain(error), error.status_code, _fields(form))
    return redirect(asked, f"{HERE}/{row_id}", _("The destination was changed."))


async def switch(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Enable or disable a destination."""
    enabled = form.get("enabled") == "yes"
    await destinations.change_destination(row_id, DestinationChange(enabled=enabled), asked.application, asked.actor)
    taken, closed = _("It takes contacts again; what was skipped meanwhile is queued."), _("Nothing is sent there now.")
    return redirect(asked, f"{HERE}/{row_id}", taken if enabled else closed)


async def test(row_id: RowId, asked: CurrentPage) -> Response:
    """Send a test, and show what came of it."""
    done = await destinations.test_destination(row_id, asked.application, asked.actor)
    if not done.ok:
        return await _draw(
            asked, row_id, _("The test failed: %(said)s") % {"said": done.said}, HTTPStatus.UNPROCESSABLE_ENTITY
        )
    return redirect(asked, f"{HERE}/{row_id}", _("The test succeeded: %(said)s") % {"said": done.said})


async def rotate(row_id: RowId, asked: CurrentPage, form: SentForm) -> Response:
    """Set a new secret; one that was generated is shown once."""
    try:
        body = NewSecret(secret=form.get("secret") or None)
        made = await destinations.rotate_destination(row_id, body, asked.application, asked.actor)
    except (BadRequest, ValidationError) as error:
        said = explain(error) if isinstance(error, BadRequest) else wrong_field(error)
        return await _draw(asked, row_id, said, HTTPStatus.UNPROCESSABLE_ENTITY)
    return _made(asked, made, _("The secret was replaced."))


async def retire(row_id: RowId, asked: CurrentPage) -> Response:
    """Remove the previous secret."""
    await destinations.retire_destination_secret(row_id, asked.application, asked.actor)
    return redirect(asked, f"{HERE}/{row_id}", _("Only the new secret is in force."))


async def remove(row_id: RowId, asked: CurrentPage) -> Response:
    """Delete a destination and its deliveries."""
    await destinations.remove_destination(row_id, asked.application, asked.actor)
    return redirect(asked, HERE, _("The destination was deleted. Contacts that it has received stay there."))


def rule_words(rule: Mapping[str, Any]) -> list[str]:
    """Return what a rule does, in sentences."""
    given = DeliveryRule.model_validate(dict(rule))
    said = []
    if given.auto:
        words = {"verdicts": given.verdicts, "decisions": given.curation}
        listed = {name: f" {_('or')} ".join(map(_, values)) or _("no") for name, values in words.items()}
        sentence = _("Sends by itself: %(verdicts)s contacts that are %(decisions)s, sure by %(sure)s or more.")
        said.append(sentence % {**listed, "sure": f"{given.min_confidence:g}"})
        if given.phone_only:
            said.append(_("Also contacts with a phone number and no email address."))
    else:
        said.append(_("Sends only what you send."))
    if given.alarms:
        said.append(_("Takes alarms."))
    if given.completions:
        said.append(_("Is notified when a run of a search ends."))
    return said


def _made(asked: PageRequest, made: CreatedDestination, notice: str) -> Response:
    there = f"{HERE}/{made.id}"
    if made.signing_secret is None:
        return redirect(asked, there, notice)
    return secret_page(asked, "new_secret.html", made=made, there=there, here=HERE)


async def _draw(
    asked: PageRequest,
    row_id: UUID,
    problem: str = "",
    status: int = HTTPStatus.OK,
    sent: Mapping[str, Any] | None = None,
    *,
    is_conflict: bool = False,
) -> Response:
    found = await destinations.get_destination(row_id, asked.application, asked.actor)
    kind = KIND_SUMMARIES[found.kind]
    stored = stored_fields(found, kind)
    context = {
        "found": found,
        "kind": kind,
        "fields": {**stored, **(sent or {})},
        "stored": stored if is_conflict else {},
        "words": rule_words(found.rule),
        "failure": await _failure(asked, found),
        "history": audit_of(asked, f"destination {row_id}"),
        **_choices(),
    }
    return page(asked, "destination.html", status, problem=problem, here=HERE, **context)


async def _failure(asked: PageRequest, found: DestinationDetail) -> str:
    """Return why the latest attempt failed, while the destination fails."""
    if found.failing_since is None:
        return ""
    wanted = {"destination_id": [found.id], "delivery_status": ["Queued", "Error"], "limit": MAX_PAGE, "count": False}
    query = deliveries.API.query.model_validate(wanted)
    listed = await list_page(asked.application, asked.actor, deliveries.API.resource, deliveries.DeliverySummary, query)
    return next((why for one in listed.items if (why := failure_of(one.delivery_error))), "")


def _form(
    asked: PageRequest,
    kind: KindSummary | None,
    sent: Mapping[str, Any],
    problem: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    empty = {
        "name": "",
        "url": "",
        "auto": "",
        "phone_only": "",
        "alarms": "",
        "completions": "",
        "min_confidence": "0.5",
    }
    lists = {"verdicts": [Verdict.DELIVERABLE.value], "curation": [Curation.SELECTED.value]}
    options = {f"option-{one.name}": "" for one in kind.options} if kind else {}
    context = {"kind": kind, "kinds": KIND_SUMMARIES, "fields": {**empty, **lists, **options, **sent}, **_choices()}
    return page(asked, "new_destination.html", status, problem=problem, here=HERE, stored={}, **context)


def _choices() -> dict[str, Sequence[str]]:
    return {"verdicts": [one.value for one in Verdict], "decisions": [one.value for one in Curation]}


def stored_fields(found: DestinationDetail, kind: KindSummary) -> dict[str, Any]:
    """Return a destination as the fields of its form."""
    rule = DeliveryRule.model_validate(found.rule)
    flags = {name: "yes" if getattr(rule, name) else "" for name in ("auto", "phone_only", "alarms", "completions")}
    return {
        "name": found.name,
        "url": found.url or "",
        **flags,
        "min_confidence": f"{rule.min_confidence:g}",
        "verdicts": [one.value for one in rule.verdicts],
        "curation": [one.value for one in rule.curation],
        **{f"option-{one.name}": _written(found.options.get(one.name)) for one in kind.options},
    }


def _fields(form: SentFields) -> dict[str, Any]:
    """Return what was sent, for the form; secrets are not shown again."""
    names = ("name", "url", "auto", "phone_only", "alarms", "completions", "min_confidence")
    options = {name: form.get(name) for name in form.values if name.startswith("option-")}
    return {
        **{name: form.get(name) for name in names},
        **options,
        "verdicts": form.all("verdicts"),
        "curation": form.all("curation"),
    }


def _values(kind: KindSummary, form: SentFields) -> dict[str, Any]:
    """Return what was sent as the API takes it."""
    rule = {
        "auto": form.get("auto") == "yes",
        "phone_only": form.get("phone_only") == "yes",
        "alarms": form.get("alarms") == "yes",
        "completions": form.get("completions") == "yes",
        "verdicts": form.all("verdicts"),
        "curation": form.all("curation"),
        "min_confidence": form.get("min_confidence") or 0.5,
    }
    options = {one.name: _parsed(one.type, form.get(f"option-{one.name}")) for one in kind.options}
    return {
        "name": form.get("name"),
        "url": form.get("url") or None,
        "secret": form.get("secret") or None,
        "rule": rule,
        "options": {name: value for name, value in options.items() if value not in (None, "", [], {})},
    }


def _parsed(kind: str, text: str) -> Any:
    """Read an option: a list is separated by commas, an object has a line `name = value` for each member."""
    if kind == "array":
        return [int(part) if part.isdigit() else part for part in map(str.strip, text.split(",")) if part]
    if kind == "object":
        lines = [line.partition("=") for line in text.splitlines() if line.strip()]
        return {name.strip(): value.strip() or None for name, _, value in lines}
    return text


def _written(value: Any) -> str:
    """Write an option as `_parsed` reads it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "\n".join(f"{name} = {member or ''}".rstrip() for name, member in value.items())
    return "" if value is None else str(value)
