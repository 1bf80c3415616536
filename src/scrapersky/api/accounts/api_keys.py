"""API keys for programs: returned once, limited by scopes, revocable."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, VIEWER, CurrentActor, CurrentUser, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResponseModel, ResultPage, Timestamp
from scrapersky.core import clock
from scrapersky.core.errors import Conflict
from scrapersky.core.roles import Scope
from scrapersky.core.text_rules import Name
from scrapersky.store.accounts import api_keys, users

router = APIRouter(prefix="/api-keys", tags=["api keys"], route_class=ListRoute)

KeyId = Annotated[UUID, Path(alias="id", description="the id of the key, not its prefix")]


class AlreadyExpired(Conflict):
    """The key would have expired already."""


class NewApiKey(RequestModel):
    """A new key."""

    name: Name = Field(description="a label: `nightly export`", examples=["nightly export"])
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))] | None = Field(
        None, description="what the key may be used for; empty: everything your role allows"
    )
    expires_at: Timestamp | None = Field(None, description="when the key expires; empty: never")


class ApiKeySummary(ResponseModel):
    """A key without its secret."""

    id: UUID = Field(description="the id of the key, for revoking it")
    user_id: UUID = Field(description="the user to whom the key belongs")
    name: str = Field(description="the label that its creator gave it", examples=["nightly export"])
    prefix: str = Field(description="the part after `ssk_`", examples=["4f1d2c8a9b3e"])
    scopes: list[str] = Field(
        max_length=len(Scope), description="what the key may be used for", examples=[["read", "curate"]]
    )
    created_at: datetime = Field(description="when the key was created")
    expires_at: datetime | None = Field(description="when the key stops being valid; empty: never")
    last_used_at: datetime | None = Field(description="the last request with the key, to the minute; empty: never used")
    revoked_at: datetime | None = Field(description="when the key was revoked; empty: it was not")


class CreatedApiKey(ApiKeySummary):
    """A new key with its secret."""

    key: str = Field(
        description="returned once; send it as `Authorization: Bearer`", examples=["ssk_4f1d2c8a9b3e_Yq0cE3…"]
    )


@router.get("", summary="API keys", **requires(VIEWER, 400))
async def list_api_keys(
    application: CurrentApplication,
    actor: CurrentActor,
    user_id: CurrentUser,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[ApiKeySummary]:
    """List your own keys in the order of creation; an admin sees those of the tenant."""
    after = application.cursors.decode(cursor, "api-keys", UUID)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        whose = None if actor.covers(ADMIN) else user_id
        found = await api_keys.of_tenant(session, actor.tenant_id, whose, after, limit + 1)
    return application.cursors.page_of(
        found, limit, "api-keys", lambda key: [str(key.id)], ApiKeySummary.model_validate
    )


@router.post("", status_code=201, summary="Create an API key", **requires(VIEWER, 400, 409, login=True))
async def create_api_key(
    body: NewApiKey, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> CreatedApiKey:
    """Create a key for yourself. It never allows more than your role at the time of use."""
    if body.expires_at is not None and body.expires_at <= clock.now():
        raise AlreadyExpired("expires_at must be in the future.")
    scopes = [scope.value for scope in body.scopes] if body.scopes else None
    async with application.database.session(actor.tenant_id) as session:
        user = await users.get(session, actor.tenant_id, user_id, lock=True)
        made, shown = await api_keys.create(session, actor, user, body.name, scopes, body.expires_at)
        summary = ApiKeySummary.model_validate(made)
    return CreatedApiKey(**summary.model_dump(), key=shown)


@router.delete("/{id}", status_code=204, summary="Revoke an API key", **requires(VIEWER, 404, login=True))
async def revoke_api_key(
    key_id: KeyId, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> None:
    """Revoke one of your keys at once; an admin may revoke any key of the tenant."""
    async with application.database.session(actor.tenant_id) as session:
        await api_keys.revoke(session, actor, key_id, None if actor.covers(ADMIN) else user_id)
