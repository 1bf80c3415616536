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
from scrapersky.api.http.authorization import OPERATOR, VIEWER, CurrentActor, may
from scrapersky.api.http.problems import answers
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.line.curation import AT_ONCE, CURATION_ANSWERS, Key, answered_once
from scrapersky.api.operations.jobs import JobSummary
from scrapersky.api.schemas.fields import Ids, RequestModel
from scrapersky.api.schemas.listing import (
    ByUpdate,
    Listing,
    ListQuery,
    QueueState,
    RowId,
    Summary,
    given,
    page_of,
    queues_of,
)
from scrapersky.api.schemas.selection import Either
from scrapersky.core.vocabularies import Status
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.deliveries import Sent
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import CONTACTS, DELIVERIES, DESTINATIONS
from scrapersky.store.operations.idempotency import Answered

router = APIRouter(prefix="/deliveries", tags=["deliveries"], responses=answers(422, 503))


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


Wish = Either[SendIds, SendMatching]


class SentAnswer(BaseModel):
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


Cancel = Either[CancelIds, CancelMatching]


class Cancelled(BaseModel):
    """How many waiting deliveries were taken back, or would be."""

    taken_back: int


@router.get("", summary="Deliveries, the latest first", responses=answers(400), openapi_extra=may(VIEWER))
async def list_deliveries(
    query: Annotated[DeliveryQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[DeliverySummary]:
    """Your own, filtered by destination, contact and state. Retry them by the routes of the workflow `delivery`."""
    return await page_of(application, actor, DELIVERIES, DeliverySummary, query)


@router.post(
    "",
    summary="Deliver contacts",
    response_model=SentAnswer,
    responses={**CURATION_ANSWERS, **answers(404)},
    openapi_extra=may(OPERATOR),
)
async def create_deliveries(
    asked: Wish, application: CurrentApplication, actor: CurrentActor, key: Key = None
) -> JSONResponse:
    """Queues them in one transaction; what failed or was skipped before gets new tries."""

    async def send(session: AsyncSession) -> Answered:
        return await _send(session, actor, asked)

    return await answered_once(application, actor, key, ["deliveries", asked], send)


@router.post("/cancel", summary="Take waiting deliveries back", responses=answers(400), openapi_extra=may(OPERATOR))
async def cancel_deliveries(asked: Cancel, application: CurrentApplication, actor: CurrentActor) -> Cancelled:
    """What waits is New again; what is in hand is finished, what has arrived stays there."""
    async with application.database.session(actor.tenant_id) as session:
        if isinstance(asked, CancelIds):
            return Cancelled(taken_back=await deliveries.cancel(session, actor, asked.ids))
        filters = given(asked.filter, DELIVERIES)
        if asked.preview:
            return Cancelled(taken_back=await deliveries.count_waiting(session, actor, filters))
        return Cancelled(taken_back=await deliveries.cancel(session, actor, filters))


@router.get("/{id}", summary="One delivery", responses=answers(404), openapi_extra=may(VIEWER))
async def get_delivery(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DeliveryDetail:
    """With its tries and its reason."""
    async with application.database.session(actor.tenant_id) as session:
        row = await lists.get(session, DELIVERIES, actor.tenant_id, row_id)
    columns = {name: value for name, value in vars(row).items() if not name.startswith("_")}
    return DeliveryDetail.model_validate({**columns, "queues": queues_of(DELIVERIES, row)})


async def _send(session: AsyncSession, actor: Actor, asked: SendIds | SendMatching) -> Answered:
    await lists.get(session, DESTINATIONS, actor.tenant_id, asked.destination_id)
    if isinstance(asked, SendIds):
        sent = await deliveries.send(session, actor, asked.destination_id, asked.ids)
        return _answered(sent, unknown=len(set(asked.ids)) - sent.found)
    filters = given(asked.filter, CONTACTS)
    if asked.preview:
        counted = await lists.count(session, CONTACTS, actor.tenant_id, filters, AT_ONCE, standing=True)
        return _answered(Sent(counted.total), more=counted.more)
    ids = await curation.ids_of(session, CONTACTS, actor.tenant_id, filters, AT_ONCE + 1)
    if len(ids) <= AT_ONCE:
        return _answered(await deliveries.send(session, actor, asked.destination_id, ids))
    job = await jobs.start_delivery(session, actor, filters, asked.destination_id)
    return Answered(202, jsonable_encoder(JobSummary.model_validate(job)))


def _answered(sent: Sent, *, more: bool = False, unknown: int = 0) -> Answered:
    told: dict[str, Any] = {**vars(sent), "matched": sent.found, "more": more, "unknown": unknown}
    return Answered(200, SentAnswer.model_validate(told).model_dump())
