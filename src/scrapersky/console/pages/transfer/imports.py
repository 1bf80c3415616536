"""Imports: a table by file or paste, its columns, a rehearsal, the import and its report."""

import codecs
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, get_args

from pydantic import ValidationError
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.operations import jobs
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.api.transfer.imports import (
    ImportPreview,
    ImportQuery,
    ImportReport,
    Noun,
    import_table,
    preview_of,
    read_rows,
)
from scrapersky.console.answers import page, redirect
from scrapersky.console.columns import GRIDS
from scrapersky.console.forms import BadForm, SentFields, explain, wrong_field
from scrapersky.console.gates import CurrentPage, PageRequest, SentForm
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark
from scrapersky.core.errors import BadRequest, UnknownName
from scrapersky.extract.tabular.rows import TableRow

HERE = f"{CONSOLE}/import"
NOUNS: tuple[str, ...] = get_args(get_args(Noun)[0])
MAX_BYTES = 5_000_000  # of a table; the command and the API take more
MAX_REPORTS = 10
MAX_SHOWN_ERRORS = 100  # of a rehearsal; the report has all that are kept
MAX_MAPPED = 100  # columns


# What begins like this is no table, and what to do about it.
NO_TABLES = {
    b"[": mark("JSON lines have one object a line, without brackets around all of them."),
    b"<": mark("It looks like a web page or XML; save the table as CSV."),
}


class TooLargeTable(BadRequest):
    """The table is too large for the console."""


@dataclass(frozen=True)
class Draft:
    """A table that is to be imported, and how."""

    noun: str
    name: str
    country: str
    queues: bool
    mapped: tuple[str, ...]  # COLUMN=FIELD
    content: bytes

    @property
    def text(self) -> str:
        """The table as text, for the next form."""
        for byte_order, charset in (
            (codecs.BOM_UTF8, "utf-8-sig"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        ):
            if self.content.startswith(byte_order):
                return self.content.decode(charset, "replace")
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return self.content.decode("cp1252", "replace")  # as old spreadsheets write it

    @property
    def digest(self) -> str:
        """A short text that differs if anything about the import differs; ends of lines make no difference."""
        parts = (self.noun, self.country, self.queues, self.mapped, self.text.replace("\r\n", "\n"))
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def rows(self) -> Iterator[TableRow]:
        """Read the rows of the table. Raises UnusableTable."""
        return read_rows(self.noun, self.content)

    def options(self, *, dry_run: bool) -> ImportQuery:
        """Return the options of the import. Raises ValidationError."""
        return ImportQuery(
            map=list(self.mapped),
            dry_run=dry_run,
            auto_queue=self.queues,
            country=self.country or None,
            name=self.name or "console",
        )


async def show(asked: CurrentPage) -> Response:
    """Draw the form for a table, and the reports of the latest imports."""
    return await _begin(asked, {"noun": asked.request.query_params.get("noun", "")})


async def look(asked: CurrentPage, form: SentForm) -> Response:
    """Draw the columns of the table and what each is taken for."""
    return await _step(asked, form)


async def rehearse(asked: CurrentPage, form: SentForm) -> Response:
    """Draw what the import would do; nothing is stored."""
    return await _step(asked, form, is_rehearsal=True)


async def run(asked: CurrentPage, form: SentForm) -> Response:
    """Import the table as it was rehearsed, and lead to the report; rehearse again if anything was changed since."""
    try:
        draft = _read(form)
        if form.get("rehearsed") != draft.digest:
            said = _("The table or its columns were changed after the rehearsal: this is what would happen now.")
            return await _step(asked, form, is_rehearsal=True, problem=said)
        report = await import_table(
            asked.application, asked.actor, draft.noun, draft.options(dry_run=False), draft.rows()
        )
    except (BadRequest, ValidationError):
        return await _step(asked, form, is_rehearsal=True)  # which says what is wrong
    return redirect(asked, f"{HERE}/reports/{report.job_id}", _("The import is done."))


async def show_report(row_id: RowId, asked: CurrentPage) -> Response:
    """Draw the report of an import."""
    job = await jobs.get_job(row_id, asked.application, asked.actor)
    if job.kind != "import":
        raise UnknownName(_("There is no report of an import with this id."))
    noun = job.parameters["resource"]
    result: dict[str, Any] = {**(job.result or {}), "noun": noun, "dry_run": False, "job_id": job.id}
    report = ImportReport.model_validate(result)
    return page(asked, "import_report.html", job=job, report=report, rows_at=_rows_at(report), here=HERE)


async def _step(asked: PageRequest, form: SentFields, *, is_rehearsal: bool = False, problem: str = "") -> Response:
    """Draw the columns of the table, and the rehearsal if asked for; or the first form with what is wrong."""
    try:
        draft = _read(form)
        seen = preview_of(draft.noun, draft.mapped, draft.rows())
    except BadRequest as error:
        hint = next((_(said) for sign, said in NO_TABLES.items() if _begins(form, sign)), "")
        return await _begin(asked, _fields(form), f"{explain(error)} {hint}".strip(), error.status_code)
    report, wrong = None, problem or _problem_of(seen)
    if is_rehearsal and not seen.problem:
        try:
            options = draft.options(dry_run=True)
            report = await import_table(asked.application, asked.actor, draft.noun, options, draft.rows())
        except BadRequest as error:
            wrong = explain(error)
        except ValidationError as error:
            wrong = wrong_field(error)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong and is_rehearsal else HTTPStatus.OK
    return _columns(asked, draft, seen, report, wrong, status)


def _problem_of(seen: ImportPreview) -> str:
    """Return why the table cannot be imported like this, and what to do about it on this page; empty: it can."""
    if seen.problem and not seen.columns and seen.rows:
        why = {"line": seen.rows[0].line, "why": seen.rows[0].error}
        return _("No line can be read. Line %(line)s: %(why)s") % why
    if seen.problem and not any(column.field for column in seen.columns):
        names = ", ".join(column.name for column in seen.columns[:20])
        return _("No column is known: %(names)s. Choose what at least one of them is.") % {"names": names}
    return _(seen.problem) if seen.problem else ""


def _columns(
    asked: PageRequest, draft: Draft, seen: ImportPreview, report: ImportReport | None, problem: str, status: int
) -> Response:
    context = {"draft": draft, "seen": seen, "report": report, "problem": problem, "here": HERE}
    return page(asked, "import_columns.html", status, max_mapped=MAX_MAPPED, max_errors=MAX_SHOWN_ERRORS, **context)


async def _begin(
    asked: PageRequest, fields: dict[str, str], problem: str = "", status: int = HTTPStatus.OK
) -> Response:
    query = jobs.API.query.model_validate({"kind": ["import"], "limit": MAX_REPORTS, "count": False})
    reports = await list_page(asked.application, asked.actor, jobs.API.resource, JobSummary, query)
    shown = {"noun": "contacts", "name": "", "country": "", "table": "", "queues": ""} | {
        k: v for k, v in fields.items() if v
    }
    context = {"fields": shown, "nouns": NOUNS, "reports": reports.items, "problem": problem, "here": HERE}
    return page(asked, "import.html", status, max_bytes=MAX_BYTES, **context)


def _fields(form: SentFields) -> dict[str, str]:
    fields = {name: form.get(name) for name in ("noun", "name", "country", "queues")}
    return {**fields, "table": (form.values.get("table") or [""])[-1]}


def _content(form: SentFields) -> bytes:
    """Return the file of the form, or the table that was pasted."""
    pasted = [text for name in ("file", "table") for text in form.all(name)]
    file = form.files.get("file")
    return file.content if file else next((text.encode() for text in pasted if text.strip()), b"")


def _begins(form: SentFields, sign: bytes) -> bool:
    return _content(form).lstrip()[:1] == sign


def _read(form: SentFields) -> Draft:
    """Read the form. Raises BadForm if it has no table or an unknown noun, TooLargeTable."""
    file, noun, content = form.files.get("file"), form.get("noun"), _content(form)
    if noun not in NOUNS:
        raise BadForm(_("Choose what the rows are: %(nouns)s.") % {"nouns": ", ".join(NOUNS)})
    if not content.strip():
        raise BadForm(_("Choose a file, or paste the table with the names of its columns in the first line."))
    if len(content) > MAX_BYTES:
        raise TooLargeTable(
            _("It has %(size)s MB; the console takes %(most)s. Divide it, or import it with: %(command)s")
            % {
                "size": f"{len(content) / 1e6:,.1f}",
                "most": f"{MAX_BYTES / 1e6:,.0f}",
                "command": f"scrapersky import {noun} FILE",
            }
        )
    name = form.get("name") or (file.name if file else "")
    mapped = tuple(pair for pair in form.all("map") if pair)[:MAX_MAPPED]
    return Draft(noun, name[:100], form.get("country"), form.get("queues") == "yes", mapped, content)


def _rows_at(report: ImportReport) -> str | None:
    """Return the list of the imported rows."""
    if report.noun in GRIDS and report.search_id:
        return f"{CONSOLE}/{report.noun}?search_id={report.search_id}"
    return f"{CONSOLE}/privacy" if report.noun == "suppressions" else None
