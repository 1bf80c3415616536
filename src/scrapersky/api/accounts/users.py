"""The users of a tenant, their roles, and invitations for new users."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependencies import CurrentApplication
from scrapersky.api.http.authorization import ADMIN, CurrentActor, public, requires
from scrapersky.api.http.browser_cookie import CONSOLE, is_console_path
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.schemas import cursors
from scrapersky.api.schemas.fields import (
    MAX_TOKEN_LENGTH,
    PREFIX,
    Count,
    Cursor,
    Limit,
    NewPassword,
    RequestModel,
    ResponseModel,
    ResultPage,
    Token,
)
from scrapersky.core.roles import Role
from scrapersky.core.text_rules import Name
from scrapersky.models import User
from scrapersky.store.accounts import invitations, users

router = APIRouter(prefix="/users", tags=["users"], route_class=ListRoute)
invitation_router = APIRouter(prefix="/invitations", tags=["users"], route_class=ListRoute)

UserId = Annotated[UUID, Path(alias="id", description="the id of the user")]
InvitationId = Annotated[UUID, Path(alias="id", description="the id of the invitation")]
InvitationToken = Annotated[
    str,
    Query(
        alias="token",
        max_length=MAX_TOKEN_LENGTH,
        pattern="^[A-Za-z0-9_-]{1,200}$",
        description="the token of the invitation",
        examples=["Yq0cE3vR7"],
    ),
]


class UserSummary(BaseModel):
    """A user of your tenant."""

    id: UUID = Field(description="the id of the user")
    name: str = Field(description="the name that the user logs in with", examples=["ada"])
    role: Role = Field(description="what the user may do in the tenant")
    disabled: bool = Field(description="whether the user cannot log in, and their keys are refused", examples=[False])
    created_at: datetime = Field(description="when the user was created")
    last_login_at: datetime | None = Field(description="the last login; empty: never")


class UserChange(RequestModel):
    """The fields to change; fields that are not given stay."""

    role: Role | None = Field(None, description="the new role, effective at the next request")
    disabled: bool | None = Field(
        None, strict=True, description="disable or enable the user; effective at the next request"
    )


class SessionsEnded(BaseModel):
    """How many sessions of a user were ended."""

    ended: Count = Field(description="sessions that were active", examples=[2])


class InviteRequest(RequestModel):
    """The role of the new user."""

    role: Role = Field(description="the role that the new user gets")


class InvitationSummary(ResponseModel):
    """An open invitation."""

    id: UUID = Field(description="the id of the invitation, for withdrawing it")
    role: Role = Field(description="the role that the new user gets")
    created_at: datetime = Field(description="when the invitation was created")
    expires_at: datetime = Field(description="until when it can be accepted")


class NewInvitation(InvitationSummary):
    """A new invitation with its token."""

    token: str = Field(description="returned once; for POST /api/v3/invitations/accept", examples=["Yq0cE3vR7…"])
    link: str = Field(
        description="the path of the page, for a browser, that accepts it", examples=["/invitation?token=Yq0cE3vR7…"]
    )


class InvitationDetail(BaseModel):
    """An invitation, and how to accept it."""

    tenant: str = Field(description="the tenant that the new user will belong to", examples=["default"])
    role: Role = Field(description="the role that the new user gets")
    expires_at: datetime = Field(description="until when it can be accepted")
    how: str = Field(
        description="the request that accepts the invitation",
        examples=["POST /api/v3/invitations/accept with JSON: token, name, and a password of 12 characters or more."],
    )


class AcceptInvitation(RequestModel):
    """The new user."""

    token: Token = Field(description="the token of the invitation", examples=["Yq0cE3vR7"])
    name: Name = Field(description="the name of the new user, unique in the tenant", examples=["grace"])
    password: NewPassword = Field(description="12 characters or more")


@router.get("", summary="Users of your tenant", **requires(ADMIN, 400))
async def list_users(
    application: CurrentApplication, actor: CurrentActor, cursor: Cursor = None, limit: Limit = 50
) -> ResultPage[UserSummary]:
    """List the users by name, including disabled ones."""
    after = application.cursors.decode(cursor, "users", cursors.storable_text)[0] if cursor else None
    async with application.database.session(actor.tenant_id) as session:
        found = await users.of_tenant(session, actor.tenant_id, after, limit + 1)
    return application.cursors.page_of(found, limit, "users", lambda user: [user.name], _summary)


@router.get("/{id}", summary="One user", **requires(ADMIN, 404))
async def get_user(user_id: UserId, application: CurrentApplication, actor: CurrentActor) -> UserSummary:
    """Return one user, as in the list."""
    async with application.database.session(actor.tenant_id) as session:
        return _summary(await users.get(session, actor.tenant_id, user_id))


@router.patch(
    "/{id}", summary="Change the role of a user, disable or enable", **requires(ADMIN, 400, 404, 409, login=True)
)
async def change_user(
    user_id: UserId, body: UserChange, application: CurrentApplication, actor: CurrentActor
) -> UserSummary:
    """Change a user, effective at their next request. 409 for the last admin."""
    async with application.database.session(actor.tenant_id) as session:
        return _summary(await users.change(session, actor, user_id, body.role, body.disabled))


@router.delete("/{id}/sessions", summary="End the sessions of a user", **requires(ADMIN, 404, login=True))
async def end_user_sessions(user_id: UserId, application: CurrentApplication, actor: CurrentActor) -> SessionsEnded:
    """End every login of a user at once; the password and API keys stay valid. Your own login of this request stays."""
    async with application.database.session(actor.tenant_id) as session:
        return SessionsEnded(ended=await users.log_out(session, actor, user_id))


@invitation_router.get("", summary="Open invitations", **requires(ADMIN))
async def list_invitations(application: CurrentApplication, actor: CurrentActor) -> ResultPage[InvitationSummary]:
    """List the open invitations, the latest first; at most 200."""
    async with application.database.session(actor.tenant_id) as session:
        found = await invitations.of_tenant(session, actor.tenant_id)
    return ResultPage(items=[InvitationSummary.model_validate(one) for one in found], next_cursor=None)


@invitation_router.post("", status_code=201, summary="Invite a user", **requires(ADMIN, 400, login=True))
async def invite_user(body: InviteRequest, application: CurrentApplication, actor: CurrentActor) -> NewInvitation:
    """Create a token for one new user of your tenant, valid for 24 hours and returned once."""
    async with application.database.session(actor.tenant_id) as session:
        made, token = await invitations.create(session, actor, body.role)
        summary = InvitationSummary.model_validate(made)
    return NewInvitation(**summary.model_dump(), token=token, link=invitation_link(token))


@invitation_router.get("/accept", summary="Show an invitation", **public(404))
async def get_invitation(token: InvitationToken, application: CurrentApplication) -> InvitationDetail:
    """Return the invitation and the request that accepts it."""
    async with application.database.engine_connection() as connection:
        found = await invitations.find(connection, token)
    how = f"POST {PREFIX}/invitations/accept with JSON: token, name, and a password of 12 characters or more."
    return InvitationDetail(tenant=found.tenant, role=Role(found.role), expires_at=found.expires_at, how=how)


@invitation_router.post("/accept", status_code=201, summary="Accept an invitation", **public(400, 404, 409))
async def accept_invitation(body: AcceptInvitation, request: Request, application: CurrentApplication) -> UserSummary:
    """Create the user, who can log in afterwards."""
    async with application.database.engine_connection() as connection:
        found = await invitations.find(connection, body.token.get_secret_value())
    hashed = await application.passwords.hash(body.password.get_secret_value())
    client = "console" if is_console_path(request.url.path) else "api"
    origin = f"{client} {request.client.host}" if request.client else f"{client} local socket"
    async with application.database.session(found.tenant_id) as session:
        request_id = request.scope.get("request_id")
        user_id = await invitations.accept(session, found, body.name, hashed, origin, request_id)
        return _summary(await users.get(session, found.tenant_id, user_id))


@invitation_router.delete("/{id}", status_code=204, summary="Withdraw an invitation", **requires(ADMIN, 404))
async def withdraw_invitation(
    invitation_id: InvitationId, application: CurrentApplication, actor: CurrentActor
) -> None:
    """Withdraw an invitation: its token is not valid any more."""
    async with application.database.session(actor.tenant_id) as session:
        await invitations.withdraw(session, actor, invitation_id)


def invitation_link(token: str) -> str:
    """Return the path of the page that accepts an invitation; queries are not logged."""
    return f"{CONSOLE}/welcome?token={token}"


def _summary(user: User) -> UserSummary:
    return UserSummary.model_validate(vars(user) | {"disabled": user.disabled_at is not None})
