"""Deliveries: contacts on their way to a destination. Send them, watch them, take waiting ones back."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.encoders import jsonable_encoder
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import JSONResponse

from scrapersky.actions import curation, jobs
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.line.curation import CURATION_RESPONSES, MAX_ROWS, IdempotencyKey, respond_once
from scrapersky.api.operations.jobs import JobSummary
from scrapersky.api.schemas.fields import Ids, RequestModel
from scrapersky.api.schemas.listing import (
    ByUpdate,
    Listing,
    ListQuery,
    QueueState,
    RowId,
    Summary,
    list_page,
    queue_states,
    set_filters,
)
from scrapersky.api.schemas.selection import Selection
from scrapersky.core.vocabularies import Status
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.deliveries import DeliveryCounts
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS, DELIVERIES, DESTINATIONS
from scrapersky.store.operations.idempotency import Answered

router = APIRouter(prefix="/deliveries", tags=["deliveries"], responses=problems(422, 503))


class DeliveryFilter(RequestModel):
    """Which deliveries are meant; nothing set means all of yours."""

    destination_id: UUID | None = Field(None, description="only to this destination")
    contact_id: UUID | None = Field(None, description="only of this contact")
    delivery_status: Status | None = Field(None, description="only in this state of the queue")


class DeliveryQuery(DeliveryFilter, ListQuery):
    """Which deliveries, in which order."""

    sort: ByUpdate = "-updated_at"


class DeliverySummary(Summary):
    """One contact for one destination."""

    destination_id: UUID
    contact_id: UUID
    external_id: str | None = Field(description="what the destination calls the contact")
    delivered_at: datetime | None = Field(description="when it last took it")
    delivery_status: Status
    delivery_error: str | None = Field(description="why it was tried again, skipped or given up")
    delivery_attempts: int
    delivery_due_at: datetime | None = Field(description="Queued: not before. Processing: when its lease ends")


class DeliveryDetail(DeliverySummary):
    """With its queue, as every row has it."""

    fingerprint: str | None = Field(description="of what was last accepted: the same is not sent again")
    queues: dict[str, QueueState]


class SendIds(RequestModel):
    """Some contacts for a destination."""

    destination_id: UUID
    ids: Ids
    preview: Literal[False] = False


class SendMatching(RequestModel):
    """All contacts that match, for a destination; `{}` is all of yours."""

    destination_id: UUID
    filter: ContactFilter
    preview: bool = Field(False, strict=True, description="only count them")


SendRequest = Selection[SendIds, SendMatching]


class SendResult(BaseModel):
    """What became of the contacts."""

    matched: int = Field(description="how many were meant; counted up to 10,000")
    more: bool = Field(description="more than that were meant: without `preview` this runs as a job")
    queued: int = Field(description="will be delivered; what has not changed since the last time is skipped then")
    already: int = Field(description="on their way there")
    suppressed: int = Field(description="never to be written to: they are not delivered")
    without_email: int
    unknown: int = Field(description="ids that are no contacts of yours")


class CancelIds(RequestModel):
    """Some deliveries."""

    ids: Ids


class CancelMatching(RequestModel):
    """All waiting deliveries that match."""

    filter: DeliveryFilter
    preview: bool = Field(False, strict=True, description="only count them")


CancelRequest = Selection[CancelIds, CancelMatching]


class DeliveriesCancelled(BaseModel):
    """How many waiting deliveries were taken back, or would be."""

    taken_back: int


@router.get("", summary="Deliveries, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_deliveries(
    query: Annotated[DeliveryQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[DeliverySummary]:
    """Your own, filtered by destination, contact and state. Retry them by the routes of the workflow `delivery`."""
    return await list_page(application, actor, DELIVERIES, DeliverySummary, query)


@router.post(
    "",
    summary="Deliver contacts",
    response_model=SendResult,
    responses={**CURATION_RESPONSES, **problems(404)},
    openapi_extra=requires(OPERATOR),
)
async def create_deliveries(
    body: SendRequest, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Queues them in one transaction; what failed or was skipped before gets new tries."""

    async def send(session: AsyncSession) -> Answered:
        return await _send(session, actor, body)

    return await respond_once(application, actor, key, ["deliveries", body], send)


@router.post(
    "/cancel", summary="Take waiting deliveries back", responses=problems(400), openapi_extra=requires(OPERATOR)
)
async def cancel_deliveries(
    body: CancelRequest, application: CurrentApplication, actor: CurrentActor
) -> DeliveriesCancelled:
    """What waits is New again; what is in hand is finished, what has arrived stays there."""
    async with application.database.session(actor.tenant_id) as session:
        if isinstance(body, CancelIds):
            return DeliveriesCancelled(taken_back=await deliveries.cancel(session, actor, body.ids))
        filters = set_filters(body.filter, DELIVERIES)
        if body.preview:
            return DeliveriesCancelled(taken_back=await deliveries.count_waiting(session, actor, filters))
        return DeliveriesCancelled(taken_back=await deliveries.cancel(session, actor, filters))


@router.get("/{id}", summary="One delivery", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_delivery(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DeliveryDetail:
    """With its tries and its reason."""
    async with application.database.session(actor.tenant_id) as session:
        row = await lists.get(session, DELIVERIES, actor.tenant_id, row_id)
    columns = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    return DeliveryDetail.model_validate({**columns, "queues": queue_states(DELIVERIES, row)})


async def _send(session: AsyncSession, actor: Actor, body: SendIds | SendMatching) -> Answered:
    await lists.get(session, DESTINATIONS, actor.tenant_id, body.destination_id)
    if isinstance(body, SendIds):
        sent = await deliveries.send(session, actor, body.destination_id, body.ids)
        return _answered(sent, unknown=len(set(body.ids)) - sent.found)
    filters = set_filters(body.filter, CONTACTS)
    if body.preview:
        counted = await lists.count(session, CONTACTS, actor.tenant_id, filters, MAX_ROWS, standing=True)
        return _answered(DeliveryCounts(counted.total), more=counted.more)
    ids = await curation.ids_of(session, CONTACTS, actor.tenant_id, filters, MAX_ROWS + 1)
    if len(ids) <= MAX_ROWS:
        return _answered(await deliveries.send(session, actor, body.destination_id, ids))
    job = await jobs.start_delivery(session, actor, filters, body.destination_id)
    return Answered(202, jsonable_encoder(JobSummary.model_validate(job)))


def _answered(sent: DeliveryCounts, *, more: bool = False, unknown: int = 0) -> Answered:
    told: dict[str, Any] = {**vars(sent), "matched": sent.found, "more": more, "unknown": unknown}
    return Answered(200, SendResult.model_validate(told).model_dump())
