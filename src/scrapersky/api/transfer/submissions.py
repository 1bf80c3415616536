"""Direct submission: rows as JSON, stored by the same rules as an import."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field, create_model

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.run import ImportRequest, Report
from scrapersky.actions.imports.targets import TARGETS
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.schemas.fields import Count, RequestModel, ResponseModel
from scrapersky.core.text_rules import Text
from scrapersky.extract.tabular.rows import read_objects

RESOURCES = ("places", "domains", "sitemaps", "pages", "contacts")
MAX_ITEMS = 1_000  # a table may have more: POST /imports/{noun}

EXAMPLES = {
    "places": {"name": "Kallio Dental", "website": "https://kallio-dental.example", "city": "Helsinki"},
    "domains": {"domain": "kallio-dental.example", "country": "FI"},
    "sitemaps": {"url": "https://www.kallio-dental.example/sitemap.xml"},
    "pages": {"url": "https://www.kallio-dental.example/yhteystiedot"},
    "contacts": {"email": "info@kallio-dental.example", "phone": "+358401234567"},
}

router = APIRouter()


class Submission(RequestModel):
    """The rows to store."""

    items: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=MAX_ITEMS,
        description="the rows, each an object",
        examples=[[{"name": "Kallio Dental", "website": "https://kallio-dental.example"}]],
    )
    queue: bool = Field(False, strict=True, description="queue the next step of each row that was never queued")
    country: Text | None = Field(
        None, description="the country of items that name none: its code or its name", examples=["FI"]
    )
    name: Text = Field(
        "direct submission",
        description="the name of the submission; submissions of the same name belong to the same search",
    )


class ItemProblem(BaseModel):
    """An item that was not stored."""

    index: Count = Field(description="the index in `items`, from 0", examples=[1])
    message: str = Field(description="what is wrong", examples=["'molar' has no domain that can be registered"])


class FieldProblem(BaseModel):
    """A value that was left out of its item."""

    index: Count = Field(description="the index in `items`, from 0", examples=[1])
    column: str = Field(description="the member of the item", examples=["phone"])
    message: str = Field(description="what is wrong", examples=["'12' is not a phone number"])


class SubmissionReport(ResponseModel):
    """The result of a submission."""

    search_id: UUID | None = Field(description="the search that the rows belong to; empty without rows")
    created: Count = Field(description="items that are new rows", examples=[1])
    updated: Count = Field(description="items of existing rows that got a value", examples=[0])
    unchanged: Count = Field(
        description="existing rows without changes, also if they are spelled differently", examples=[0]
    )
    queued: Count = Field(description="rows whose next step was queued", examples=[0])
    failed: Count = Field(description="items that were not stored", examples=[1])
    errors: list[ItemProblem] = Field(max_length=MAX_ITEMS, description="why they were not stored")
    incomplete: Count = Field(description="items that were stored without a wrong value", examples=[1])
    cells: list[FieldProblem] = Field(description="the wrong values")
    ignored_columns: list[str] = Field(description="members of items that were not read", examples=[["notes"]])


def _report(report: Report) -> SubmissionReport:
    counts = {name: getattr(report, name) for name in SubmissionReport.model_fields if name not in ("errors", "cells")}
    errors = [ItemProblem(index=error.line - 1, message=error.message) for error in report.errors]
    cells = [FieldProblem(index=cell.line - 1, column=cell.column, message=cell.message) for cell in report.cells]
    return SubmissionReport(**counts, errors=errors, cells=cells)


def _submission_of(name: str) -> type[Submission]:
    """Build the body model of a resource; its description lists the fields of an item."""
    fields = "; ".join(f"`{name}`: {column.meaning}" for name, column in TARGETS[name].columns.items())
    items = Field(min_length=1, max_length=MAX_ITEMS, description=fields, examples=[[EXAMPLES[name]]])
    about = f"The {name} to store."
    types: dict[str, Any] = {"items": (list[dict[str, Any]], items)}
    return create_model(f"Submit{name.capitalize()}", __base__=Submission, __doc__=about, **types)


def _route_of(name: str) -> Callable[..., Awaitable[SubmissionReport]]:
    body_type = _submission_of(name)

    async def submit(body: body_type, application: CurrentApplication, actor: CurrentActor) -> SubmissionReport:  # type: ignore[valid-type]
        """Store rows. Existing rows are updated and keep their curation status. Invalid items are reported."""
        submission: Submission = body
        import_request = ImportRequest(
            name, submission.name, auto_queue=submission.queue, country=submission.country or "", is_table=False
        )
        return _report(await imports.run(application.database, actor, import_request, read_objects(submission.items)))

    return submit


for _name in RESOURCES:
    router.add_api_route(
        f"/{_name}/submit",
        _route_of(_name),
        methods=["POST"],
        name=f"submit_{_name}",
        summary=f"Submit {_name}",
        tags=[_name],
        **requires(OPERATOR, 400),
    )
