"""Authentication and authorization. Each route declares the role it requires; without a declaration it is closed."""

import hmac
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.types import Scope

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http import browser_cookie
from scrapersky.api.http.problems import Responses, problems
from scrapersky.core.errors import NotAuthenticated, NotAuthorized
from scrapersky.core.roles import SCOPE_OF, Role, scopes_cover
from scrapersky.core.secrets import tokens
from scrapersky.store.accounts import authenticate as identities
from scrapersky.store.accounts.authenticate import Identity
from scrapersky.store.audit.record import Actor

PUBLIC = "anyone"
VIEWER, CURATOR, OPERATOR, ADMIN = Role
SCHEME = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "the access token of a session, or a key `ssk_...`"}
}


def requires(
    role: Role,
    *codes: int,
    operators: bool = False,
    login: bool = False,
    developer: Role | None = None,
    scraper: bool = False,
    browser: bool = False,
    responses: Responses | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Return the arguments of a route that needs this role in any tenant, and responds with problems of these codes.

    `operators` restricts the route to the operator tenant. `login` refuses API keys: the effect of the route would
    outlive a revoked key. In development `developer` of the operator tenant is enough. `scraper` also accepts the
    metrics token, which is checked without the database. `browser` accepts the cookie of a login in a browser and
    nothing else. `extra` is added to the OpenAPI description.
    """
    declared: dict[str, Any] = {"x-role": role.value, "x-operators": operators, "security": [{"bearer": []}]}
    if login:
        declared["x-login"] = True
    if developer:
        declared["x-developer"] = developer.value
    if scraper:
        declared["x-scraper"] = True
    if browser:
        declared["x-browser"] = True
    return {"openapi_extra": declared | extra, "responses": {**problems(*codes), **(responses or {})}}


def public(*codes: int, responses: Responses | None = None) -> dict[str, Any]:
    """Return the arguments of a route that needs no credential, and responds with problems of these codes."""
    declared = {"x-role": PUBLIC, "x-operators": False, "security": []}
    return {"openapi_extra": declared, "responses": {**problems(*codes), **(responses or {})}}


def add_security_scheme(described: dict[str, Any]) -> dict[str, Any]:
    """Add the security scheme to the OpenAPI description."""
    described.setdefault("components", {})["securitySchemes"] = SCHEME
    return described


async def authenticate(request: Request, application: CurrentApplication) -> Actor | None:
    """Return the actor of the request, or None on a public route. Raises NotAuthenticated or NotAuthorized."""
    request.scope["authentication_ran"] = True
    declared = getattr(request.scope.get("route"), "openapi_extra", None) or {}
    if declared.get("x-role") == PUBLIC:
        return None
    if declared.get("x-browser"):
        identity = await _identify_browser(application, request.scope, request.headers)
    else:
        credential = _credential(request.headers)
        if declared.get("x-scraper") and _is_metrics_token(application, credential):
            return None
        identity = await _identify(application, credential)
    request.scope["identity"] = identity
    _check(declared, identity, application.settings.environment == "development")
    if identity.is_stale:
        async with application.database.session(identity.tenant_id) as session:
            await identities.record_use(session, identity)
    return actor_of(request, identity, "console" if declared.get("x-browser") else "api")


async def authenticate_first(request: Request) -> None:
    """Authenticate a request that failed before authentication, so that it learns nothing about a closed route."""
    if "route" in request.scope and "authentication_ran" not in request.scope:
        await authenticate(request, request.app.state.application)


OptionalActor = Annotated[Actor | None, Depends(authenticate)]  # None on public routes


async def current_actor(actor: OptionalActor) -> Actor:
    """Return the actor of a route that requires one."""
    if actor is None:
        raise NotAuthenticated("This route needs an access token or an API key.")
    return actor


CurrentActor = Annotated[Actor, Depends(current_actor)]


async def current_user(actor: CurrentActor) -> UUID:
    """Return the id of the user to whom the token or the key belongs."""
    if actor.user_id is None:
        raise NotAuthenticated("This route needs the credential of a user.")
    return actor.user_id


CurrentUser = Annotated[UUID, Depends(current_user)]


async def check_credential(scope: Scope, headers: Headers, application: WebApplication) -> None:
    """Raise NotAuthenticated unless the request carries a valid credential: a cookie counts for the console only."""
    if browser_cookie.is_console_path(scope["path"]):
        await _identify_browser(application, scope, headers)
    else:
        await _identify(application, _credential(headers))


def _credential(headers: Headers) -> str:
    sent = headers.getlist("authorization")
    scheme, _, credential = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not credential:
        raise NotAuthenticated("Send an access token or an API key as `Authorization: Bearer`.")
    return credential.strip()


def _is_metrics_token(application: WebApplication, credential: str) -> bool:
    token = application.settings.metrics_token
    return token is not None and hmac.compare_digest(credential.encode(), token.get_secret_value().encode())


async def _identify(application: WebApplication, credential: str) -> Identity:
    key = tokens.split_key(credential)
    claims = None if key else tokens.verify(application.signing_key, credential)  # without the database
    async with application.database.engine_connection() as connection:
        if key:
            identity = await identities.by_key(connection, key[0])
        elif claims:
            identity = await identities.by_session(connection, claims.session_id, claims.user_id)
    if identity is None or (key and not tokens.matches(key[1], identity.secret_hash)):
        raise NotAuthenticated(tokens.NOT_VALID)
    return identity


async def _identify_browser(application: WebApplication, scope: Scope, headers: Headers) -> Identity:
    secret = browser_cookie.secret_of(scope, headers)
    if secret is not None:
        async with application.database.engine_connection() as connection:
            if identity := await identities.by_browser(connection, secret):
                return identity
    raise NotAuthenticated("Log in: this browser has no valid login.")


def _check(declared: dict[str, Any], identity: Identity, in_development: bool) -> None:
    role = declared.get("x-role")
    if role is None:
        raise NotAuthorized("This route declares no role, so it is closed.")
    if in_development and identity.is_operator:
        role = declared.get("x-developer", role)
    needed = Role(role)
    if declared["x-operators"] and not identity.is_operator:
        raise NotAuthorized("Only users of the operator tenant may do this.")
    if not Role(identity.role).covers(needed):
        raise NotAuthorized(f"This needs the role {needed}; yours is {identity.role}.")
    if identity.key_id and declared.get("x-login"):
        raise NotAuthorized("An API key may not do this: log in with your password.")
    if identity.scopes is not None and not scopes_cover(identity.scopes, needed):
        raise NotAuthorized(f"This needs a key with the scope {SCOPE_OF[needed]}.")


def actor_of(request: Request, identity: Identity, client: str) -> Actor:
    """Return the actor of a request, which comes through the console or the API."""
    address = request.client.host if request.client else "local socket"
    return Actor(
        identity.name,
        identity.tenant_id,
        identity.role,
        f"{client} {address} key {identity.prefix}" if identity.key_id else f"{client} {address}",
        identity.user_id,
        request.scope.get("request_id"),
        identity.session_id,
        identity.key_id,
        identity.scopes,
        identity.is_operator,
    )
