"""Deliveries of contacts to destinations: request them, follow them, cancel queued ones."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import JSONResponse

from scrapersky.actions import jobs
from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import OPERATOR, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.line.contacts import ContactFilter
from scrapersky.api.resources.curation import CURATION_RESPONSES, MAX_ROWS, IdempotencyKey, job_started, respond_once
from scrapersky.api.resources.models import set_filters
from scrapersky.api.resources.routes import ApiResource, add_get_route, add_list_route, empty_router
from scrapersky.api.schemas.fields import Count, Ids, RequestModel
from scrapersky.api.schemas.listing import QueueStates, Summary
from scrapersky.api.schemas.selection import MatchingRows, Selection
from scrapersky.core.vocabularies import Status
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import deliveries
from scrapersky.store.deliveries.deliveries import DeliveryCounts
from scrapersky.store.listing import paginate, references, shown
from scrapersky.store.listing.resources import CONTACTS, DELIVERIES, DESTINATIONS
from scrapersky.store.operations.idempotency import StoredResponse


class DeliverySummary(Summary):
    """A contact, or the end of a run of a search, for a destination."""

    destination_id: UUID = Field(description="where the contact is delivered to")
    contact_id: UUID | None = Field(description="the contact that is delivered")
    run_id: UUID | None = Field(description="the run of a search whose end is delivered, instead of a contact")
    destination: str | None = Field(None, description="the name of the destination", examples=["sales CRM"])
    contact: str | None = Field(
        None, description="the name of the contact, else its address or number", examples=["Anna Virtanen"]
    )
    external_id: str | None = Field(description="the id of the contact at the destination", examples=["10351"])
    delivered_at: datetime | None = Field(description="when the destination last accepted the contact")
    delivery_status: Status = Field(description="the status in the queue of deliveries")
    delivery_error: str | None = Field(
        description="why the delivery was retried, skipped or given up", examples=["HTTP 503; retried"]
    )
    delivery_attempts: Count = Field(description="how often the delivery was ever claimed by a worker", examples=[1])
    delivery_due_at: datetime | None = Field(description="Queued: not claimed before. Processing: when the lease ends")


class DeliveryDetail(DeliverySummary):
    """All columns of a delivery."""

    fingerprint: str | None = Field(
        description="a hash of what was last accepted: the same is not sent again", examples=["9f86d081884c7d65"]
    )
    queues: QueueStates = Field(description="its state in the queue of deliveries, under the name of the queue")


API = ApiResource(
    DELIVERIES,
    "delivery",
    DeliverySummary,
    DeliveryDetail,
    list_description="The deliveries of your tenant. Retry them with the routes of the workflow `delivery`.",
    get_description="The delivery with its attempts and its last error.",
    complete=partial(references.names, resource=DELIVERIES),
)
if TYPE_CHECKING:
    DeliveryFilter = RequestModel
else:
    DeliveryFilter = API.filter


class SendIds(RequestModel):
    """Deliver some contacts."""

    destination_id: UUID = Field(description="where to deliver the contacts")
    ids: Ids = Field(description="the contacts to deliver")
    preview: Literal[False] = Field(False, description="a preview needs a filter")


class SendMatching(MatchingRows):
    """Deliver all contacts that match; `{}` matches all contacts of your tenant."""

    destination_id: UUID = Field(description="where to deliver the contacts")
    filter: ContactFilter = Field(description="which contacts to deliver")


SendRequest = Selection[SendIds, SendMatching]


class SendResult(BaseModel):
    """The result of requesting deliveries."""

    matched: Count = Field(
        description="the number of matching contacts; a preview counts up to 1,000,000", examples=[12]
    )
    more: bool = Field(
        description="more than 10,000 contacts match: without `preview` a job delivers them", examples=[False]
    )
    queued: Count = Field(description="contacts that will be delivered; unchanged ones are skipped later")
    already: Count = Field(description="contacts whose delivery was queued or processing already")
    suppressed: Count = Field(
        description="suppressed contacts, which are not delivered; a preview counts them among up to 10,000"
    )
    unreachable: Count = Field(
        description="contacts with neither an email address nor a phone number; a preview counts them likewise"
    )
    unknown: Count = Field(description="ids that are no contacts of your tenant")


class CancelIds(RequestModel):
    """Cancel some deliveries."""

    ids: Ids = Field(description="the deliveries to cancel")


class CancelMatching(MatchingRows):
    """Cancel all queued deliveries that match."""

    filter: DeliveryFilter = Field(description="which deliveries to cancel")


CancelRequest = Selection[CancelIds, CancelMatching]


class DeliveriesCancelled(BaseModel):
    """How many queued deliveries were cancelled, or would be."""

    withdrawn: Count = Field(description="queued deliveries that became New; in a preview those that would")


router = empty_router(API)
add_list_route(router, API)


@router.post(
    "",
    summary="Deliver contacts",
    response_model=SendResult,
    **requires(OPERATOR, responses={**CURATION_RESPONSES, **problems(404)}),
)
async def create_deliveries(
    body: SendRequest, application: CurrentApplication, actor: CurrentActor, key: IdempotencyKey = None
) -> JSONResponse:
    """Queue deliveries in one transaction; deliveries that failed or were skipped get new attempts."""

    async def send(session: AsyncSession) -> StoredResponse:
        return await _send(session, actor, body)

    return await respond_once(application, actor, key, ["deliveries", body], send)


@router.post("/cancel", summary="Cancel queued deliveries", **requires(OPERATOR, 400, 409))
async def cancel_deliveries(
    body: CancelRequest, application: CurrentApplication, actor: CurrentActor
) -> DeliveriesCancelled:
    """Set queued deliveries to New. Deliveries that are processing are finished; delivered contacts stay delivered."""
    async with application.database.session(actor.tenant_id) as session:
        if isinstance(body, CancelIds):
            return DeliveriesCancelled(withdrawn=await deliveries.cancel(session, actor, body.ids))
        filters = set_filters(body.filter, DELIVERIES)
        do = deliveries.count_waiting if body.preview else deliveries.cancel
        return DeliveriesCancelled(withdrawn=await do(session, actor, filters, body.shown))


add_get_route(router, API)


async def _send(session: AsyncSession, actor: Actor, body: SendIds | SendMatching) -> StoredResponse:
    await paginate.get(session, DESTINATIONS, actor.tenant_id, body.destination_id)
    if isinstance(body, SendIds):
        sent = await deliveries.send(session, actor, body.destination_id, body.ids)
        return _result(sent, unknown=len(set(body.ids)) - sent.found)
    filters = set_filters(body.filter, CONTACTS)
    if body.preview:
        as_shown = replace(body.shown, expected=None)
        found = await shown.ids(session, CONTACTS, actor.tenant_id, filters, as_shown, MAX_ROWS)
        if found is not None:
            return _result(await deliveries.preview(session, actor, found))
        counted = await shown.count(session, CONTACTS, actor.tenant_id, filters, as_shown)
        return _result(DeliveryCounts(counted.total), more=True)
    ids = await shown.ids(session, CONTACTS, actor.tenant_id, filters, body.shown, MAX_ROWS)
    if ids is not None:
        return _result(await deliveries.send(session, actor, body.destination_id, ids))
    job = await jobs.start_delivery(session, actor, filters, body.shown, body.destination_id)
    return job_started(job)


def _result(sent: DeliveryCounts, *, more: bool = False, unknown: int = 0) -> StoredResponse:
    counts: dict[str, Any] = {**vars(sent), "matched": sent.found, "more": more, "unknown": unknown}
    return StoredResponse(200, SendResult.model_validate(counts).model_dump())
