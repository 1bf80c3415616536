"""Log in and out; sessions, tokens and passwords."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field, StringConstraints, field_validator

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, CurrentUser, public, requires
from scrapersky.api.http.client_address import client_network
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.http.rate_limit import limit_login
from scrapersky.api.schemas.fields import Count, NewPassword, Password, RequestModel, ResponseModel, ResultPage, Token
from scrapersky.core.errors import NotAuthenticated
from scrapersky.core.preferences import Density, Theme, Times, is_time_zone, read_preferences
from scrapersky.core.roles import Role, Scope
from scrapersky.core.secrets import tokens
from scrapersky.core.text_rules import Name
from scrapersky.models import User
from scrapersky.store.accounts import sessions, tenants, users
from scrapersky.store.accounts.sessions import LoginUser, StartedSession
from scrapersky.store.audit.record import Actor

ShortName = Annotated[str, StringConstraints(pattern="^[a-z_]{1,40}$")]

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/auth", tags=["auth"], route_class=ListRoute)


class LoginRequest(RequestModel):
    """The user and the password."""

    tenant: Name = Field(tenants.DEFAULT, description="the name of the tenant", examples=["default"])
    name: Name = Field(description="the name of the user in this tenant", examples=["ada"])
    password: Password = Field(description="the password of the user")


class RefreshRequest(RequestModel):
    """The refresh token of the previous response."""

    refresh_token: Token = Field(
        description="the refresh token that the last login or refresh returned", examples=["f3b1c0de…"]
    )


class PasswordChange(RequestModel):
    """The current password and the new one."""

    current: Password = Field(description="the password that is valid now")
    new: NewPassword = Field(description="12 characters or more")


class PreferencesChange(RequestModel):
    """The choices to keep; those that are not given stay."""

    theme: Theme | None = Field(None, description="the colours of the console; `auto`: those of the operating system")
    density: Density | None = Field(None, description="the height of rows in grids")
    keys: bool | None = Field(None, strict=True, description="whether single keys act on pages", examples=[True])
    times: Times | None = Field(None, description="times as “2 min ago”, or as day and hour")
    time_zone: str | None = Field(
        None,
        max_length=60,
        pattern="^[A-Za-z0-9_+/-]*$",
        description="the IANA name of the time zone of times; empty: that of the browser",
        examples=["Europe/Helsinki"],
    )
    columns: (
        Annotated[dict[ShortName, Annotated[list[ShortName], Field(max_length=50)]], Field(max_length=20)] | None
    ) = Field(None, description="the columns of each grid in their order", examples=[{"contacts": ["email", "phone"]}])

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name and not is_time_zone(name):
            raise ValueError("is not a time zone; write it like Europe/Helsinki")
        return name


class UserPreferences(ResponseModel):
    """How pages of the console look and behave for you."""

    theme: Theme = Field(description="the colours of the console; `auto`: those of the operating system")
    density: Density = Field(description="the height of rows in grids")
    keys: bool = Field(description="whether single keys act on pages", examples=[True])
    times: Times = Field(description="times as “2 min ago”, or as day and hour")
    time_zone: str = Field(
        description="the IANA name of the time zone of times; empty: that of the browser", examples=["Europe/Helsinki"]
    )
    columns: dict[str, list[str]] = Field(
        description="the columns of each grid in their order; a grid that is missing has all",
        examples=[{"contacts": ["email", "phone"]}],
    )


class LoginTokens(BaseModel):
    """The tokens of a session."""

    access_token: str = Field(description="for `Authorization: Bearer`", examples=["header.claims.signature"])
    token_type: str = Field("Bearer", description="the type of the access token")
    expires_in: Count = Field(description="the lifetime of the access token in seconds", examples=[900])
    refresh_token: str = Field(
        description="valid once, within 14 days, for the next pair of tokens", examples=["f3b1c0de…"]
    )
    session_id: UUID = Field(description="the session that the login started or the refresh continued")


class Me(BaseModel):
    """The user and tenant of the credential."""

    user_id: UUID = Field(description="your user")
    name: str = Field(description="your name, as you log in", examples=["ada"])
    role: Role = Field(description="your role in the tenant")
    tenant_id: UUID = Field(description="your tenant")
    tenant: str = Field(description="the name of your tenant", examples=["default"])
    is_operator: bool = Field(description="whether this is the operator tenant, whose operators control the workflows")
    session_id: UUID | None = Field(description="empty for an API key")
    key_id: UUID | None = Field(description="empty for an access token")
    scopes: list[str] | None = Field(
        max_length=len(Scope), description="the scopes of the key", examples=[["read", "curate"]]
    )
    created_at: datetime = Field(description="when your user was created")
    last_login_at: datetime | None = Field(description="your last login; empty: never")
    password_changed_at: datetime | None = Field(description="when you last changed your password; empty: never")


class SessionSummary(ResponseModel):
    """An active session."""

    id: UUID = Field(description="the id of the session, for ending it")
    created_at: datetime = Field(description="when you logged in")
    seen_at: datetime = Field(description="last use, to the minute")
    expires_at: datetime = Field(description="when the session ends unless its tokens are refreshed")
    origin: str = Field(
        description="the address of the client; of a browser `console` and the address", examples=["192.0.2.7"]
    )
    user_agent: str | None = Field(
        description="the program that you logged in with, as it names itself",
        examples=["Mozilla/5.0 (X11; Linux x86_64)"],
    )
    is_this: bool = Field(False, description="the session of this request")


@router.post("/login", summary="Log in", **public(400))
async def login(body: LoginRequest, request: Request, application: CurrentApplication) -> LoginTokens:
    """Start a session. The duration is the same for unknown names; accounts and addresses are rate limited."""
    return _tokens(application, await start_session(request, application, body))


async def start_session(
    request: Request, application: WebApplication, body: LoginRequest, browser_secret: str | None = None
) -> StartedSession:
    """Check the password and start a session, of a browser if there is a secret. Raises NotAuthenticated."""
    await limit_login(request.scope, application, f"{body.tenant}/{body.name}")
    async with application.database.engine_connection() as connection:
        found = await sessions.login_user(connection, body.tenant, body.name)
    password = body.password.get_secret_value()
    is_right = await application.passwords.check(password, found.password_hash if found else None)
    if found is None or not is_right:
        log.warning("login_failed", user_id=str(found.id) if found else None, address=client_network(request.scope))
        raise NotAuthenticated("The name or the password is wrong.")
    return await _begin(request, application, found, password, browser_secret)


async def _begin(
    request: Request, application: WebApplication, found: LoginUser, password: str, browser_secret: str | None
) -> StartedSession:
    stored = found.password_hash or ""
    renewed = await application.passwords.hash(password) if application.passwords.is_outdated(stored) else None
    origin = request.client.host if request.client else "local socket"
    client = f"{'console' if browser_secret else 'api'} {origin}"
    actor = Actor(found.name, found.tenant_id, found.role, client, found.id, request.scope["request_id"])
    shown_origin = client if browser_secret else origin
    agent = request.headers.get("user-agent", "")[:200]
    shown_agent = agent.encode("ascii", "replace").decode() or None
    max_sessions = application.settings.max_sessions
    async with application.database.session(found.tenant_id) as session:
        begun = await sessions.start(
            session, actor, found.id, stored, shown_origin, shown_agent, max_sessions, browser_secret
        )
        if renewed:
            await users.replace_hash(session, found.id, stored, renewed)
    return begun


@router.post("/refresh", summary="Refresh the tokens", **public(400, 409))
async def refresh(body: RefreshRequest, application: CurrentApplication) -> LoginTokens:
    """Exchange a refresh token for new tokens. Using it again ends the session, because it may be stolen; within ten
    seconds it is taken for a repeated click: 409."""
    return _tokens(application, await sessions.renew(application.database, body.refresh_token.get_secret_value()))


@router.post("/logout", status_code=204, summary="Log out", **requires(VIEWER, 404, login=True))
async def logout(application: CurrentApplication, actor: CurrentActor) -> None:
    """End this session at once."""
    async with application.database.session(actor.tenant_id) as session:
        await sessions.end(session, actor, actor.session_id)


@router.get("/me", summary="The current user", **requires(VIEWER))
async def get_me(application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser) -> Me:
    """Return your user, your tenant and the credential of this request."""
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


@router.get("/preferences", summary="Your preferences", **requires(VIEWER))
async def get_preferences(
    application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> UserPreferences:
    """Return how pages of the console look and behave for you."""
    async with application.database.session(actor.tenant_id) as session:
        return _preferences(await users.get(session, actor.tenant_id, user_id))


@router.patch("/preferences", summary="Change your preferences", **requires(VIEWER, 400, login=True))
async def change_preferences(
    body: PreferencesChange, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> UserPreferences:
    """Keep choices about the pages of the console, for every browser that you use."""
    chosen = body.model_dump(mode="json", exclude_none=True)
    async with application.database.session(actor.tenant_id) as session:
        return _preferences(await users.set_preferences(session, actor.tenant_id, user_id, chosen))


def _preferences(user: User) -> UserPreferences:
    return UserPreferences.model_validate(read_preferences(user.preferences).stored())


@router.post("/password", status_code=204, summary="Change your password", **requires(VIEWER, 400, login=True))
async def change_password(
    body: PasswordChange, request: Request, application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> None:
    """Change your password. Your other sessions end; API keys stay valid."""
    await limit_login(request.scope, application, f"password of {user_id}")
    async with application.database.session(actor.tenant_id) as session:
        kept = (await users.get(session, actor.tenant_id, user_id)).password_hash
    if not await application.passwords.check(body.current.get_secret_value(), kept):
        raise WrongPassword("The current password is wrong.")
    renewed = await application.passwords.hash(body.new.get_secret_value())
    async with application.database.session(actor.tenant_id) as session:
        await users.set_password(session, actor, user_id, renewed, actor.session_id)


class WrongPassword(NotAuthenticated):
    """The password is wrong."""


@router.get("/sessions", summary="Your sessions", **requires(VIEWER, login=True))
async def list_sessions(
    application: CurrentApplication, actor: CurrentActor, user_id: CurrentUser
) -> ResultPage[SessionSummary]:
    """List your active sessions, the latest used first; at most 200."""
    async with application.database.session(actor.tenant_id) as session:
        found = await sessions.of_user(session, user_id)
    items = [
        SessionSummary.model_validate(one).model_copy(update={"is_this": one.id == actor.session_id}) for one in found
    ]
    return ResultPage(items=items, next_cursor=None)


@router.delete(
    "/sessions/{id}", status_code=204, summary="End one of your sessions", **requires(VIEWER, 404, login=True)
)
async def end_session(
    session_id: Annotated[UUID, Path(alias="id", description="the id of the session")],
    application: CurrentApplication,
    actor: CurrentActor,
) -> None:
    """End one of your sessions at once."""
    async with application.database.session(actor.tenant_id) as session:
        await sessions.end(session, actor, session_id)


def _tokens(application: WebApplication, begun: StartedSession) -> LoginTokens:
    return LoginTokens(
        access_token=tokens.sign(application.signing_key, begun.user_id, begun.id),
        expires_in=int(tokens.LIFETIME.total_seconds()),
        refresh_token=begun.refresh_token,
        session_id=begun.id,
    )
