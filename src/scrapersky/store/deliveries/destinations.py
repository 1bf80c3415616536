"""Named queries about destinations: make, change, disable and remove them; their secrets go in sealed and stay so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import BadRequest, Conflict
from scrapersky.core.vault import Vault
from scrapersky.destinations import webhook_signature
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.options import checked_options
from scrapersky.models import Destination
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries.outbox import opened
from scrapersky.store.deliveries.rules import checked_rule
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import DESTINATIONS

WITH_ADDRESS = ("webhook", "n8n")  # kinds that are nowhere without a URL
WITH_KEY = ("hubspot", "brevo")  # kinds that say nothing without a key
MAX_SECRET_LENGTH = 2_000


class BadDestination(BadRequest):
    """The destination lacks something."""

    status_code = 422


class NameTaken(Conflict):
    """There is a destination of this name already."""


@dataclass(frozen=True)
class Wanted:
    """A destination as somebody describes it."""

    name: str
    kind: str
    url: str | None = None
    secret: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: Mapping[str, Any] = field(default_factory=dict)


async def create(session: AsyncSession, actor: Actor, vault: Vault, wanted: Wanted) -> tuple[Destination, str | None]:
    """The destination, and the secret that was made for it, if one was: it is shown this once."""
    if wanted.kind in WITH_ADDRESS and not wanted.url:
        raise BadDestination(f"A {wanted.kind} destination needs the `url` that it is reached at.")
    if wanted.kind in WITH_KEY and not wanted.secret:
        raise BadDestination(f"A {wanted.kind} destination needs a `secret`: its access token or API key.")
    made = webhook_signature.new_secret() if wanted.kind == "webhook" and not wanted.secret else None
    secret = made or wanted.secret
    destination = Destination(
        tenant_id=actor.tenant_id,
        name=wanted.name,
        kind=wanted.kind,
        url=wanted.url,
        secret=vault.seal(checked_secret(wanted.kind, secret)) if secret else None,
        options=checked_options(wanted.kind, wanted.options),
        rule=checked_rule(wanted.rule),
    )
    await _keep(session, destination)
    await audit.record(session, actor, "create", f"destination {destination.id}", None, shown(destination))
    return destination, made


async def change(
    session: AsyncSession, actor: Actor, vault: Vault, destination_id: UUID, changes: Mapping[str, Any]
) -> Destination:
    """Write some of it anew: name, url, secret, options, rule, enabled. Enabling queues what was skipped meanwhile."""
    destination = await _locked(session, actor, destination_id)
    before = shown(destination)
    given = dict(changes)
    if given.get("url", "") is None and destination.kind in WITH_ADDRESS:
        raise BadDestination(f"A {destination.kind} destination needs the `url` that it is reached at.")
    _refuse_moving_key(destination, given)
    if secret := given.pop("secret", None):
        destination.secret = vault.seal(checked_secret(destination.kind, secret))
    if "options" in given:
        destination.options = checked_options(destination.kind, given.pop("options") or {})
    if "rule" in given:
        destination.rule = checked_rule(given.pop("rule") or {})
    enabled = given.pop("enabled", None)
    for name, value in given.items():
        setattr(destination, name, value)
    if enabled is not None:
        await _enable(session, destination, enabled)
    await _keep(session, destination)
    await audit.record(session, actor, "change", f"destination {destination_id}", before, shown(destination))
    return destination


def _refuse_moving_key(destination: Destination, changes: Mapping[str, Any]) -> None:
    """Whoever may change an address shall not learn the key by having it sent to a server of their own."""
    is_sent = destination.secret is not None and destination.kind != "webhook"  # a web hook only signs with it
    moves = "url" in changes and _server(changes["url"]) != _server(destination.url)
    if is_sent and moves and not changes.get("secret"):
        raise BadDestination("Its key goes only to the server it was entered for. Give the `secret` anew as well.")


def _server(url: str | None) -> tuple[str, str]:
    parts = urlsplit(url or "")
    return parts.scheme, parts.netloc.lower()


async def rotate(
    session: AsyncSession, actor: Actor, vault: Vault, destination_id: UUID, secret: str | None
) -> tuple[Destination, str | None]:
    """A new secret. A web hook is signed with both until `retire`, so that no message is lost on the way."""
    destination = await _locked(session, actor, destination_id)
    if not secret and destination.kind != "webhook":
        raise BadDestination(f"Only {destination.kind} itself can make its key: give it as `secret`.")
    made = None if secret else webhook_signature.new_secret()
    if destination.kind == "webhook":
        destination.former_secret = destination.secret
    destination.secret = vault.seal(checked_secret(destination.kind, secret or made or ""))
    await _keep(session, destination)
    await audit.record(session, actor, "rotate", f"destination {destination_id}")
    return destination, made


async def retire(session: AsyncSession, actor: Actor, destination_id: UUID) -> Destination:
    """The former secret signs no more."""
    destination = await _locked(session, actor, destination_id)
    if destination.former_secret is None:
        raise Conflict("Only one secret is in force.")
    destination.former_secret = None
    await _keep(session, destination)
    await audit.record(session, actor, "retire", f"destination {destination_id}")
    return destination


async def remove(session: AsyncSession, actor: Actor, destination_id: UUID) -> None:
    """Remove it with all that is known of its deliveries."""
    destination = await _locked(session, actor, destination_id)
    await audit.record(session, actor, "remove", f"destination {destination_id}", shown(destination))
    await session.delete(destination)


async def by_name(session: AsyncSession, tenant_id: UUID, name: str) -> Destination:
    """The destination of this name or id, or UnknownRow."""
    wanted = select(Destination).where(Destination.tenant_id == tenant_id, Destination.name == name)
    found = await session.scalar(wanted)
    if found is None:
        raise lists.UnknownRow(f"{name[:60]!r} is none of your destinations.")
    return found


def address(destination: Destination, vault: Vault) -> Endpoint:
    """Where it is, with its secrets opened."""
    return opened(destination.id, destination, vault)


def shown(destination: Destination) -> dict[str, Any]:
    """What people and the audit may see: a secret is there or not."""
    return {
        "name": destination.name,
        "kind": destination.kind,
        "url": destination.url,
        "secret": "set" if destination.secret else None,
        "options": destination.options,
        "rule": destination.rule,
        "enabled": destination.disabled_at is None,
    }


def checked_secret(kind: str, secret: str) -> str:
    """A secret that can be sent or signed with."""
    plain = secret.strip()
    if not plain or len(plain) > MAX_SECRET_LENGTH or not (plain.isascii() and plain.isprintable()):
        raise BadDestination("The secret has characters that no key has, or is too long. Copy it again.")
    if kind == "webhook":
        webhook_signature.key_of(plain)
    return plain


async def _locked(session: AsyncSession, actor: Actor, destination_id: UUID) -> Destination:
    found: Destination = await lists.get(session, DESTINATIONS, actor.tenant_id, destination_id, lock=True)
    return found


async def _keep(session: AsyncSession, destination: Destination) -> None:
    session.add(destination)
    try:
        await session.flush()
    except IntegrityError:
        raise NameTaken(f"Another destination is called {destination.name!r}. Choose another name.") from None
    await session.refresh(destination)


async def _enable(session: AsyncSession, destination: Destination, enabled: bool) -> None:
    if not enabled:
        destination.disabled_at = destination.disabled_at or await session.scalar(select(func.now()))
        destination.disabled_why = destination.disabled_why or "a person disabled it"
        return
    destination.disabled_at = destination.disabled_why = None
    destination.failures, destination.failing_since, destination.resting_until = 0, None, None
    await session.execute(_REQUEUE, {"id": destination.id})


_REQUEUE = text("""
UPDATE delivery SET delivery_status = 'Queued', updated_at = now()
WHERE destination_id = :id AND delivery_status = 'Skipped' AND delivery_error LIKE 'The destination is disabled%'""")
