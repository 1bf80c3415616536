"""Imports: rows as a table or as JSON, in one request."""

import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.column_mapping import parse_mapping
from scrapersky.actions.imports.look import is_list, look_at
from scrapersky.actions.imports.run import ImportRequest
from scrapersky.actions.imports.targets import TARGETS, ImportTarget, target_of
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.http.strict_requests import DuplicateMember, TooManyMembers
from scrapersky.api.schemas.fields import Count, Flag, RequestModel, ResponseModel, RowProblem
from scrapersky.api.schemas.files import Columns, file_schema
from scrapersky.core import strict_json
from scrapersky.core.errors import BadRequest
from scrapersky.core.text_rules import Text
from scrapersky.extract.tabular.rows import MAX_COLUMNS, Form, TableRow, read_list, read_objects, read_table
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing.columns import ColumnMeaning, meaning_of

MAX_ROWS = 1_000  # of a JSON body; tables may have more
LIST_FORMAT = "text/plain"  # one value a line: a domain, a URL, an email address
TABLE_FORMATS: dict[str, Form] = {"text/csv": "csv", "application/x-ndjson": "jsonl"}

router = APIRouter(prefix="/imports", tags=["imports"])


Noun = Annotated[
    Literal["places", "domains", "sitemaps", "pages", "contacts", "suppressions"], Path(description="the resource")
]


class UnsupportedTable(BadRequest):
    """A body of this Content-Type cannot be imported."""

    status_code = 415


class LookQuery(RequestModel):
    """Options of a look at a table."""

    map: list[Text] = Field(
        [],
        max_length=100,
        description="COLUMN=FIELD: the field of a column that is not recognized by its name; COLUMN=-: is not read",
        examples=[["Firmenname=name"]],
    )


class ImportQuery(LookQuery):
    """Options of an import."""

    dry_run: Flag = Field(False, description="check every row, store nothing")
    auto_queue: Flag = Field(False, description="queue the next step of each row")
    country: Text | None = Field(
        None, description="the country of rows that name none: its code or its name", examples=["FI"]
    )
    name: Text = Field(
        "upload", description="the name of the import; imports of the same name belong to the same search"
    )


class ImportBody(RequestModel):
    """Rows as JSON objects."""

    rows: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MAX_ROWS,
        description="numbered from 1 in error messages",
        examples=[[{"name": "Kallio Dental", "website": "https://kallio-dental.example"}]],
    )


class CellProblem(ResponseModel):
    """A cell that was left out of its row."""

    line: Count = Field(description="the line where the row begins, from 1", examples=[2])
    column: str = Field(description="the column as the file names it", examples=["Telefon"])
    message: str = Field(description="what is wrong", examples=["'12' is not a phone number"])


class ImportReport(ResponseModel):
    """The result of an import."""

    noun: str = Field(description="the resource that was imported", examples=["places"])
    dry_run: bool = Field(description="whether nothing was stored", examples=[False])
    search_id: UUID | None = Field(description="the search that the rows belong to")
    rows: Count = Field(description="rows of the file, without empty ones", examples=[120])
    created: Count = Field(description="rows that are new", examples=[100])
    updated: Count = Field(description="existing rows that got a value", examples=[15])
    unchanged: Count = Field(description="existing rows that had every value", examples=[4])
    queued: Count = Field(description="rows whose next step was queued", examples=[0])
    failed: Count = Field(description="rows that were not stored", examples=[1])
    errors: list[RowProblem] = Field(max_length=1_000, description="the first 1,000 rows that failed")
    incomplete: Count = Field(description="rows that were stored without a wrong cell", examples=[1])
    cells: list[CellProblem] = Field(max_length=1_000, description="the first 1,000 wrong cells")
    ignored_columns: list[str] = Field(
        description="columns that were not read, as the file names them", examples=[["Notes"]]
    )
    job_id: UUID | None = Field(description="the job that keeps this report; empty after a dry run")


class TableColumn(ResponseModel):
    """A column of a table."""

    name: str = Field(description="the column as the table names it", examples=["Telefon"])
    field: str | None = Field(description="what it is taken for; empty: it is not read", examples=["phone"])


class TableSample(ResponseModel):
    """One of the first rows of a table."""

    line: Count = Field(description="the line where the row begins, from 1", examples=[2])
    cells: list[str] = Field(
        max_length=1_000,
        description="its cells in the order of the columns",
        examples=[["Kallio Dental", "09 1234567"]],
    )
    error: str = Field(description="why the row cannot be read; empty: it can", examples=[""])


class TableField(BaseModel):
    """A field that a column can be mapped to."""

    name: str = Field(description="the name of the field", examples=["phone"])
    meaning: str = Field(description="what it holds", examples=["telephone number"])
    is_needed: bool = Field(description="whether a table needs a column for this field, or for another needed one")


class ImportPreview(BaseModel):
    """What is seen of a table before it is imported."""

    noun: str = Field(description="the resource that it would be imported as", examples=["places"])
    columns: list[TableColumn] = Field(max_length=1_000, description="its columns, and what each is taken for")
    rows: list[TableSample] = Field(max_length=5, description="its first rows")
    fields: list[TableField] = Field(max_length=100, description="the fields that columns can be mapped to")
    problem: str = Field(
        description="why it cannot be imported like this; empty: it can",
        examples=["Places need a column for name; the first line has Firma. Map one of them: COLUMN=name."],
    )


def _columns(target: ImportTarget) -> Columns:
    stored = {name: meaning_of(target.resource.model.__tablename__, name) for name in target.columns}
    return {
        name: ColumnMeaning(column.meaning, found.example if (found := stored[name]) else None)
        for name, column in target.columns.items()
    }


_COLUMNS = {noun: _columns(target) for noun, target in TARGETS.items()}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The rows: a table, or up to 1,000 JSON objects.",
        "content": {
            "application/json": {"schema": ImportBody.model_json_schema()},
            "text/csv": {"schema": file_schema("csv", _COLUMNS)},
            "application/x-ndjson": {"schema": file_schema("jsonl", _COLUMNS)},
            LIST_FORMAT: {
                "schema": {
                    "type": "string",
                    "contentMediaType": LIST_FORMAT,
                    "description": "One value a line, without names of columns: domains, URLs, email addresses, "
                    "names of places; suppressions may mix addresses, domains and numbers.",
                    "examples": ["kallio-dental.example\nmolar.example\n"],
                }
            },
        },
    }
}


@router.post(
    "/{noun}",
    summary="Import rows",
    **requires(OPERATOR, 400, 415, **_BODY),
)
async def import_rows(
    noun: Noun,
    options: Annotated[ImportQuery, Query()],
    request: Request,
    application: CurrentApplication,
    actor: CurrentActor,
) -> ImportReport:
    """Import rows. Existing rows are updated and keep their curation status. Invalid rows are reported, and the report
    is kept as a job."""
    rows = _rows(noun, request.headers.get("content-type", ""), await request.body())
    return await import_table(application, actor, noun, options, rows)


@router.post("/{noun}/look", summary="Look at a table", **requires(OPERATOR, 400, 415, **_BODY))
async def look_at_table(
    noun: Noun, options: Annotated[LookQuery, Query()], request: Request, application: CurrentApplication
) -> ImportPreview:
    """Return the columns of a table, what each is taken for, and five rows; nothing is stored."""
    return preview_of(noun, options.map, _rows(noun, request.headers.get("content-type", ""), await request.body()))


def preview_of(noun: str, pairs: Sequence[str], rows: Iterator[TableRow]) -> ImportPreview:
    """Return what is seen of a table, with the fields that its columns can be mapped to."""
    seen, target = look_at(noun, rows, parse_mapping(pairs)), target_of(noun)
    fields = [
        TableField(name=name, meaning=column.meaning, is_needed=name in target.needed)
        for name, column in target.columns.items()
    ]
    return ImportPreview(
        noun=noun,
        columns=[TableColumn.model_validate(column) for column in seen.columns],
        rows=[TableSample.model_validate(row) for row in seen.rows],
        fields=fields,
        problem=seen.problem,
    )


async def import_table(
    application: WebApplication, actor: Actor, noun: str, options: ImportQuery, rows: Iterator[TableRow]
) -> ImportReport:
    """Import the rows of a table."""
    import_request = ImportRequest(
        noun, options.name, options.dry_run, options.auto_queue, parse_mapping(options.map), options.country or ""
    )
    return ImportReport.model_validate(await imports.run(application.database, actor, import_request, rows))


def read_rows(noun: str, content: bytes) -> Iterator[TableRow]:
    """Read a table of any form: JSON lines, CSV, or a list with one value a line. Raises UnusableTable."""
    start = content.lstrip(b" \t\r\n\xef\xbb\xbf")[:1_000]
    if start[:1] == b"{":
        return read_table(io.BytesIO(content), "jsonl")
    if is_list(noun, start.decode(errors="replace").splitlines()[0] if start else ""):
        return read_list(io.BytesIO(content), target_of(noun).listed)
    return read_table(io.BytesIO(content), "csv")


def _rows(noun: str, content_type: str, body: bytes) -> Iterator[TableRow]:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == LIST_FORMAT:
        return read_list(io.BytesIO(body), target_of(noun).listed)
    if media_type in TABLE_FORMATS:
        return read_table(io.BytesIO(body), TABLE_FORMATS[media_type])
    if media_type != "application/json":
        raise UnsupportedTable(f"Send the rows as {', '.join(TABLE_FORMATS)}, {LIST_FORMAT} or application/json.")
    submitted = _parse(body)
    try:
        ImportBody.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in wrong]) from None
    if isinstance(submitted, strict_json.DuplicateKeys):
        raise DuplicateMember(submitted.key)
    return read_objects(submitted["rows"])


def _parse(body: bytes) -> Any:
    """Parse the body; a member that occurs twice in a row is reported with the row. Raises TooManyMembers."""
    try:
        return strict_json.parse(body, MAX_COLUMNS)
    except strict_json.ObjectTooLarge:
        raise TooManyMembers(f"An object may have at most {MAX_COLUMNS:,} members.") from None
    except (ValueError, RecursionError):
        return None  # the validation of the body says what is wrong
