"""Rate limits of actors, addresses and logins: token buckets in the database, shared by all processes."""

import asyncio
import hashlib
import math
import time
from collections.abc import Mapping

import structlog
from fastapi import Request
from starlette.types import Scope

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OptionalActor
from scrapersky.api.http.browser_cookie import PART, STATIC, is_console_path
from scrapersky.api.http.client_address import client_network
from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import RateLimited
from scrapersky.store.shared import rate_limits
from scrapersky.store.shared.rate_limits import BucketState

log = structlog.get_logger(__name__)

MAX_REFUSED_KEYS = 10_000  # remembered by one process
MAX_DELAYED, DELAY_SECONDS = 1_000, 1.0  # responses that are delayed at once, and for how long
PARTS_FACTOR = 10  # live parts of open pages have buckets of their own, which are so much larger
UNLIMITED_PATHS = ("/health/live", "/health/ready", "/metrics")  # monitoring must always get a response


async def limit_address(scope: Scope, application: WebApplication) -> None:
    """Count a request of this address. Raises RateLimited. Runs before authentication."""
    await _limit(scope, application, "address", client_network(scope), application.settings.rate_limit_per_ip)


async def limit_actor(request: Request, application: CurrentApplication, actor: OptionalActor) -> None:
    """Count a request of this API key, or of this user in any session. Raises RateLimited."""
    if actor is not None:
        key = str(actor.key_id or actor.user_id)
        await _limit(request.scope, application, "key", key, application.settings.rate_limit_per_key)


async def limit_login(scope: Scope, application: WebApplication, account: str) -> None:
    """Count a login attempt of this address, and of this account from this address. Raises RateLimited.

    This runs before the password is checked. An account is never counted alone: its owner must be able to log in while
    others guess. Accounts that do not exist are counted as well. The account is stored as a hash only.
    """
    settings, network = application.settings, client_network(scope)
    hashed = hashlib.sha256(account.strip().lower().encode()).hexdigest()
    await _limit(scope, application, "login-from", network, settings.login_rate_limit_per_ip)
    await _limit(scope, application, "login", f"{hashed}:{network}", settings.login_rate_limit_per_account)


def rate_headers(scope: Scope) -> Mapping[str, str]:
    """Return the RateLimit header fields for the buckets that this request was counted in."""
    seen: dict[str, tuple[float, BucketState]] = scope.get("rates", {})
    if not seen:
        return {}
    policies = (f'"{name}";q={per_minute:.0f};w=60' for name, (per_minute, _) in seen.items())
    left = (
        f'"{name}";r={max(0, math.floor(standing.left))};t={math.ceil(standing.wait)}'
        for name, (_, standing) in seen.items()
    )
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


class RefusedKeys:
    """The keys that must wait, in the memory of this process: until then they are refused without the database."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._delayed = 0

    def seconds_left(self, key: str) -> float:
        """Return the seconds that this key must still wait."""
        left = self._until.get(key, 0) - time.monotonic()
        if left <= 0:
            self._until.pop(key, None)
        return max(0.0, left)

    async def delay(self, seconds: float) -> None:
        """Delay the response to a client that does not wait, so that a flood slows down its sender."""
        if self._delayed >= MAX_DELAYED:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(min(seconds, DELAY_SECONDS))
        finally:
            self._delayed -= 1

    def refuse(self, key: str, seconds: float) -> None:
        """Refuse this key for so many seconds: its bucket has no token before."""
        if len(self._until) >= MAX_REFUSED_KEYS:
            self._until.clear()
        self._until[key] = time.monotonic() + seconds


async def _limit(scope: Scope, application: WebApplication, limit: str, name: str, per_minute: float) -> None:
    if not per_minute or scope["path"] in UNLIMITED_PATHS or scope["path"].startswith(STATIC):
        return
    if _requests_part(scope):
        limit, per_minute = f"{limit}-parts", per_minute * PARTS_FACTOR
    refused: RefusedKeys = scope["app"].state.refused_keys
    key = f"{limit}:{name}"
    left = refused.seconds_left(key)
    standing = BucketState(left, 0) if left else await _spend(application.database, key, per_minute)
    if standing is None:
        return
    scope.setdefault("rates", {})[limit] = (per_minute, standing)
    if standing.wait:
        if left:
            await refused.delay(left)
        else:
            log.warning(
                "rate_limit_exceeded", limit=limit, address=client_network(scope), wait_seconds=round(standing.wait, 1)
            )
            refused.refuse(key, standing.wait)
        raise RateLimited(f"Wait {max(1, math.ceil(standing.wait))} seconds before the next request.", standing.wait)


def _requests_part(scope: Scope) -> bool:
    """Return whether an open page of the console requests one of its parts again; several tabs do so every second."""
    is_header_sent = any(name == PART.encode() for name, _ in scope["headers"])
    return is_header_sent and scope["method"] == "GET" and is_console_path(scope["path"])


async def _spend(database: Database, key: str, per_minute: float) -> BucketState | None:
    """Take a token from a bucket that holds one minute's worth; None if the database is unavailable."""
    try:
        async with database.engine_connection() as connection:
            return await rate_limits.take_tokens(connection, key, per_minute, burst=per_minute)
    except Exception as error:
        if not is_connection_error(error):
            raise
        log.warning("rate_limit_unavailable", error=type(error).__name__)
        return None
