"""The audit: who changed what, before and after side by side; filters and files."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.downloads import FileFormat
from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import audit
from scrapersky.api.operations.audit import AuditFilter, AuditQuery, AuditSummary
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS
from scrapersky.console.gates import CurrentPage, PageRequest
from scrapersky.console.pages.listing.grid import wrong_filter
from scrapersky.core.vocabularies import Curation, Status

HERE = f"{CONSOLE}/audit"
FILTERS = ("actor", "action", "subject", "origin", "from", "until")
DAYS = ("from", "until")  # filters that are days in UTC
MAX_FIELDS = 12  # of one entry
STATES = frozenset((*Curation, *Status))  # a decision and a retry name the rows by the state that they had
MAX_VALUE = 200  # characters
# What the audit calls a row, and the list that has it.
PATHS = {
    **{grid.api.singular: grid.name for grid in GRIDS.values()},
    "search": "searches",
    "campaign": "searches",
    "destination": "destinations",
    "tenant": "system/tenants",
}
# What the audit calls a row that has no page of its own, and the list that has it.
LISTS = {"user": "people", "api key": "keys", "job": "jobs", "schedule": "schedules"}
_ROW = re.compile(r"([a-z ]{1,40}) ([0-9a-f-]{36})")


@dataclass(frozen=True)
class Difference:
    """A value before and after a change."""

    field: str
    before: str
    after: str


@dataclass(frozen=True)
class ShownChange:
    """A change as the page shows it."""

    change: AuditSummary
    path: str | None  # of the page of its subject
    differences: Sequence[Difference]
    more: int  # values that are not shown


async def show(asked: CurrentPage) -> Response:
    """Draw the changes, the latest first."""
    sent = asked.request.query_params
    fields = {name: sent[name] for name in (*FILTERS, "cursor") if sent.get(name)}
    if len(fields) < len(sent):  # empty or unknown fields
        return redirect(asked, f"{HERE}?{urlencode(fields)}" if fields else HERE)
    found = await audit.list_audit(_query(AuditQuery, fields), asked.application, asked.actor)
    filters = {name: fields.get(name, "") for name in FILTERS}
    kept = urlencode({name: value for name, value in filters.items() if value})
    entries = [_entry(one) for one in found.items]
    context: dict[str, Any] = {"entries": entries, "filters": filters, "kept": kept, "next_cursor": found.next_cursor}
    return page(asked, "audit.html", here=HERE, is_first="cursor" not in fields, **context)


async def export(ending: FileFormat, asked: CurrentPage) -> Response:
    """Stream the changes that match as a file."""
    fields = {name: value for name in FILTERS if (value := asked.request.query_params.get(name))}
    return await audit.export_audit(_query(AuditFilter, fields), asked.application, asked.actor, ending)


def _query(model: type[AuditFilter], fields: Mapping[str, str]) -> Any:
    """Read the filters of the address. Raises UnknownListFilter."""
    values = {
        name: f"{value}T00:00:00Z" if name in DAYS and len(value) == 10 else value for name, value in fields.items()
    }
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise wrong_filter(error) from None


def _entry(change: AuditSummary) -> ShownChange:
    before, after = change.before or {}, change.after or {}
    shown: list[Difference] = []
    if before and set(before) <= STATES:
        shown, before, after = _moved(before, after)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    shown += [Difference(name, _text(before.get(name)), _text(after.get(name))) for name in names[:MAX_FIELDS]]
    return ShownChange(change, _path(change.subject), shown, max(len(names) - MAX_FIELDS, 0))


def _moved(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[list[Difference], dict[str, Any], dict[str, Any]]:
    """Return how many rows left each state, and what else is known about them: their ids, unless they are many."""
    field, now = ("decision", "curation_status") if "curation_status" in after else ("state", "status")
    lists = {state: rows for state, rows in before.items() if isinstance(rows, list)}
    counts = {state: len(rows) if state in lists else rows for state, rows in before.items()}
    moved = [
        Difference(field, f"{state}:\N{NO-BREAK SPACE}{rows:,}", _text(after.get(now)))
        for state, rows in counts.items()
    ]
    rest = {name: value for name, value in after.items() if name not in (now, "action_id")}
    return moved, {}, {**rest, "ids": [one for rows in lists.values() for one in rows]}


def _path(subject: str) -> str | None:
    row = _ROW.fullmatch(subject)
    if row and row[1] in PATHS:
        return f"{CONSOLE}/{PATHS[row[1]]}/{row[2]}"
    if row and row[1] in LISTS:
        return f"{CONSOLE}/{LISTS[row[1]]}#{'job' if row[1] == 'job' else 'row'}-{row[2]}"
    return f"{CONSOLE}/{subject}" if subject in GRIDS else None


def _text(value: Any) -> str:
    """Return a value in one short line."""
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = ", ".join(map(_text, value[:MAX_FIELDS])) + (
            f" and {len(value) - MAX_FIELDS:,} more" if len(value) > MAX_FIELDS else ""
        )
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def audit_of(asked: PageRequest, subject: str) -> str | None:
    """Return the address of the changes of one subject, for those who may read them."""
    return f"{HERE}?{urlencode({'subject': subject})}" if asked.may("admin") else None
