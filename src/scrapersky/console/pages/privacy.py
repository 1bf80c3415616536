"""Privacy: suppressions, what is stored about a person, and erasing a person after a preview."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.privacy import erasures, subjects, suppressions
from scrapersky.api.privacy.erasures import ErasureRequest, SubjectQuery
from scrapersky.api.privacy.suppressions import MAX_VALUES, NewSuppressions
from scrapersky.api.schemas.fields import RowId
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import Column, Grid
from scrapersky.console.forms import explain, wrong_field
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import counted, counted_each, mark
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing.grid import read_grid
from scrapersky.core.errors import ScraperSkyError

HERE = f"{CONSOLE}/privacy"
PERSON = ("email", "phone", "name", "domain")
SUPPRESSIONS = Grid(
    suppressions.API,
    mark("Suppressions"),
    ("value", "value_hash"),
    mark("value"),
    (
        Column("kind", mark("kind")),
        Column("reason", mark("reason")),
        Column("origin", mark("caused by")),
        Column("created_at", mark("since"), "time"),
    ),
    mark("Nobody is suppressed. An address, number or domain on this list is in no file and no delivery."),
)


async def show(asked: CurrentPage) -> Response:
    """Draw the suppressions, and the forms for a value and for a person."""
    return await _draw(asked)


async def suppress(asked: CurrentPage, form: SentForm) -> Response:
    """Suppress addresses, domains and numbers: one a line."""
    fields = {name: form.get(name) for name in ("values", "reason", "country")}
    values = [line.strip() for line in fields["values"].splitlines() if line.strip()]
    try:
        body = NewSuppressions(values=values, reason=fields["reason"] or None, country=fields["country"] or None)
    except ValidationError as error:
        return await _draw(asked, wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY, fields)
    done = await suppressions.add_suppressions(body, asked.application, asked.actor)
    said = counted_each(
        counted("%(count)s was added.", "%(count)s were added.", done.added),
        (done.already, "%(count)s was known.", "%(count)s were known."),
        (done.contacts, "%(count)s contact is suppressed now.", "%(count)s contacts are suppressed now."),
    )
    if done.failed:
        wrong = [values[one.line - 1] for one in done.errors]
        one, many = "%(count)s value could not be read: %(why)s.", "%(count)s values could not be read: %(why)s."
        why = counted(one, many, done.failed, why=done.errors[0].message)
        return await _draw(
            asked, f"{said} {why}", HTTPStatus.UNPROCESSABLE_ENTITY, {**fields, "values": "\n".join(wrong)}
        )
    return redirect(asked, HERE, said)


async def remove(row_id: RowId, asked: CurrentPage) -> Response:
    """Delete a suppression."""
    await suppressions.delete_suppression(row_id, asked.application, asked.actor)
    return redirect(asked, HERE, _("The suppression was deleted: the value may be contacted again."))


async def look_up(asked: CurrentPage, form: SentForm) -> Response:
    """Draw what is stored about a person, and what an erasure would delete."""
    person = {name: form.get(name) for name in PERSON}
    given = {name: value for name, value in person.items() if value}
    try:
        held = await subjects.get_subject(SubjectQuery(**given), asked.application, asked.actor)
        preview = await erasures.erase_person(ErasureRequest.model_validate(given), asked.application, asked.actor)
    except ValidationError as error:
        return await _draw(asked, wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY, person=person)
    except ScraperSkyError as error:
        return await _draw(asked, explain(error), error.status_code, person=person)
    return page(asked, "subject.html", person=given, held=held, report=preview, here=HERE)


async def erase(asked: CurrentPage, form: SentForm) -> Response:
    """Erase a person; the report names who received the data, and is shown once."""
    given = {name: form.get(name) for name in PERSON if form.get(name)}
    try:
        body = ErasureRequest.model_validate({**given, "preview": False})
        report = await erasures.erase_person(body, asked.application, asked.actor)
    except ValidationError as error:
        return await _draw(asked, wrong_field(error), HTTPStatus.UNPROCESSABLE_ENTITY, person=given)
    except ScraperSkyError as error:
        return await _draw(asked, explain(error), error.status_code, person=given)
    return page(asked, "erased.html", report=report, here=HERE)


async def _draw(
    asked: PageRequest,
    problem: str = "",
    status: int = HTTPStatus.OK,
    fields: Mapping[str, str] | None = None,
    person: Mapping[str, str] | None = None,
) -> Response:
    shown = await read_grid(asked, SUPPRESSIONS, HERE)
    context: dict[str, Any] = {
        "fields": {"values": "", "reason": "", "country": "", **(fields or {})},
        "person": {**dict.fromkeys(PERSON, ""), **(person or {})},
        "problem": problem,
        "max_values": MAX_VALUES,
    }
    return page(asked, "privacy.html", status, shown=shown, here=HERE, **context)
