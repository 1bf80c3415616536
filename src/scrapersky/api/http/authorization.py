"""The one door: every route declares who may, and learns from the door who asks. No declaration, no way in."""

import hmac
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from starlette.datastructures import Headers

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.core import tokens
from scrapersky.core.errors import NotAuthenticated, NotAuthorized
from scrapersky.core.roles import SCOPE_OF, Role, scopes_cover
from scrapersky.store.accounts import authenticate as identities
from scrapersky.store.accounts.authenticate import Identity
from scrapersky.store.audit.record import Actor

PUBLIC = "anyone"
VIEWER, CURATOR, OPERATOR, ADMIN = Role
SCHEME = {"bearer": {"type": "http", "scheme": "bearer", "description": "a token of a login, or a key `ssk_...`"}}


def requires(
    role: Role, *, operators: bool = False, login: bool = False, developer: Role | None = None, scraper: bool = False
) -> dict[str, Any]:
    """Who may use a route, as its `openapi_extra`: this role of any tenant, or of the house's tenant only.

    `login` refuses keys: what they could do with it would outlive them. In development `developer` of the house will
    do as well; `scraper` lets the metrics token in, without the database.
    """
    declared: dict[str, Any] = {"x-role": role.value, "x-operators": operators, "security": [{"bearer": []}]}
    if login:
        declared["x-login"] = True
    if developer:
        declared["x-developer"] = developer.value
    if scraper:
        declared["x-scraper"] = True
    return declared


def public() -> dict[str, Any]:
    """A route that asks nobody who they are."""
    return {"x-role": PUBLIC, "x-operators": False, "security": []}


def add_security_scheme(described: dict[str, Any]) -> dict[str, Any]:
    """The description with the one way of saying who one is."""
    described.setdefault("components", {})["securitySchemes"] = SCHEME
    return described


async def authenticate(request: Request, application: CurrentApplication) -> Actor | None:
    """Whoever asks, or nobody where nobody is asked; NotKnown and NotAllowed end the request here."""
    request.scope["was_at_door"] = True
    declared = getattr(request.scope.get("route"), "openapi_extra", None) or {}
    if declared.get("x-role") == PUBLIC:
        return None
    credential = _credential(request.headers)
    if declared.get("x-scraper") and _is_scraper(application, credential):
        return None
    known = await _identify(application, credential)
    _check(declared, known, application.settings.environment == "development")
    if known.is_stale:
        async with application.database.session(known.tenant_id) as session:
            await identities.record_use(session, known)
    return _actor(request, known)


async def authenticate_first(request: Request) -> None:
    """The door for whatever failed on its way there: strangers learn nothing about what they sent to a closed route."""
    if "route" in request.scope and "was_at_door" not in request.scope:
        await authenticate(request, request.app.state.application)


OptionalActor = Annotated[Actor | None, Depends(authenticate)]  # nobody, where nobody is asked


async def current_actor(actor: OptionalActor) -> Actor:
    """Whoever asks, for the routes that want to know."""
    if actor is None:
        raise NotAuthenticated("This needs somebody.")
    return actor


CurrentActor = Annotated[Actor, Depends(current_actor)]


async def current_user(actor: CurrentActor) -> UUID:
    """The user behind the token or the key."""
    if actor.user_id is None:
        raise NotAuthenticated("This needs a user.")
    return actor.user_id


CurrentUser = Annotated[UUID, Depends(current_user)]


async def check_credential(headers: Headers, application: WebApplication) -> None:
    """NotKnown for whoever could not pass the door of any route that asks who it is."""
    await _identify(application, _credential(headers))


def _credential(headers: Headers) -> str:
    given = headers.getlist("authorization")
    scheme, _, credential = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not credential:
        raise NotAuthenticated("Send a token or a key as `Authorization: Bearer`.")
    return credential.strip()


def _is_scraper(application: WebApplication, credential: str) -> bool:
    token = application.settings.metrics_token
    return token is not None and hmac.compare_digest(credential.encode(), token.get_secret_value().encode())


async def _identify(application: WebApplication, credential: str) -> Identity:
    key = tokens.split_key(credential)
    claims = None if key else tokens.verify(application.signing_key, credential)  # without the database
    async with application.database.engine_connection() as connection:
        if key:
            known = await identities.by_key(connection, key[0])
        elif claims:
            known = await identities.by_session(connection, claims.session_id, claims.user_id)
    if known is None or (key and not tokens.matches(key[1], known.secret_hash)):
        raise NotAuthenticated(tokens.NOT_VALID)
    return known


def _check(declared: dict[str, Any], known: Identity, in_development: bool) -> None:
    word = declared.get("x-role")
    if word is None:
        raise NotAuthorized("This route does not say who may use it, so nobody may.")
    if in_development and known.is_operator:
        word = declared.get("x-developer", word)
    needed = Role(word)
    if declared["x-operators"] and not known.is_operator:
        raise NotAuthorized("This is for those who run the house.")
    if not Role(known.role).covers(needed):
        raise NotAuthorized(f"This needs the role {needed}; yours is {known.role}.")
    if known.key_id and declared.get("x-login"):
        raise NotAuthorized("A key may not do this: log in with your password.")
    if known.scopes is not None and not scopes_cover(known.scopes, needed):
        raise NotAuthorized(f"This needs a key with the scope {SCOPE_OF[needed]}.")


def _actor(request: Request, known: Identity) -> Actor:
    origin = request.client.host if request.client else "local socket"
    return Actor(
        known.name,
        known.tenant_id,
        known.role,
        f"api {origin} key {known.prefix}" if known.key_id else f"api {origin}",
        known.user_id,
        request.scope.get("request_id"),
        known.session_id,
        known.key_id,
        known.scopes,
        known.is_operator,
    )
