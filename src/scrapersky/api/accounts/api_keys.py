"""Keys for programs: shown once, narrowed by scopes, revoked at will."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, VIEWER, CurrentActor, CurrentUser, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.account_fields import Name
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResultPage, Timestamp
from scrapersky.core import clock
from scrapersky.core.errors import Conflict
from scrapersky.core.roles import Scope
from scrapersky.store.accounts import api_keys, users

router = APIRouter(prefix="/api-keys", tags=["api keys"], responses=problems(422, 503))

KeyId = Annotated[UUID, Path(alias="id", description="the key's own id, not its prefix")]


class AlreadyExpired(Conflict):
    """The key would have run out already."""


class NewApiKey(RequestModel):
    """What the key is for."""

    name: Name = Field(description="to know it by: `nightly export`")
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))] | None = Field(
        None, description="what it may be used for; empty means all that your role may"
    )
    expires_at: Timestamp | None = Field(None, description="when it runs out; empty means never")


class ApiKeySummary(BaseModel):
    """A key without its secret."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    user_id: UUID
    name: str
    prefix: str = Field(description="the part after `ssk_`")
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="to the minute")
    revoked_at: datetime | None


class CreatedApiKey(ApiKeySummary):
    """A key as it is shown once."""

    key: str = Field(description="shown this once; send it as `Authorization: Bearer`")


@router.get("", summary="Keys", responses=problems(400), openapi_extra=requires(VIEWER))
async def list_api_keys(
    application: CurrentApplication,
    actor: CurrentActor,
    user_id: CurrentUser,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ResultPage[ApiKeySummary]:
    """Your own, in the order they were made; an admin sees those of the whole tenant."""
    after = cursors.decode(cursor, "api-keys", UUID)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        whose = None if actor.covers(ADMIN) else user_id
        found = await api_keys.of_tenant(session, actor.tenant_id, whose, after, limit + 1)
    more = cursors.encode("api-keys", [str(found[limit - 1].id)]) if len(found) > limit else None
    return ResultPage(items=[ApiKeySummary.model_validate(key) for key in found[:limit]], next_cursor=more)


@router.post(
    "",
    status_code=201,
    summary="Make a key",
    responses=problems(400, 409),
    openapi_extra=requires(VIEWER, login=True),
)
async def create_api_key(
    body: NewApiKey, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> CreatedApiKey:
    """For yourself. It never has more than your role at the moment it is used."""
    if body.expires_at is not None and body.expires_at <= clock.now():
        raise AlreadyExpired("Let expires_at lie in the future.")
    scopes = [scope.value for scope in body.scopes] if body.scopes else None
    async with application.database.session(actor.tenant_id) as session:
        user = await users.get(session, actor.tenant_id, user_id, lock=True)
        made, shown = await api_keys.create(session, actor, user, body.name, scopes, body.expires_at)
        line = ApiKeySummary.model_validate(made)
    return CreatedApiKey(**line.model_dump(), key=shown)


@router.delete(
    "/{id}",
    status_code=204,
    summary="Revoke a key",
    responses=problems(404),
    openapi_extra=requires(VIEWER, login=True),
)
async def revoke_api_key(
    key_id: KeyId, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> None:
    """It opens nothing any more, at once. Your own; an admin may revoke any of the tenant."""
    async with application.database.session(actor.tenant_id) as session:
        await api_keys.revoke(session, actor, key_id, None if actor.covers(ADMIN) else user_id)
