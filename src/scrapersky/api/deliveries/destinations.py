"""Destinations: where contacts are delivered to. Their secrets go in and never come out."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field, StringConstraints

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import ADMIN, OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import RequestModel, Text
from scrapersky.api.schemas.listing import PREFIX, ByUpdate, Flag, Listing, ListQuery, RowId, Summary, list_page
from scrapersky.core.errors import ScraperSkyError
from scrapersky.destinations.errors import NotDelivered
from scrapersky.destinations.kind import MAX_SECRET_LENGTH
from scrapersky.destinations.registry import KindName, describe_options
from scrapersky.models import Destination
from scrapersky.store.deliveries import destinations
from scrapersky.store.deliveries.destinations import DestinationDraft
from scrapersky.store.deliveries.rules import DeliveryRule
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import DESTINATIONS

router = APIRouter(prefix="/destinations", tags=["deliveries"], responses=problems(422, 503))

Url = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^https?://[!-~]{1,2000}$", max_length=2048)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SECRET_LENGTH)]
OPTIONS = describe_options()


class DestinationQuery(ListQuery):
    """Which destinations, in which order."""

    sort: ByUpdate = "-updated_at"
    kind: KindName | None = Field(None, description="only of this kind")
    enabled: Flag | None = Field(None, description="only those that are delivered to, or only the others")


class DestinationSummary(Summary):
    """A destination as people may see it."""

    name: str
    kind: KindName
    url: str | None
    options: dict[str, Any] = Field(description=OPTIONS)
    rule: dict[str, Any] = Field(description="which verified contacts go there by themselves; empty: none")
    disabled_at: datetime | None = Field(description="nothing is delivered since then")
    disabled_reason: str | None = Field(description="the reason, and the cure")
    failing_since: datetime | None = Field(description="every delivery since then has failed")
    cooldown_until: datetime | None = Field(description="nobody asks it before")


class DestinationDetail(DestinationSummary):
    """With what is known of its secrets: whether they are there."""

    secret: str | None = Field(description="`set`, or empty; what it is, is shown to nobody")
    previous_secret: str | None = Field(description="`set` while a web hook is signed with two")


class CreatedDestination(DestinationDetail):
    """With the secret that was made for it, shown this once."""

    signing_secret: str | None = Field(description="the receiver checks signatures with it; it is not shown again")


class NewDestination(RequestModel):
    """A web hook or an account somewhere."""

    name: Text
    kind: KindName
    url: Url | None = Field(None, description="of the web hook; of a CRM only where it is not its own")
    secret: Secret | None = Field(
        None, description="token, key or value of the header; `whsec_…` for a web hook, made where it is left out"
    )
    options: dict[str, Any] = Field(default_factory=dict, description=OPTIONS)
    rule: DeliveryRule | None = Field(None, description="which verified contacts go there by themselves")


class DestinationChange(RequestModel):
    """What to write anew; what is not given stays."""

    name: Text | None = None
    url: Url | None = Field(
        None, description="on another server only with the `secret`: a key stays where it was entered"
    )
    secret: Secret | None = None
    options: dict[str, Any] | None = Field(None, description=OPTIONS)
    rule: DeliveryRule | None = None
    enabled: bool | None = Field(
        None, strict=True, description="true also queues the deliveries that were skipped meanwhile"
    )


class NewSecret(RequestModel):
    """A new secret; for a web hook one is made where none is given."""

    secret: Secret | None = None


class DestinationTestResult(BaseModel):
    """What came back, in our words."""

    ok: bool
    said: str


class NotReachable(ScraperSkyError):
    """Nothing can be delivered to this address."""

    status_code = 422


@router.get("", summary="Destinations, the latest first", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_destinations(
    query: Annotated[DestinationQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> Listing[DestinationSummary]:
    """Your own."""
    return await list_page(application, actor, DESTINATIONS, DestinationSummary, query)


@router.post(
    "", status_code=201, summary="Add a destination", responses=problems(400, 409), openapi_extra=requires(ADMIN)
)
async def create_destination(
    body: NewDestination, application: CurrentApplication, actor: CurrentActor, response: Response
) -> CreatedDestination:
    """Its address must be public. A web hook without a secret gets one: `signing_secret` is shown this once."""
    await _check_address(application, body.url)
    rule = body.rule.model_dump(mode="json") if body.rule else {}
    draft = DestinationDraft(body.name, body.kind, body.url, body.secret, body.options, rule)
    async with application.database.session(actor.tenant_id) as session:
        made, secret = await destinations.create(session, actor, application.vault, draft)
    response.headers["Location"] = f"{PREFIX}/destinations/{made.id}"
    return CreatedDestination(**_shown(made), signing_secret=secret)


@router.get("/{id}", summary="One destination", responses=problems(404), openapi_extra=requires(VIEWER))
async def get_destination(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DestinationDetail:
    """Its secrets are `set` or not."""
    async with application.database.session(actor.tenant_id) as session:
        return _detail(await lists.get(session, DESTINATIONS, actor.tenant_id, row_id))


@router.patch("/{id}", summary="Change a destination", responses=problems(400, 404, 409), openapi_extra=requires(ADMIN))
async def change_destination(
    row_id: RowId, body: DestinationChange, application: CurrentApplication, actor: CurrentActor
) -> DestinationDetail:
    """Another server is another receiver: a key is entered anew with it, the secret of a web hook should be rotated."""
    await _check_address(application, body.url)
    changes = body.model_dump(mode="json", exclude_none=True)
    async with application.database.session(actor.tenant_id) as session:
        return _detail(await destinations.change(session, actor, application.vault, row_id, changes))


@router.delete(
    "/{id}", status_code=204, summary="Remove a destination", responses=problems(404), openapi_extra=requires(ADMIN)
)
async def remove_destination(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> Response:
    """With all that is known of its deliveries; what it has been told, it keeps."""
    async with application.database.session(actor.tenant_id) as session:
        await destinations.remove(session, actor, row_id)
    return Response(status_code=204)


@router.post("/{id}/test", summary="Test a destination", responses=problems(404), openapi_extra=requires(OPERATOR))
async def test_destination(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor
) -> DestinationTestResult:
    """A web hook or n8n gets a `destination.test` event, a CRM is asked whether it knows the key."""
    try:
        async with application.database.session(actor.tenant_id) as session:
            destination = await lists.get(session, DESTINATIONS, actor.tenant_id, row_id)
        return DestinationTestResult(
            ok=True, said=await application.adapters.test(destinations.endpoint_of(destination, application.vault))
        )
    except NotDelivered as error:
        return DestinationTestResult(ok=False, said=str(error))


@router.post(
    "/{id}/rotate", summary="Give it a new secret", responses=problems(400, 404), openapi_extra=requires(ADMIN)
)
async def rotate_destination(
    row_id: RowId, body: NewSecret, application: CurrentApplication, actor: CurrentActor
) -> CreatedDestination:
    """A web hook is signed with both secrets until the former one is retired."""
    async with application.database.session(actor.tenant_id) as session:
        changed, secret = await destinations.rotate(session, actor, application.vault, row_id, body.secret)
    return CreatedDestination(**_shown(changed), signing_secret=secret)


@router.post(
    "/{id}/retire", summary="Retire the former secret", responses=problems(404, 409), openapi_extra=requires(ADMIN)
)
async def retire_destination_secret(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor
) -> DestinationDetail:
    """The receiver has changed over: only the new secret signs. 409 if there is no former one."""
    async with application.database.session(actor.tenant_id) as session:
        return _detail(await destinations.retire(session, actor, row_id))


async def _check_address(application: WebApplication, url: str | None) -> None:
    """One sentence for all that may be wrong: nobody shall learn from it what is behind an address."""
    if url is not None and not await application.adapters.may_reach(url):
        raise NotReachable("Use the http(s) address of a host on the public internet, without a user name.")


def _detail(destination: Destination) -> DestinationDetail:
    return DestinationDetail(**_shown(destination))


def _shown(destination: Destination) -> dict[str, Any]:
    line = DestinationSummary.model_validate(destination).model_dump()
    seals = {"secret": destination.secret, "previous_secret": destination.previous_secret}
    return line | {name: "set" if sealed else None for name, sealed in seals.items()}
