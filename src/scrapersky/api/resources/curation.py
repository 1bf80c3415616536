"""Curation in bulk: by ids or by filter, with a preview, once per Idempotency-Key, as a job above 10,000 rows."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Header
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, Field, create_model
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import JSONResponse

from scrapersky.actions import curation, jobs
from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.problems import problems
from scrapersky.api.resources.models import set_filters
from scrapersky.api.schemas.fields import MAX_IDS, PREFIX, Count, Ids, RequestModel
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.api.schemas.selection import MatchingRows, selection
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Curation
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate, shown
from scrapersky.store.listing.columns import ROW_ID
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource
from scrapersky.store.operations import idempotency
from scrapersky.store.operations.idempotency import StoredResponse

MAX_ROWS = paginate.COUNT_CAP  # rows changed in one request; more are changed by a job


class CurateIds(RequestModel):
    """Set the curation status of some rows."""

    ids: Ids = Field(description="the rows to decide about")
    curation_status: Curation = Field(description="the decision")
    seen: dict[UUID, Curation] = Field(
        {},
        max_length=MAX_IDS,
        description="the decision of each row as you saw it: 409 with both if somebody has decided otherwise since",
        examples=[{ROW_ID: "New"}],
    )
    preview: Literal[False] = Field(False, description="a preview needs a filter")


class CurateMatching(MatchingRows):
    """Set the curation status of all rows that match; `{}` matches all rows of your tenant."""

    filter: RequestModel = Field(description="which rows to decide about")
    curation_status: Curation = Field(description="the decision")


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern="^[A-Za-z0-9._:-]{1,200}$",
        examples=["monday-1"],
        description="a request repeated with the same key within a day gets the same response and has no effect",
    ),
]


class CurationResult(BaseModel):
    """What the request changed."""

    matched: Count = Field(description="the number of matching rows; a preview counts up to 1,000,000", examples=[12])
    more: bool = Field(
        description="more than 10,000 rows match: without `preview` a job changes them", examples=[False]
    )
    updated: Count = Field(description="rows whose curation status changed")
    queued: Count = Field(description="rows whose next step was queued; in a preview those that would be")
    withdrawn: Count = Field(description="rows whose queued work was withdrawn; in a preview those whose would be")
    unknown: Count = Field(description="ids that are no rows of your tenant")
    as_of: datetime | None = Field(
        description="when a preview counted the rows: send it with `expected`", examples=["2026-11-15T14:03:20Z"]
    )
    action_id: UUID | None = Field(
        description="`POST /undo/{id}` with this id undoes the change within a day; empty if no row changed",
    )


CURATION_RESPONSES: dict[int | str, dict[str, Any]] = {
    **problems(400, 409),
    202: {
        "model": JobSummary,
        "description": "More than 10,000 rows match: a job changes them. Location is the path of the job.",
    },
}


def curation_body(name: str, filters: type[RequestModel]) -> Any:
    """Build the type of the request body for a resource: its ids or its filter."""
    fields: dict[str, Any] = {"filter": (filters, CurateMatching.model_fields["filter"])}
    return selection(
        CurateIds,
        create_model(f"Curate{name.capitalize()}", __base__=CurateMatching, __doc__=CurateMatching.__doc__, **fields),
    )


async def curate(
    application: WebApplication, actor: Actor, resource: Resource, body: CurateIds | CurateMatching, key: str | None
) -> JSONResponse:
    """Set the curation status in one transaction; with a key, once."""

    async def change(session: AsyncSession) -> StoredResponse:
        return await _curate(session, actor, resource, body)

    return await respond_once(application, actor, key, [resource.name, body], change)


async def respond_once(
    application: WebApplication,
    actor: Actor,
    key: str | None,
    request: list[Any],
    do: Callable[[AsyncSession], Awaitable[StoredResponse]],
) -> JSONResponse:
    """Call `do` in one transaction; with a key, only once: a repeated request gets the stored response."""
    async with application.database.session(actor.tenant_id) as session:
        if key is None:
            return _response(await do(session))
        known = await idempotency.recall(session, actor.tenant_id, key, _hash(request))
        if known is None:
            known = await do(session)
            await idempotency.remember(session, actor.tenant_id, key, known)
    return _response(known)


def job_started(job: Any) -> StoredResponse:
    """Return the response of a request that became a job."""
    return StoredResponse(202, jsonable_encoder(JobSummary.model_validate(job)))


def job_response(job: Any) -> JSONResponse:
    """Return the response of a request without a key that became a job."""
    return _response(job_started(job))


async def _curate(
    session: AsyncSession, actor: Actor, resource: Resource, body: CurateIds | CurateMatching
) -> StoredResponse:
    if isinstance(body, CurateIds):
        return await _change(session, actor, resource, body.ids, body.curation_status, seen=body.seen)
    filters = set_filters(body.filter, resource)
    if body.preview:
        would = await shown.effects(session, resource, actor.tenant_id, filters, body.shown)
        now = await session.scalar(select(func.now()))
        is_selected = body.curation_status is Curation.SELECTED
        effect = {"queued": sum(would.queued.values())} if is_selected else {"withdrawn": would.withdrawn}
        return _result(matched=would.matched, more=would.matched > MAX_ROWS, as_of=now, **effect)
    ids = await shown.ids(session, resource, actor.tenant_id, filters, body.shown, MAX_ROWS)
    if ids is not None:
        return await _change(session, actor, resource, ids, body.curation_status, filters)
    return job_started(await jobs.start_curation(session, resource, actor, filters, body.shown, body.curation_status))


async def _change(
    session: AsyncSession,
    actor: Actor,
    resource: Resource,
    ids: list[UUID],
    decision: Curation,
    filters: Filters | None = None,
    seen: Mapping[UUID, Curation] | None = None,
) -> StoredResponse:
    action_id = new_id()
    done = await curation.curate(
        session, resource, actor, ids, decision, filters=filters, action_id=action_id, seen=seen
    )
    counts = {"updated": done.updated, "queued": done.queued, "withdrawn": done.withdrawn}
    is_undoable = any(counts.values())
    return _result(
        matched=done.found,
        **counts,
        unknown=len(set(ids)) - done.found,
        action_id=action_id if is_undoable else None,
    )


def _result(**counts: Any) -> StoredResponse:
    nothing = {"more": False, "updated": 0, "queued": 0, "withdrawn": 0, "unknown": 0, "as_of": None, "action_id": None}
    result = CurationResult(**{**nothing, **counts})
    return StoredResponse(200, result.model_dump(mode="json"))


def _response(answered: StoredResponse) -> JSONResponse:
    headers = {"Location": f"{PREFIX}/jobs/{answered.body['id']}"} if answered.status_code == 202 else None
    return JSONResponse(answered.body, answered.status_code, headers)


def _hash(request: list[Any]) -> str:
    plain = [
        part.model_dump(mode="json", exclude_unset=True) if isinstance(part, RequestModel) else part for part in request
    ]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
