"""Curation in bulk: by ids or by filter, with a preview, once per Idempotency-Key, as a job where it is much."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from fastapi import Header
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import JSONResponse

from scrapersky.actions import curation, jobs
from scrapersky.api.dependencies import WebApplication
from scrapersky.api.http.problems import problems
from scrapersky.api.operations.jobs import JobSummary
from scrapersky.api.schemas.fields import Ids, RequestModel
from scrapersky.api.schemas.listing import PREFIX, set_filters
from scrapersky.core.vocabularies import Curation
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.resources import Resource
from scrapersky.store.operations import idempotency
from scrapersky.store.operations.idempotency import Answered

MAX_ROWS = lists.COUNT_CAP  # rows changed in one request; more are a job

Matching = TypeVar("Matching", bound=RequestModel)


class CurateIds(RequestModel):
    """A decision about some rows."""

    ids: Ids
    curation_status: Curation
    preview: Literal[False] = False


class CurateMatching(RequestModel, Generic[Matching]):
    """A decision about all rows that match; `{}` is all of yours."""

    filter: Matching
    curation_status: Curation
    preview: bool = Field(False, strict=True, description="only count them")


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern="^[A-Za-z0-9._:-]{1,200}$",
        description="a request that comes again with the same key within a day gets the same answer and does nothing",
    ),
]


class CurationResult(BaseModel):
    """What became of the rows."""

    matched: int = Field(description="how many were meant; counted up to 10,000")
    more: bool = Field(description="more than that were meant: without `preview` this runs as a job")
    updated: int = Field(description="rows whose curation is another one now")
    queued: int = Field(description="rows whose next step was queued")
    taken_back: int = Field(description="rows whose waiting work was taken back")
    unknown: int = Field(description="ids that are no rows of yours")


CURATION_RESPONSES: dict[int | str, dict[str, Any]] = {
    **problems(400),
    202: {
        "model": JobSummary,
        "description": "More than 10,000 rows match: a job does it. Location is where to watch.",
    },
}


async def curate(
    application: WebApplication,
    actor: Actor,
    resource: Resource,
    body: CurateIds | CurateMatching[Any],
    key: str | None,
) -> JSONResponse:
    """Decide, in one transaction; with a key, once."""

    async def decide(session: AsyncSession) -> Answered:
        return await _decide(session, actor, resource, body)

    return await respond_once(application, actor, key, [resource.name, body], decide)


async def respond_once(
    application: WebApplication,
    actor: Actor,
    key: str | None,
    request: list[Any],
    do: Callable[[AsyncSession], Awaitable[Answered]],
) -> JSONResponse:
    """Do it in one transaction; with a key, once: whoever comes again with it gets the same answer."""
    async with application.database.session(actor.tenant_id) as session:
        if key is None:
            return _response(await do(session))
        known = await idempotency.recall(session, actor.tenant_id, key, _hash(request))
        if known is None:
            known = await do(session)
            await idempotency.remember(session, actor.tenant_id, key, known)
    return _response(known)


async def _decide(
    session: AsyncSession, actor: Actor, resource: Resource, body: CurateIds | CurateMatching[Any]
) -> Answered:
    if isinstance(body, CurateIds):
        return await _change(session, actor, resource, body.ids, body.curation_status)
    filters = set_filters(body.filter, resource)
    if body.preview:
        counted = await lists.count(session, resource, actor.tenant_id, filters, MAX_ROWS, standing=True)
        return _answered(
            CurationResult(matched=counted.total, more=counted.more, updated=0, queued=0, taken_back=0, unknown=0)
        )
    ids = await curation.ids_of(session, resource, actor.tenant_id, filters, MAX_ROWS + 1)
    if len(ids) <= MAX_ROWS:
        return await _change(session, actor, resource, ids, body.curation_status, filters)
    job = await jobs.start_curation(session, resource, actor, filters, body.curation_status)
    return Answered(202, jsonable_encoder(JobSummary.model_validate(job)))


async def _change(
    session: AsyncSession,
    actor: Actor,
    resource: Resource,
    ids: list[UUID],
    decision: Curation,
    filters: Filters | None = None,
) -> Answered:
    done = await curation.curate(session, resource, actor, ids, decision, filters=filters)
    return _answered(
        CurationResult(
            matched=done.found,
            more=False,
            updated=done.updated,
            queued=done.queued,
            taken_back=done.taken_back,
            unknown=len(set(ids)) - done.found,
        )
    )


def _answered(answer: CurationResult) -> Answered:
    return Answered(200, answer.model_dump())


def _response(answered: Answered) -> JSONResponse:
    headers = {"Location": f"{PREFIX}/jobs/{answered.answer['id']}"} if answered.status_code == 202 else None
    return JSONResponse(answered.answer, answered.status_code, headers)


def _hash(request: list[Any]) -> str:
    plain = [
        part.model_dump(mode="json", exclude_unset=True) if isinstance(part, RequestModel) else part for part in request
    ]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
