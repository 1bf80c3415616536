"""Imports: rows as a table or as JSON, in one request."""

import io
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.column_mapping import parse_mapping
from scrapersky.actions.imports.run import ImportRequest
from scrapersky.actions.imports.targets import TARGETS, ImportTarget
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.http.strict_requests import DuplicateMember
from scrapersky.api.schemas.fields import Count, Flag, RequestModel, ResponseModel, RowProblem
from scrapersky.api.schemas.files import Columns, file_schema
from scrapersky.core import strict_json
from scrapersky.core.errors import BadRequest
from scrapersky.core.text_rules import Text
from scrapersky.extract.tabular.rows import Form, TableRow, read_objects, read_table
from scrapersky.store.listing.columns import ColumnMeaning, meaning_of

MAX_ROWS = 1_000  # of a JSON body; tables may have more
TABLE_FORMATS: dict[str, Form] = {"text/csv": "csv", "application/x-ndjson": "jsonl"}

router = APIRouter(prefix="/imports", tags=["imports"])


class UnsupportedTable(BadRequest):
    """A body of this Content-Type cannot be imported."""

    status_code = 415


class ImportQuery(RequestModel):
    """Options of an import."""

    dry_run: Flag = Field(False, description="check every row, store nothing")
    auto_queue: Flag = Field(False, description="queue the next step of each row")
    map: list[Text] = Field(
        [],
        max_length=100,
        description="COLUMN=FIELD: the field of a column that is not recognized by its name",
        examples=[["Firmenname=name"]],
    )
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
    message: str = Field(description="what is wrong", examples=["'12' is no phone number"])


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
        },
    }
}


@router.post(
    "/{noun}",
    summary="Import rows",
    **requires(OPERATOR, 400, 415, **_BODY),
)
async def import_rows(
    noun: Annotated[
        Literal["places", "domains", "sitemaps", "pages", "contacts", "suppressions"], Path(description="the resource")
    ],
    options: Annotated[ImportQuery, Query()],
    request: Request,
    application: CurrentApplication,
    actor: CurrentActor,
) -> ImportReport:
    """Import rows. Existing rows are updated and keep their curation status. Invalid rows are reported."""
    rows = _rows(request.headers.get("content-type", ""), await request.body())
    import_request = ImportRequest(
        noun, options.name, options.dry_run, options.auto_queue, parse_mapping(options.map), options.country or ""
    )
    return ImportReport.model_validate(await imports.run(application.database, actor, import_request, rows))


def _rows(content_type: str, body: bytes) -> Iterator[TableRow]:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in TABLE_FORMATS:
        return read_table(io.BytesIO(body), TABLE_FORMATS[media_type])
    if media_type != "application/json":
        raise UnsupportedTable(f"Send the rows as {', '.join(TABLE_FORMATS)} or application/json.")
    try:
        ImportBody.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in wrong]) from None
    submitted = strict_json.parse(body)  # reports members that occur twice in a row
    if isinstance(submitted, strict_json.DuplicateKeys):
        raise DuplicateMember(submitted.key)
    return read_objects(submitted["rows"])
