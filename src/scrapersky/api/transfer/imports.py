"""Imports: rows that somebody already has, as a table or as JSON, in one request."""

import io
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.columns import read_mapping
from scrapersky.actions.imports.run import ImportRequest
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.http.problems import Problem, problems
from scrapersky.api.http.strict_json import DuplicateMember
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.api.schemas.listing import Flag
from scrapersky.core.errors import BadRequest
from scrapersky.extract.tabular import strict_json
from scrapersky.extract.tabular.rows import Form, TableRow, read_objects, read_table

MAX_ROWS = 1_000  # of a submission; files may have more
FORMS: dict[str, Form] = {"text/csv": "csv", "application/x-ndjson": "jsonl"}

router = APIRouter(prefix="/imports", tags=["imports"], responses=problems(422, 503))


class UnsupportedTable(BadRequest):
    """A body of this Content-Type cannot be imported."""

    status_code = 415


class ImportQuery(RequestModel):
    """How an import is made."""

    dry_run: Flag = Field(False, description="check every row, keep nothing")
    auto_queue: Flag = Field(False, description="queue each row's next step")
    map: list[Text] = Field(
        [], max_length=100, description="COLUMN=FIELD: what a column is, where its name does not tell"
    )
    name: Text = Field("upload", description="what it is called; the same name belongs to the same search")


class ImportBody(RequestModel):
    """Rows as objects."""

    rows: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_ROWS, description="their lines are numbered from 1")


class RowProblem(BaseModel):
    """A row that was not stored."""

    model_config = ConfigDict(from_attributes=True)

    line: int = Field(description="where it begins in the body")
    message: str = Field(description="what is wrong with it")


class ImportReport(BaseModel):
    """What became of the rows."""

    model_config = ConfigDict(from_attributes=True)

    noun: str
    dry_run: bool
    search_id: UUID | None = Field(description="the search that the rows belong to now")
    rows: int
    created: int
    updated: int
    unchanged: int
    queued: int
    failed: int
    errors: list[RowProblem] = Field(description="the first thousand that failed")


_TABLE: dict[str, Any] = {}  # bytes of any kind: what is wrong with them is told by row
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": ImportBody.model_json_schema()},
            "text/csv": _TABLE,
            "application/x-ndjson": _TABLE,
        },
    }
}


@router.post(
    "/{noun}",
    summary="Import rows",
    openapi_extra={**_BODY, **requires(OPERATOR)},
    responses={**problems(400), 415: {"description": "The body is of no kind that can be read.", "model": Problem}},
)
async def import_rows(
    noun: Annotated[
        Literal["places", "domains", "sitemaps", "pages", "contacts", "suppressions"], Path(description="what they are")
    ],
    asked: Annotated[ImportQuery, Query()],
    request: Request,
    application: CurrentApplication,
    actor: CurrentActor,
) -> ImportReport:
    """Known rows are refreshed, curation is kept, and a row that cannot be used costs no other. Twice is like once."""
    rows = _rows(request.headers.get("content-type", ""), await request.body())
    import_request = ImportRequest(noun, asked.name, asked.dry_run, asked.auto_queue, read_mapping(asked.map))
    return ImportReport.model_validate(await imports.run(application.database, actor, import_request, rows))


def _rows(content_type: str, body: bytes) -> Iterator[TableRow]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind in FORMS:
        return read_table(io.BytesIO(body), FORMS[kind])
    if kind != "application/json":
        raise UnsupportedTable(f"Send {', '.join(FORMS)} or application/json.")
    try:
        ImportBody.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in wrong]) from None
    submitted = strict_json.read(body)  # which sees what a row says twice
    if isinstance(submitted, strict_json.Twice):
        raise DuplicateMember(submitted.name)
    return read_objects(submitted["rows"])
