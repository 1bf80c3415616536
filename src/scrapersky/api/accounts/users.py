"""The people of a tenant: who is there, who may what, and invitations for those to come."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, public, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.account_fields import TOKEN_LENGTH, Name, NewPassword, Token
from scrapersky.api.schemas.fields import Cursor, Limit, RequestModel, ResultPage
from scrapersky.api.schemas.listing import PREFIX, storable_text
from scrapersky.core.roles import Role
from scrapersky.models import User
from scrapersky.store.accounts import invitations, users

router = APIRouter(prefix="/users", tags=["users"], responses=problems(422, 503))
invitation_router = APIRouter(prefix="/invitations", tags=["users"], responses=problems(422, 503))

UserId = Annotated[UUID, Path(alias="id", description="the user's id")]
InvitationId = Annotated[UUID, Path(alias="id", description="the invitation's id")]
InvitationToken = Annotated[
    str, Query(alias="token", max_length=TOKEN_LENGTH, pattern="^[A-Za-z0-9_-]{1,200}$", description="its token")
]


class UserSummary(BaseModel):
    """Somebody of your tenant."""

    id: UUID
    name: str
    role: Role
    disabled: bool
    created_at: datetime
    last_login_at: datetime | None


class UserChange(RequestModel):
    """What shall be otherwise; nothing set changes nothing."""

    role: Role | None = None
    disabled: bool | None = Field(None, strict=True, description="out, or in again; effective at the next request")


class InviteRequest(RequestModel):
    """What the new one may do."""

    role: Role


class InvitationSummary(BaseModel):
    """An invitation that is open."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    role: Role
    created_at: datetime
    expires_at: datetime


class NewInvitation(InvitationSummary):
    """An invitation as it is shown once."""

    token: str = Field(description="shown this once; for POST /api/v3/invitations/accept")
    link: str = Field(description="a path of this service that tells what to do")


class InvitationDetail(BaseModel):
    """What an invitation is for, and how to accept it."""

    tenant: str
    role: Role
    expires_at: datetime
    how: str = Field(description="what to send where")


class AcceptInvitation(RequestModel):
    """Who you will be."""

    token: Token
    name: Name
    password: NewPassword = Field(description="12 characters or more")


@router.get("", summary="The people of your tenant", responses=problems(400), openapi_extra=requires(ADMIN))
async def list_users(
    application: CurrentApplication, actor: CurrentActor, cursor: Cursor = None, limit: Limit = 50
) -> ResultPage[UserSummary]:
    """By name, those who are disabled included."""
    after = cursors.decode(cursor, "users", storable_text)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await users.of_tenant(session, actor.tenant_id, after, limit + 1)
    more = cursors.encode("users", [found[limit - 1].name]) if len(found) > limit else None
    return ResultPage(items=[_line(user) for user in found[:limit]], next_cursor=more)


@router.get("/{id}", summary="One user", responses=problems(404), openapi_extra=requires(ADMIN))
async def get_user(user_id: UserId, application: CurrentApplication, actor: CurrentActor) -> UserSummary:
    """The same as in the list."""
    async with application.database.session(actor.tenant_id) as session:
        return _line(await users.get(session, actor.tenant_id, user_id))


@router.patch(
    "/{id}",
    summary="Change a role, disable or enable",
    responses=problems(400, 404, 409),
    openapi_extra=requires(ADMIN, login=True),
)
async def change_user(
    user_id: UserId, body: UserChange, application: CurrentApplication, actor: CurrentActor
) -> UserSummary:
    """Effective at their next request. The last admin cannot go."""
    async with application.database.session(actor.tenant_id) as session:
        return _line(await users.change(session, actor, user_id, body.role, body.disabled))


@invitation_router.get("", summary="Open invitations", openapi_extra=requires(ADMIN))
async def list_invitations(application: CurrentApplication, actor: CurrentActor) -> ResultPage[InvitationSummary]:
    """The latest first; at most 200."""
    async with application.database.session(actor.tenant_id) as session:
        found = await invitations.of_tenant(session, actor.tenant_id)
    return ResultPage(items=[InvitationSummary.model_validate(one) for one in found], next_cursor=None)


@invitation_router.post(
    "", status_code=201, summary="Invite somebody", responses=problems(400), openapi_extra=requires(ADMIN, login=True)
)
async def invite_user(body: InviteRequest, application: CurrentApplication, actor: CurrentActor) -> NewInvitation:
    """A token for one new user of your tenant, good for 24 hours, shown this once."""
    async with application.database.session(actor.tenant_id) as session:
        made, token = await invitations.create(session, actor, body.role)
        line = InvitationSummary.model_validate(made)
    return NewInvitation(**line.model_dump(), token=token, link=invitation_link(token))


@invitation_router.get("/accept", summary="What an invitation is for", responses=problems(404), openapi_extra=public())
async def get_invitation(token: InvitationToken, application: CurrentApplication) -> InvitationDetail:
    """For whoever follows the link: what to send to accept it."""
    async with application.database.engine_connection() as connection:
        found = await invitations.find(connection, token)
    how = f"POST {PREFIX}/invitations/accept with JSON: token, name, and a password of 12 characters or more."
    return InvitationDetail(tenant=found.tenant, role=Role(found.role), expires_at=found.expires_at, how=how)


@invitation_router.post(
    "/accept",
    status_code=201,
    summary="Accept an invitation",
    responses=problems(400, 404, 409),
    openapi_extra=public(),
)
async def accept_invitation(body: AcceptInvitation, request: Request, application: CurrentApplication) -> UserSummary:
    """You are a user from now on; log in."""
    async with application.database.engine_connection() as connection:
        found = await invitations.find(connection, body.token.get_secret_value())
    hashed = await application.passwords.hash(body.password.get_secret_value())
    origin = f"api {request.client.host}" if request.client else "api local socket"
    async with application.database.session(found.tenant_id) as session:
        request_id = request.scope.get("request_id")
        user_id = await invitations.accept(session, found, body.name, hashed, origin, request_id)
        return _line(await users.get(session, found.tenant_id, user_id))


@invitation_router.delete(
    "/{id}", status_code=204, summary="Withdraw an invitation", responses=problems(404), openapi_extra=requires(ADMIN)
)
async def withdraw_invitation(
    invitation_id: InvitationId, application: CurrentApplication, actor: CurrentActor
) -> None:
    """Its token is good for nothing any more."""
    async with application.database.session(actor.tenant_id) as session:
        await invitations.withdraw(session, actor, invitation_id)


def invitation_link(token: str) -> str:
    """The path that tells how an invitation is accepted; its query is in no log of ours."""
    return f"{PREFIX}/invitations/accept?token={token}"


def _line(user: User) -> UserSummary:
    return UserSummary(
        id=user.id,
        name=user.name,
        role=Role(user.role),
        disabled=user.disabled_at is not None,
        created_at=user.created_at,
        last_login_at=user.last_login_at,
    )
