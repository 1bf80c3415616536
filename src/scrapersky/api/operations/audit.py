"""The audit: who changed what, when and from where; page by page, or as a file."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, requires
from scrapersky.api.http.file_stream import FILE_RESPONSE, FileFormat, stream_file
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import RequestModel, ResultPage, Text, Timestamp
from scrapersky.store.audit import log as audit_log
from scrapersky.store.audit.log import Filter
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import export as exports

router = APIRouter(prefix="/audit", tags=["audit"], responses=problems(422, 503))


class AuditFilter(RequestModel):
    """Which changes are meant; nothing set means all of your tenant's."""

    actor: Text | None = Field(None, description="only by this name")
    action: Text | None = Field(None, description="only this: `create`, `change`, `curate`, `export`, `pause` …")
    subject: Text | None = Field(None, description="only about this: `contact 0190…`, `places`, `deep_scan`")
    origin: Literal["api", "cli", "console"] | None = Field(None, description="only from there")
    since: Timestamp | None = Field(None, alias="from", description="only at or after this moment")
    until: Timestamp | None = Field(None, description="only before this moment")

    def wanted(self) -> Filter:
        """The same as the store understands it."""
        return Filter(self.actor, self.action, self.subject, self.origin, self.since, self.until)


class AuditQuery(AuditFilter):
    """Which changes, and where to go on."""

    cursor: str | None = Field(
        None, min_length=1, max_length=500, description="`next_cursor` of the page before; opaque"
    )
    limit: int = Field(50, ge=1, le=200, description="how many at most")


class AuditSummary(BaseModel):
    """One change by one actor."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    at: datetime
    actor: str = Field(description="who did it, by the name of that time")
    actor_id: UUID | None = Field(description="the user; empty at the command line")
    origin: str = Field(description="which way and from where: `api 192.0.2.7`, `cli`")
    request_id: str | None = Field(description="the request, as it stands in the log")
    action: str
    subject: str
    before: dict[str, Any] | None = Field(description="what it was, as far as it changed")
    after: dict[str, Any] | None = Field(description="what it is since, as far as it changed")


@router.get("", summary="Changes, the latest first", responses=problems(400), openapi_extra=requires(ADMIN))
async def list_audit(
    query: Annotated[AuditQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> ResultPage[AuditSummary]:
    """All that people and programs of your tenant have changed. Kept for SCRAPERSKY_AUDIT_RETENTION_DAYS."""
    here = cursors.list_name("audit", vars(query.wanted()))
    seen = cursors.decode(query.cursor, here, cursors.timestamp, cursors.integer) if query.cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await audit_log.page(
            session,
            actor.tenant_id,
            query.wanted(),
            before=(seen[0], seen[1]) if seen else None,
            limit=query.limit + 1,
        )
    left_off = found[query.limit - 1] if len(found) > query.limit else None
    return ResultPage(
        items=[AuditSummary.model_validate(line) for line in found[: query.limit]],
        next_cursor=cursors.encode(here, [left_off.at.isoformat(), left_off.id]) if left_off else None,
    )


@router.get(
    "/export.{ending}",
    summary="A file of changes",
    response_class=StreamingResponse,
    responses=FILE_RESPONSE,
    openapi_extra=requires(ADMIN),
)
async def export_audit(
    query: Annotated[AuditFilter, Query()], application: CurrentApplication, actor: CurrentActor, ending: FileFormat
) -> StreamingResponse:
    """Every change that matches, the oldest first, streamed. In CSV no cell can run as a formula."""
    body = query.model_dump(mode="json", exclude_none=True)
    async with application.database.session(actor.tenant_id) as session:
        await exports.note(session, actor, "audit", body, ending)
    return await stream_file(
        "audit", ending, audit_log.COLUMNS, _rows(application, actor, query.wanted(), ending == "csv")
    )


async def _rows(
    application: WebApplication, actor: Actor, wanted: Filter, is_flat: bool
) -> AsyncGenerator[dict[str, Any]]:
    async with (
        application.downloads.session(actor.tenant_id) as session,
        aclosing(audit_log.rows(session, actor.tenant_id, wanted)) as rows,
    ):
        async for row in rows:
            yield {name: _shown(value, is_flat) for name, value in row.items()}


def _shown(value: Any, is_flat: bool) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if is_flat and isinstance(value, dict) else value
