"""Destinations of deliveries. Their secrets are written, never returned."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from fastapi import Response
from pydantic import BaseModel, Field, StringConstraints

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, OPERATOR, VIEWER, CurrentActor, requires
from scrapersky.api.resources.routes import ApiResource, add_list_route, empty_router
from scrapersky.api.schemas.fields import PREFIX, RequestModel, RowId, Timestamp
from scrapersky.api.schemas.listing import Summary
from scrapersky.core.text_rules import Text
from scrapersky.destinations.errors import NotDelivered
from scrapersky.destinations.kind import MAX_SECRET_LENGTH, DestinationKind
from scrapersky.destinations.registry import KINDS, KindName, describe_options
from scrapersky.models import Destination
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries import destinations
from scrapersky.store.deliveries.destinations import DestinationDraft
from scrapersky.store.deliveries.rules import DeliveryRule
from scrapersky.store.listing import paginate
from scrapersky.store.listing.resources import DESTINATIONS

Url = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^https?://[!-~]+$", max_length=2048)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SECRET_LENGTH)]
OPTIONS = describe_options()


class DestinationSummary(Summary):
    """A destination without its secrets."""

    name: str = Field(description="the name of the destination, unique in the tenant", examples=["sales CRM"])
    kind: KindName = Field(description="the kind of receiver")
    url: str | None = Field(
        description="for a viewer or curator only its host: the path of a web hook is a secret",
        examples=["https://hooks.example.com/leads"],
    )
    options: dict[str, Any] = Field(description=OPTIONS, examples=[{}])
    rule: dict[str, Any] = Field(
        description="which verified contacts are delivered automatically; empty: none",
        examples=[{"auto": True, "verdicts": ["deliverable"]}],
    )
    disabled_at: datetime | None = Field(description="since when nothing is delivered")
    disabled_reason: str | None = Field(
        description="why the destination was disabled, and how to correct it",
        examples=["HubSpot refuses the token: set a new one with POST …/rotate"],
    )
    failing_since: datetime | None = Field(description="since when every delivery has failed")
    cooldown_until: datetime | None = Field(description="the end of its cooldown")


class DestinationDetail(DestinationSummary):
    """A destination, and whether it has secrets."""

    secret: str | None = Field(description="`set`, or empty; the value is never returned", examples=["set"])
    previous_secret: str | None = Field(
        description="`set` while web hooks are signed with two secrets", examples=["set"]
    )


class CreatedDestination(DestinationDetail):
    """A destination with the secret that was generated for it."""

    signing_secret: str | None = Field(
        description="the secret with which the receiver verifies signatures; it is not returned again",
        examples=["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    )


class NewDestination(RequestModel):
    """A web hook, or an account at a CRM."""

    name: Text = Field(description="a name of your choice, unique in the tenant", examples=["sales CRM"])
    kind: KindName = Field(description="the kind of receiver")
    url: Url | None = Field(
        None,
        description="the URL of the web hook; for a CRM only if it is not the default",
        examples=["https://hooks.example.com/leads"],
    )
    secret: Secret | None = Field(
        None,
        description="the token, key or header value; `whsec_…` for a web hook, generated if left out",
        examples=["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    )
    options: dict[str, Any] = Field(default_factory=dict, description=OPTIONS, examples=[{}])
    rule: DeliveryRule | None = Field(None, description="which verified contacts are delivered automatically")


class DestinationChange(RequestModel):
    """The fields to change; fields that are not given stay."""

    name: Text | None = Field(None, description="the new name", examples=["sales CRM"])
    url: Url | None = Field(
        None,
        description="a URL on another server needs the `secret`: a secret is never sent to another server",
        examples=["https://hooks.example.com/leads"],
    )
    secret: Secret | None = Field(
        None,
        description="the new secret, without a time in which both are valid: `…/rotate` has one",
        examples=["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    )
    options: dict[str, Any] | None = Field(None, description=OPTIONS, examples=[{}])
    rule: DeliveryRule | None = Field(
        None, description="which verified contacts are delivered automatically; replaces the whole rule"
    )
    enabled: bool | None = Field(
        None, strict=True, description="true also queues the deliveries that were skipped while it was disabled"
    )
    updated_at: Timestamp | None = Field(None, description="as you read it: 409 if it was changed since")


class NewSecret(RequestModel):
    """A new secret; for a web hook it is generated if left out."""

    secret: Secret | None = Field(
        None, description="the new token, key or signing secret", examples=["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]
    )


class DestinationTestResult(BaseModel):
    """The result of a test."""

    ok: bool = Field(description="whether the receiver accepted the test")
    said: str = Field(
        description="the result in a sentence of ours, never the text of the receiver",
        examples=["The web hook accepted the event."],
    )


class KindOption(BaseModel):
    """An option of a kind of destination."""

    name: str = Field(description="the name of the option", examples=["list_ids"])
    type: Literal["string", "array", "object"] = Field(description="its type in JSON")


class KindSummary(BaseModel):
    """A kind of destination, and what a destination of this kind needs."""

    name: str = Field(description="the name of the kind", examples=["hubspot"])
    label: str = Field(description="what people call it", examples=["HubSpot"])
    protocol: str = Field(description="what is sent", examples=["one JSON event per contact"])
    url: str = Field(description="what the `url` is", examples=["of the receiver"])
    needs_url: bool = Field(description="whether the `url` is required", examples=[True])
    secret: str = Field(description="what the `secret` is", examples=["API key"])
    needs_secret: bool = Field(description="whether the `secret` is required", examples=[True])
    generates_secret: bool = Field(description="whether a `secret` that is left out is generated", examples=[False])
    takes_alarms: bool = Field(description="whether alarms, and ends of runs, can be sent to it", examples=[False])
    options: list[KindOption] = Field(max_length=50, description="its options")


class KindList(BaseModel):
    """All kinds of destinations."""

    items: list[KindSummary] = Field(max_length=100, description="the kinds")


def _kind(kind: DestinationKind) -> KindSummary:
    described = kind.options.model_json_schema()["properties"] if kind.options.model_fields else {}
    return KindSummary(
        name=kind.name,
        label=kind.label,
        protocol=kind.protocol,
        url=kind.url,
        needs_url=kind.base_url is None,
        secret=kind.secret.description,
        needs_secret=kind.secret.is_required,
        generates_secret=kind.secret.generate is not None,
        takes_alarms=kind.takes_alarms,
        options=[KindOption(name=name, type=schema["type"]) for name, schema in described.items()],
    )


KIND_SUMMARIES = {kind.name: _kind(kind) for kind in KINDS.values()}


Shown = TypeVar("Shown", bound=DestinationSummary)


def mask_url(destination: Shown, actor: Actor) -> Shown:
    """Remove what follows the host from the URL, unless the actor may deliver: many receivers check nothing else."""
    if destination.url is None or actor.covers(OPERATOR):
        return destination
    url = urlsplit(destination.url)
    rest = "/…" if url.path.strip("/") or url.query else ""
    return destination.model_copy(update={"url": f"{url.scheme}://{url.netloc.rpartition('@')[2]}{rest}"})


API = ApiResource(DESTINATIONS, "destination", DestinationSummary, DestinationDetail, mask=mask_url)
router = empty_router(API, "deliveries")
add_list_route(router, API)


@router.post("", status_code=201, summary="Create a destination", **requires(ADMIN, 400, 409))
async def create_destination(
    body: NewDestination, application: CurrentApplication, actor: CurrentActor, response: Response
) -> CreatedDestination:
    """Create a destination with a public URL. `signing_secret` is generated for a web hook and returned once."""
    await application.adapters.check_url(body.url)
    rule = body.rule.model_dump(mode="json") if body.rule else {}
    draft = DestinationDraft(body.name, body.kind, body.url, body.secret, body.options, rule)
    async with application.database.session(actor.tenant_id) as session:
        made, secret = await destinations.create(session, actor, application.vault, draft)
    response.headers["Location"] = f"{PREFIX}/destinations/{made.id}"
    return CreatedDestination(**_shown(made), signing_secret=secret)


@router.get("/kinds", summary="Kinds of destinations", **requires(VIEWER))
async def list_destination_kinds() -> KindList:
    """List the kinds of destinations, and what a destination of each kind needs."""
    return KindList(items=list(KIND_SUMMARIES.values()))


@router.get("/{id}", summary="One destination", **requires(VIEWER, 404))
async def get_destination(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> DestinationDetail:
    """Return the destination; its secrets are `set` or empty."""
    async with application.database.session(actor.tenant_id) as session:
        return mask_url(_detail(await paginate.get(session, DESTINATIONS, actor.tenant_id, row_id)), actor)


@router.patch("/{id}", summary="Change a destination", **requires(ADMIN, 400, 404, 409))
async def change_destination(
    row_id: RowId, body: DestinationChange, application: CurrentApplication, actor: CurrentActor
) -> DestinationDetail:
    """Change a destination. Send the secret again if the URL moves to another server. 409 if it was changed after the
    given `updated_at`."""
    await application.adapters.check_url(body.url)
    changes = body.model_dump(mode="json", exclude_none=True, exclude={"updated_at"})
    async with application.database.session(actor.tenant_id) as session:
        changed = await destinations.change(session, actor, application.vault, row_id, changes, body.updated_at)
        return _detail(changed)


@router.delete("/{id}", status_code=204, summary="Delete a destination", **requires(ADMIN, 404))
async def remove_destination(row_id: RowId, application: CurrentApplication, actor: CurrentActor) -> Response:
    """Delete a destination and its deliveries. Contacts that it has received stay there."""
    async with application.database.session(actor.tenant_id) as session:
        await destinations.remove(session, actor, row_id)
    return Response(status_code=204)


@router.post("/{id}/test", summary="Test a destination", **requires(OPERATOR, 404))
async def test_destination(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor
) -> DestinationTestResult:
    """Send a `destination.test` event to a web hook or n8n, or check the key at a CRM."""
    try:
        async with application.database.session(actor.tenant_id) as session:
            destination = await paginate.get(session, DESTINATIONS, actor.tenant_id, row_id)
            await destinations.note_test(session, actor, destination)
        return DestinationTestResult(
            ok=True, said=await application.adapters.test(destinations.endpoint_of(destination, application.vault))
        )
    except NotDelivered as error:
        return DestinationTestResult(ok=False, said=str(error))


@router.post("/{id}/rotate", summary="Rotate the secret", **requires(ADMIN, 400, 404))
async def rotate_destination(
    row_id: RowId, body: NewSecret, application: CurrentApplication, actor: CurrentActor
) -> CreatedDestination:
    """Set a new secret. A web hook is signed with both secrets until the former one is retired."""
    async with application.database.session(actor.tenant_id) as session:
        changed, secret = await destinations.rotate(session, actor, application.vault, row_id, body.secret)
    return CreatedDestination(**_shown(changed), signing_secret=secret)


@router.post("/{id}/retire", summary="Retire the previous secret", **requires(ADMIN, 404, 409))
async def retire_destination_secret(
    row_id: RowId, application: CurrentApplication, actor: CurrentActor
) -> DestinationDetail:
    """Remove the previous secret: only the new one signs. 409 if there is no previous secret."""
    async with application.database.session(actor.tenant_id) as session:
        return _detail(await destinations.retire(session, actor, row_id))


def _detail(destination: Destination) -> DestinationDetail:
    return DestinationDetail(**_shown(destination))


def _shown(destination: Destination) -> dict[str, Any]:
    summary = DestinationSummary.model_validate(destination).model_dump()
    secrets = {"secret": destination.secret, "previous_secret": destination.previous_secret}
    return summary | {name: "set" if sealed else None for name, sealed in secrets.items()}
