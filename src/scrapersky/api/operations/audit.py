"""The audit log: who changed what, when and from where; as a list or as a file."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.downloads import FileFormat, stream_file
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import MAX_VALUES, Count, RequestModel, ResponseModel, ResultPage, Timestamp
from scrapersky.api.schemas.files import file_responses
from scrapersky.core.text_rules import Text
from scrapersky.store.audit import log as audit_log
from scrapersky.store.audit.log import AuditSelection
from scrapersky.store.listing import export as exports
from scrapersky.store.listing.columns import ROW_ID, ColumnMeaning

router = APIRouter(prefix="/audit", tags=["audit"], route_class=ListRoute)


def _as_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


class AuditFilter(RequestModel):
    """Filters of the audit log; without any, all changes of your tenant."""

    actor: Text | None = Field(None, description="only by the actor of this name", examples=["ada"])
    action: Annotated[list[Text] | None, BeforeValidator(_as_list)] = Field(
        None,
        max_length=MAX_VALUES,
        description="only this action: `create`, `change`, `curate`, `export`, `pause` …; several values match any",
        examples=[["curate"]],
    )
    subject: Text | None = Field(
        None, description="only of this subject: `contact 0190…`, `places`, `deep_scan`", examples=["places"]
    )
    origin: Literal["api", "cli", "console"] | None = Field(None, description="only of this origin")
    since: Timestamp | None = Field(None, alias="from", description="only at or after this timestamp")
    until: Timestamp | None = Field(None, description="only before this timestamp")

    def for_store(self) -> AuditSelection:
        """Return the filters as the store expects them."""
        return AuditSelection(
            self.actor, sorted(set(self.action or ())), self.subject, self.origin, self.since, self.until
        )


class AuditQuery(AuditFilter):
    """The query of the audit log."""

    cursor: str | None = Field(
        None,
        min_length=1,
        max_length=500,
        description="`next_cursor` of the previous page; opaque",
        examples=["Yq0cE3vR7b5sSYspob7oDQ"],
    )
    limit: int = Field(50, ge=1, le=200, description="the maximum of items")


class AuditSummary(ResponseModel):
    """One change by one actor."""

    id: Count = Field(description="the number of the entry", examples=[4711])
    at: datetime = Field(description="when the change was committed")
    actor: str = Field(description="the name of the actor at that time", examples=["ada"])
    actor_id: UUID | None = Field(description="the user; empty for the command line")
    origin: str = Field(description="the interface and the address: `api 192.0.2.7`, `cli`", examples=["api 192.0.2.7"])
    request_id: str | None = Field(
        description="the request id, as in the log", examples=["1288517123c146ddacdc3f1a0a10d29c"]
    )
    action: str = Field(description="what was done: `create`, `change`, `curate`, `export` …", examples=["change"])
    subject: str = Field(
        description="what it was done to: a resource and its id, or a resource for many rows",
        examples=[f"contact {ROW_ID}"],
    )
    before: dict[str, Any] | None = Field(description="the changed values before", examples=[{"title": "Dentist"}])
    after: dict[str, Any] | None = Field(description="the changed values after", examples=[{"title": "Head dentist"}])


FILE_COLUMNS = {
    name: ColumnMeaning(field.description or "", (field.examples or [None])[0])
    for name, field in AuditSummary.model_fields.items()
}


@router.get("", summary="Changes, the latest first", **requires(ADMIN, 400))
async def list_audit(
    query: Annotated[AuditQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> ResultPage[AuditSummary]:
    """List the changes of your tenant, which are kept as long as `scrapersky retention` shows."""
    list_name = cursors.list_name("audit", vars(query.for_store()))
    seen = (
        application.cursors.decode(query.cursor, list_name, cursors.timestamp, cursors.integer)
        if query.cursor
        else None
    )
    async with application.database.session(actor.tenant_id) as session:
        found = await audit_log.page(
            session,
            actor.tenant_id,
            query.for_store(),
            before=(seen[0], seen[1]) if seen else None,
            limit=query.limit + 1,
        )
    return application.cursors.page_of(
        found, query.limit, list_name, lambda line: [line.at.isoformat(), line.id], AuditSummary.model_validate
    )


@router.get(
    "/export.{ending}",
    summary="A file of changes",
    response_class=StreamingResponse,
    **requires(ADMIN, responses=file_responses({"the audit log": FILE_COLUMNS}, "csv", "jsonl")),
)
async def export_audit(
    query: Annotated[AuditFilter, Query()], application: CurrentApplication, actor: CurrentActor, ending: FileFormat
) -> StreamingResponse:
    """Stream all changes that match, the oldest first. No cell of a CSV file can run as a formula."""
    filters = query.model_dump(mode="json", exclude_none=True)
    async with application.database.session(actor.tenant_id) as session:
        await exports.note(session, actor, "audit", filters, ending)
    rows = application.downloads.rows(
        actor.tenant_id, lambda session: audit_log.rows(session, actor.tenant_id, query.for_store())
    )
    return await stream_file("audit", ending, audit_log.COLUMNS, _as_json(rows, is_flat=ending == "csv"))


async def _as_json(rows: AsyncGenerator[dict[str, Any]], is_flat: bool) -> AsyncGenerator[dict[str, Any]]:
    async with aclosing(rows):
        async for row in rows:
            yield {name: _shown(value, is_flat) for name, value in row.items()}


def _shown(value: Any, is_flat: bool) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if is_flat and isinstance(value, dict) else value
