"""How fast one may ask: so much a minute for a caller, so much for an address, the same buckets for all processes."""

import asyncio
import hashlib
import math
import time
from collections.abc import Mapping
from typing import Annotated

import structlog
from fastapi import Depends, Request
from starlette.types import Scope

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import authenticate
from scrapersky.api.http.client_address import client_network
from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import RateLimited
from scrapersky.store.audit.record import Actor
from scrapersky.store.shared import rate_limits
from scrapersky.store.shared.rate_limits import Standing

log = structlog.get_logger(__name__)

MAX_REFUSED_KEYS = 10_000  # remembered by one process
MAX_DELAYED, DELAY_SECONDS = 1_000, 1.0  # answers that are held back, and for how long
UNLIMITED_PATHS = ("/health/live", "/health/ready", "/metrics")  # whoever watches over us must always be answered


async def limit_address(scope: Scope, application: WebApplication) -> None:
    """The first turnstile, before anybody is asked who he is."""
    await _admit(scope, application, "address", client_network(scope), application.settings.rate_limit_per_ip)


async def limit_actor(
    request: Request, application: CurrentApplication, actor: Annotated[Actor | None, Depends(authenticate)]
) -> None:
    """The second one: an API key or a user, from whatever address and however often logged in."""
    if actor is not None:
        await _admit(
            request.scope,
            application,
            "key",
            str(actor.key_id or actor.user_id),
            application.settings.rate_limit_per_key,
        )


async def limit_login(scope: Scope, application: WebApplication, account: str) -> None:
    """Before a password is looked at: TooMany if this account or this address was tried too often.

    An account that does not exist is counted like one that does. Only a hash of its name is kept.
    """
    settings = application.settings
    hashed = hashlib.sha256(account.strip().lower().encode()).hexdigest()
    await _admit(scope, application, "login-from", client_network(scope), settings.login_rate_limit_per_ip)
    await _admit(scope, application, "login", hashed, settings.login_rate_limit_per_account)


def rate_headers(scope: Scope) -> Mapping[str, str]:
    """What the buckets of a request say, in the words of the RateLimit header fields."""
    seen: dict[str, tuple[float, Standing]] = scope.get("rates", {})
    if not seen:
        return {}
    policies = (f'"{name}";q={per_minute:.0f};w=60' for name, (per_minute, _) in seen.items())
    left = (
        f'"{name}";r={max(0, math.floor(standing.left))};t={math.ceil(standing.wait)}'
        for name, (_, standing) in seen.items()
    )
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


class RefusedKeys:
    """Who was told to wait, and until when: until then this process need not ask the database again."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._held = 0

    def left(self, key: str) -> float:
        """Seconds that this key must still wait."""
        left = self._until.get(key, 0) - time.monotonic()
        if left <= 0:
            self._until.pop(key, None)
        return max(0.0, left)

    async def hold(self, seconds: float) -> None:
        """Whoever does not wait by himself is kept waiting: a flood then costs its sender, and nobody beside it."""
        if self._held >= MAX_DELAYED:
            return
        self._held += 1
        try:
            await asyncio.sleep(min(seconds, DELAY_SECONDS))
        finally:
            self._held -= 1

    def keep(self, key: str, seconds: float) -> None:
        """A bucket gives nothing before it has filled, whatever happens elsewhere."""
        if len(self._until) >= MAX_REFUSED_KEYS:
            self._until.clear()
        self._until[key] = time.monotonic() + seconds


async def _admit(scope: Scope, application: WebApplication, name: str, who: str, per_minute: float) -> None:
    if not per_minute or scope["path"] in UNLIMITED_PATHS:
        return
    waits: RefusedKeys = scope["app"].state.waits
    key = f"{name}:{who}"
    standing = Standing(left, 0) if (left := waits.left(key)) else await _spend(application.database, key, per_minute)
    if standing is None:
        return
    scope.setdefault("rates", {})[name] = (per_minute, standing)
    if standing.wait:
        if left:
            await waits.hold(left)
        else:
            log.warning("rate_limit_exceeded", limit=name, wait_seconds=round(standing.wait, 1))
            waits.keep(key, standing.wait)
        raise RateLimited(f"Wait {max(1, math.ceil(standing.wait))} seconds before you ask again.", standing.wait)


async def _spend(database: Database, key: str, per_minute: float) -> Standing | None:
    """A minute's worth may be asked at once. None while the database is away: what is asked will say so itself."""
    try:
        async with database.engine_connection() as connection:
            return await rate_limits.spend(connection, key, per_minute, burst=per_minute)
    except Exception as error:
        if not is_connection_error(error):
            raise
        log.warning("rate_limit_unavailable", error=type(error).__name__)
        return None
