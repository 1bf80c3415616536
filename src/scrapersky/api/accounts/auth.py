"""Logging in and out: a password for a login, a login for tokens of a quarter of an hour."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, CurrentUser, public, requires
from scrapersky.api.http.problems import problems
from scrapersky.api.http.rate_limit import limit_login
from scrapersky.api.schemas.account_fields import Name, NewPassword, Password, Token
from scrapersky.api.schemas.fields import RequestModel, ResultPage
from scrapersky.core import tokens
from scrapersky.core.errors import NotAuthenticated
from scrapersky.core.roles import Role
from scrapersky.store.accounts import sessions, tenants, users
from scrapersky.store.accounts.sessions import LoginUser, StartedSession
from scrapersky.store.audit.record import Actor

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/auth", tags=["auth"], responses=problems(422, 503))


class LoginRequest(RequestModel):
    """Who, and the password."""

    tenant: Name = Field(tenants.DEFAULT, description="the tenant's name")
    name: Name
    password: Password


class RefreshRequest(RequestModel):
    """The token of the answer before."""

    refresh_token: Token


class PasswordChange(RequestModel):
    """The present password and the new one."""

    current: Password
    new: NewPassword = Field(description="12 characters or more")


class LoginTokens(BaseModel):
    """Tokens of one login."""

    access_token: str = Field(description="for `Authorization: Bearer`")
    token_type: str = "Bearer"  # noqa: S105 - its kind, as OAuth calls it
    expires_in: int = Field(description="seconds the access token is good for")
    refresh_token: str = Field(description="good once, for the next two tokens; within 14 days")
    session_id: UUID


class Me(BaseModel):
    """Who you are here."""

    user_id: UUID
    name: str
    role: Role
    tenant_id: UUID
    tenant: str
    is_operator: bool = Field(description="of the tenant whose operators run the engine")
    session_id: UUID | None = Field(description="empty with a key")
    key_id: UUID | None = Field(description="empty with a token")
    scopes: list[str] | None = Field(description="what the key may be used for")
    created_at: datetime
    last_login_at: datetime | None
    password_changed_at: datetime | None


class SessionSummary(BaseModel):
    """A login that is in force."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    created_at: datetime
    seen_at: datetime = Field(description="last use, to the minute")
    expires_at: datetime
    origin: str
    user_agent: str | None
    is_this: bool = Field(False, description="the one that asks")


@router.post("/login", summary="Log in", responses=problems(400), openapi_extra=public())
async def login(body: LoginRequest, request: Request, application: CurrentApplication) -> LoginTokens:
    """Slow on purpose, the same for a name that does not exist, and only so often for one account and one address."""
    await limit_login(request.scope, application, f"{body.tenant}/{body.name}")
    async with application.database.engine_connection() as connection:
        found = await sessions.login_user(connection, body.tenant, body.name)
    password = body.password.get_secret_value()
    is_right = await application.passwords.check(password, found.password_hash if found else None)
    if found is None or not is_right:
        log.warning("login_failed", user_id=str(found.id) if found else None)
        raise NotAuthenticated("The name or the password is wrong.")
    return _tokens(application, await _begin(request, application, found, password))


async def _begin(request: Request, application: WebApplication, found: LoginUser, password: str) -> StartedSession:
    kept = found.password_hash or ""
    renewed = await application.passwords.hash(password) if application.passwords.is_outdated(kept) else None
    origin = request.client.host if request.client else "local socket"
    actor = Actor(found.name, found.tenant_id, found.role, f"api {origin}", found.id, request.scope["request_id"])
    agent = request.headers.get("user-agent", "")[:200]
    shown_agent = agent.encode("ascii", "replace").decode() or None
    most = application.settings.max_sessions
    async with application.database.session(found.tenant_id) as session:
        begun = await sessions.start(session, actor, found.id, kept, origin, shown_agent, most)
        if renewed:
            await users.replace_hash(session, found.id, kept, renewed)
    return begun


@router.post("/refresh", summary="New tokens for an old one", responses=problems(400, 409), openapi_extra=public())
async def refresh(body: RefreshRequest, application: CurrentApplication) -> LoginTokens:
    """A refresh token is good once. Used again it ends the login, because one of two has stolen it; 409 within ten
    seconds, where it was probably a second click."""
    return _tokens(application, await sessions.renew(application.database, body.refresh_token.get_secret_value()))


@router.post(
    "/logout", status_code=204, summary="Log out", openapi_extra=requires(VIEWER, login=True), responses=problems(404)
)
async def logout(application: CurrentApplication, actor: CurrentActor) -> None:
    """This login opens nothing any more, at once."""
    async with application.database.session(actor.tenant_id) as session:
        await sessions.end(session, actor, actor.session_id)


@router.get("/me", summary="Who you are here", openapi_extra=requires(VIEWER))
async def get_me(application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser) -> Me:
    """Your user, your tenant, and by what you are known."""
    async with application.database.session(actor.tenant_id) as session:
        user = await users.get(session, actor.tenant_id, user_id)
        tenant = await tenants.name_of(session, actor.tenant_id)
    return Me(
        user_id=user.id,
        name=user.name,
        role=Role(user.role),
        tenant_id=actor.tenant_id,
        tenant=tenant,
        is_operator=actor.is_operator,
        session_id=actor.session_id,
        key_id=actor.key_id,
        scopes=list(actor.scopes) if actor.scopes is not None else None,
        created_at=user.created_at,
        last_login_at=user.last_login_at,
        password_changed_at=user.password_changed_at,
    )


@router.post(
    "/password",
    status_code=204,
    summary="Change your password",
    responses=problems(400),
    openapi_extra=requires(VIEWER, login=True),
)
async def change_password(
    body: PasswordChange, request: Request, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> None:
    """All your other logins end; keys stay."""
    await limit_login(request.scope, application, f"password of {user_id}")
    async with application.database.session(actor.tenant_id) as session:
        kept = (await users.get(session, actor.tenant_id, user_id)).password_hash
    if not await application.passwords.check(body.current.get_secret_value(), kept):
        raise WrongPassword("Your present password is another one.")
    renewed = await application.passwords.hash(body.new.get_secret_value())
    async with application.database.session(actor.tenant_id) as session:
        await users.set_password(session, actor, user_id, renewed, actor.session_id)


class WrongPassword(NotAuthenticated):
    """The password is wrong."""


@router.get("/sessions", summary="Your logins", openapi_extra=requires(VIEWER, login=True))
async def list_sessions(
    application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> ResultPage[SessionSummary]:
    """Those that are in force, the latest used first; at most 200."""
    async with application.database.session(actor.tenant_id) as session:
        found = await sessions.of_user(session, user_id)
    lines = [SessionSummary.model_validate(one) for one in found]
    marked = [line.model_copy(update={"is_this": line.id == actor.session_id}) for line in lines]
    return ResultPage(items=marked, next_cursor=None)


@router.delete(
    "/sessions/{id}",
    status_code=204,
    summary="End one of your logins",
    responses=problems(404),
    openapi_extra=requires(VIEWER, login=True),
)
async def end_session(
    session_id: Annotated[UUID, Path(alias="id", description="the login's id")],
    application: CurrentApplication,
    actor: CurrentActor,
) -> None:
    """It opens nothing any more, at once."""
    async with application.database.session(actor.tenant_id) as session:
        await sessions.end(session, actor, session_id)


def _tokens(application: WebApplication, begun: StartedSession) -> LoginTokens:
    return LoginTokens(
        access_token=tokens.sign(application.signing_key, begun.user_id, begun.id),
        expires_in=int(tokens.LIFETIME.total_seconds()),
        refresh_token=begun.refresh_token,
        session_id=begun.id,
    )
