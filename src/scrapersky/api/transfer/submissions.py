"""Direct submission: rows as JSON to the noun they are of, stored and told apart as an import does it."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, create_model

from scrapersky.actions.imports import run as imports
from scrapersky.actions.imports.columns import COLUMNS
from scrapersky.actions.imports.run import ImportRequest, Report
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.extract.tabular.rows import read_objects

NOUNS = ("places", "domains", "sitemaps", "pages", "contacts")
MAX_ITEMS = 1_000  # a file may have more: POST /imports/{noun}

router = APIRouter(responses=problems(422, 503))


class Submission(RequestModel):
    """Rows, and what is to happen to them."""

    items: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_ITEMS)
    queue: bool = Field(False, strict=True, description="queue the next step of each row that never had it")
    name: Text = Field("direct submission", description="what it is called; the same name belongs to the same search")


class ItemProblem(BaseModel):
    """An item that was not stored."""

    index: int = Field(description="its place in `items`, from 0")
    message: str = Field(description="what is wrong with it")


class SubmissionReport(BaseModel):
    """What became of the items."""

    model_config = ConfigDict(from_attributes=True)

    search_id: UUID | None = Field(description="the search that the rows belong to now; empty when there is no row")
    created: int
    updated: int
    unchanged: int = Field(description="known already, also when they were written in another way")
    queued: int
    failed: int
    errors: list[ItemProblem]


def _told(report: Report) -> SubmissionReport:
    counts = {name: getattr(report, name) for name in SubmissionReport.model_fields if name != "errors"}
    wrong = [ItemProblem(index=error.line - 1, message=error.message) for error in report.errors]
    return SubmissionReport(**counts, errors=wrong)


def _submission_of(noun: str) -> type[Submission]:
    """The body of one noun: the same for all, with its own fields in the description."""
    fields = "; ".join(f"`{name}`: {column.meaning}" for name, column in COLUMNS[noun].items())
    items = Field(min_length=1, max_length=MAX_ITEMS, description=fields)
    return create_model(f"Submit{noun.capitalize()}", __base__=Submission, items=(list[dict[str, Any]], items))


def _route_of(noun: str) -> Callable[..., Awaitable[SubmissionReport]]:
    body = _submission_of(noun)

    async def submit(asked: body, application: CurrentApplication, actor: CurrentActor) -> SubmissionReport:  # type: ignore[valid-type]
        """An item that cannot be used costs no other; known rows are refreshed, curation kept. Twice is like once."""
        given: Submission = asked
        import_request = ImportRequest(noun, given.name, auto_queue=given.queue, is_table=False)
        return _told(await imports.run(application.database, actor, import_request, read_objects(given.items)))

    return submit


for _noun in NOUNS:
    router.add_api_route(
        f"/{_noun}/submit",
        _route_of(_noun),
        methods=["POST"],
        name=f"submit_{_noun}",
        summary=f"Submit {_noun}",
        tags=[_noun],
        openapi_extra=requires(OPERATOR),
        responses=problems(400),
    )
