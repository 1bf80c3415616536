"""SQL about destinations: create, change, disable and remove them. Secrets are sealed before they are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import Text, cast, func, or_, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import BadSetting, Conflict
from scrapersky.core.secrets.vault import Vault
from scrapersky.destinations.errors import DestinationClosed
from scrapersky.destinations.kind import BadDestination, DestinationKind, Endpoint
from scrapersky.destinations.registry import KINDS
from scrapersky.models import Destination
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries.rules import checked_rule
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import DESTINATIONS

DISABLED = "The destination is disabled"  # for people; the state is `disabled_at`
BY_A_PERSON = "a person disabled it"


class DestinationNameTaken(Conflict):
    """Another destination has this name."""


class DestinationChanged(Conflict):
    """The destination was changed meanwhile."""


@dataclass(frozen=True)
class DestinationDraft:
    """The values of a new destination."""

    name: str
    kind: str
    url: str | None = None
    secret: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    rule: Mapping[str, Any] = field(default_factory=dict)


async def create(
    session: AsyncSession, actor: Actor, vault: Vault, draft: DestinationDraft
) -> tuple[Destination, str | None]:
    """Create a destination; return it and the secret that was generated for it, if one was."""
    kind = KINDS[draft.kind]
    kind.check_url(draft.url)
    generated = None if draft.secret else kind.new_secret()
    secret = draft.secret or generated
    destination = Destination(
        tenant_id=actor.tenant_id,
        name=draft.name,
        kind=draft.kind,
        url=draft.url,
        secret=vault.seal(kind.check_secret(secret)) if secret else None,
        options=kind.check_options(draft.options),
        rule=_rule_for(kind, draft.rule),
    )
    await _save(session, destination)
    await audit.record(session, actor, "create", f"destination {destination.id}", None, shown(destination))
    return destination, generated


async def change(
    session: AsyncSession,
    actor: Actor,
    vault: Vault,
    destination_id: UUID,
    changes: Mapping[str, Any],
    seen: datetime | None = None,
) -> Destination:
    """Change name, url, secret, options, rule or enabled. Enabling queues the deliveries skipped meanwhile.

    Raise DestinationChanged if another person changed it after `seen`.
    """
    destination = await _locked(session, actor, destination_id)
    if seen is not None and destination.updated_at != seen:
        raise DestinationChanged("Look at what it is now, and decide again.")
    before, kind, values = shown(destination), KINDS[destination.kind], dict(changes)
    if "url" in values:
        kind.check_url(values["url"])
    _refuse_moving_secret(destination, values)
    if secret := values.pop("secret", None):
        destination.secret = vault.seal(kind.check_secret(secret))
    if "options" in values:
        destination.options = kind.check_options(values.pop("options") or {})
    if "rule" in values:
        destination.rule = _rule_for(kind, values.pop("rule") or {})
    enabled = values.pop("enabled", None)
    for name, value in values.items():
        setattr(destination, name, value)
    if enabled is not None:
        await _enable(session, destination, enabled)
    await _save(session, destination)
    await audit.record(session, actor, "change", f"destination {destination_id}", before, shown(destination))
    return destination


def _rule_for(kind: DestinationKind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule as it is stored. Raise BadRule, or BadDestination if the kind takes no events."""
    rule = checked_rule(given)
    if rule.get("alarms") or rule.get("completions"):
        check_takes_events(kind)
    return rule


def check_takes_events(kind: DestinationKind) -> None:
    """Raise BadDestination if destinations of this kind take contacts only."""
    if not kind.takes_alarms:
        able = ", ".join(one.name for one in KINDS.values() if one.takes_alarms)
        raise BadDestination(
            f"A {kind.name} destination takes contacts only. For alarms and ends of runs use one of: {able}."
        )


def _refuse_moving_secret(destination: Destination, changes: Mapping[str, Any]) -> None:
    """Raise BadDestination if a stored key would be sent to another server than the one it was entered for."""
    is_sent = destination.secret is not None and KINDS[destination.kind].secret.generate is None
    moves = "url" in changes and _server(changes["url"]) != _server(destination.url)
    if is_sent and moves and not changes.get("secret"):
        raise BadDestination(
            "A key is sent only to the server it was entered for. Give the `secret` with the new `url`."
        )


def _server(url: str | None) -> tuple[str, str]:
    parts = urlsplit(url or "")
    return parts.scheme, parts.netloc.lower()


async def rotate(
    session: AsyncSession, actor: Actor, vault: Vault, destination_id: UUID, secret: str | None
) -> tuple[Destination, str | None]:
    """Replace the secret; return the destination and the generated secret. Two signing secrets sign until `retire`."""
    destination = await _locked(session, actor, destination_id)
    kind = KINDS[destination.kind]
    generated = None if secret else kind.new_secret()
    if not secret and generated is None:
        raise BadDestination(f"The key of a {kind.name} destination cannot be generated: give it as `secret`.")
    if kind.secret.generate is not None:
        destination.previous_secret = destination.secret
    destination.secret = vault.seal(kind.check_secret(secret or generated or ""))
    await _save(session, destination)
    await audit.record(session, actor, "rotate", f"destination {destination_id}")
    return destination, generated


async def retire(session: AsyncSession, actor: Actor, destination_id: UUID) -> Destination:
    """Remove the previous secret; raise Conflict if there is none."""
    destination = await _locked(session, actor, destination_id)
    if destination.previous_secret is None:
        raise Conflict("Only one secret is in force: there is no previous secret to retire.")
    destination.previous_secret = None
    await _save(session, destination)
    await audit.record(session, actor, "retire", f"destination {destination_id}")
    return destination


async def note_test(session: AsyncSession, actor: Actor, destination: Destination) -> None:
    """Record a test in the audit, in a transaction before something is sent: a test that hangs is recorded, too."""
    await audit.record(session, actor, "test", f"destination {destination.id}", None, {"name": destination.name})


async def remove(session: AsyncSession, actor: Actor, destination_id: UUID) -> None:
    """Delete the destination and its deliveries."""
    destination = await _locked(session, actor, destination_id)
    await audit.record(session, actor, "remove", f"destination {destination_id}", shown(destination))
    await session.delete(destination)


async def by_name(session: AsyncSession, tenant_id: UUID, name: str) -> Destination:
    """Return the destination of this name, or raise UnknownRow."""
    query = select(Destination).where(Destination.tenant_id == tenant_id, Destination.name == name)
    found = await session.scalar(query)
    if found is None:
        raise lists.UnknownRow(f"The tenant has no destination named {name[:60]!r}.")
    return found


async def named(session: AsyncSession, tenant_id: UUID, given: str) -> Destination:
    """Return the destination with this name, URL or id, or raise UnknownRow."""
    query = select(Destination).where(Destination.tenant_id == tenant_id)
    names = or_(Destination.name == given, Destination.url == given, cast(Destination.id, Text) == given.lower())
    found = await session.scalar(query.where(names).order_by(Destination.name != given, Destination.created_at))
    if found is None:
        raise lists.UnknownRow(
            f"The tenant has no destination with the name or URL {given[:60]!r}. `scrapersky destination add` adds one."
        )
    return found


def endpoint_of(destination: Any, vault: Vault, destination_id: UUID | None = None) -> Endpoint:
    """Build the endpoint of a destination with its secrets decrypted, or raise DestinationClosed."""
    sealed = (destination.secret, destination.previous_secret)
    try:
        secret, former = (SecretStr(vault.open(each)) if each else None for each in sealed)
    except BadSetting:
        raise DestinationClosed(
            "The secret was sealed with another SCRAPERSKY_SECRET_KEY. Set the `secret` of the destination again."
        ) from None
    return Endpoint(
        destination_id or destination.id, destination.kind, destination.url, secret, former, destination.options
    )


def shown(destination: Destination) -> dict[str, Any]:
    """Return what people and the audit can see: of a secret only whether it is set."""
    return {
        "name": destination.name,
        "kind": destination.kind,
        "url": destination.url,
        "secret": "set" if destination.secret else None,
        "options": destination.options,
        "rule": destination.rule,
        "enabled": destination.disabled_at is None,
    }


async def _locked(session: AsyncSession, actor: Actor, destination_id: UUID) -> Destination:
    found: Destination = await lists.get(session, DESTINATIONS, actor.tenant_id, destination_id, lock=True)
    return found


async def _save(session: AsyncSession, destination: Destination) -> None:
    session.add(destination)
    try:
        await session.flush()
    except IntegrityError:
        raise DestinationNameTaken(f"The name {destination.name!r} is in use. Choose another name.") from None
    await session.refresh(destination)


async def _enable(session: AsyncSession, destination: Destination, enabled: bool) -> None:
    if not enabled:
        destination.disabled_at = destination.disabled_at or await session.scalar(select(func.now()))
        destination.disabled_reason = destination.disabled_reason or BY_A_PERSON
        return
    await session.execute(_REQUEUE, {"id": destination.id, "since": destination.disabled_at})
    destination.disabled_at = destination.disabled_reason = None
    destination.consecutive_failures, destination.failing_since, destination.cooldown_until = 0, None, None


# While a destination is disabled, every delivery to it is skipped; one that has another reason, too, is skipped again.
_REQUEUE = text("""
UPDATE delivery SET delivery_status = 'Queued', updated_at = now()
WHERE destination_id = :id AND delivery_status = 'Skipped' AND updated_at >= cast(:since AS timestamptz)""")
