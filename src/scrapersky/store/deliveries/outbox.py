"""What the delivery of one contact needs, read in a short session that is closed before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.batcher import Batcher
from scrapersky.core.contact_fields import DELIVERED_FIELDS
from scrapersky.core.database import Database
from scrapersky.core.secrets.vault import Vault
from scrapersky.core.vocabularies import CAMPAIGN, Curation
from scrapersky.destinations.concurrency import SLOW
from scrapersky.destinations.errors import DestinationClosed
from scrapersky.destinations.kind import Endpoint
from scrapersky.destinations.payload import PAYLOAD_KEYS, ContactPayload, Event, Message
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.deliveries.destinations import BY_A_PERSON, endpoint_of
from scrapersky.store.leads.merged_business import any_record, is_repeated
from scrapersky.store.steps import is_of_rejected
from scrapersky.store.withheld import BUSINESS_PHONE, is_withheld

MAX_LOADED = 500  # deliveries of one statement
REJECTED = (Curation.NOT_A_FIT, Curation.ARCHIVED)
MAX_FAILING_DAYS = 3  # a destination that accepts nothing for so long is disabled
# After so many failures in a row the cooldown begins, and doubles with each further failure.
FREE_FAILURES, FIRST_COOLDOWN_SECONDS, MAX_COOLDOWN_SECONDS = 3, 5.0, 300.0
NOTHING_ACCEPTED = f"The destination accepted nothing for {MAX_FAILING_DAYS} days. Enable it when it works again."
IN_COOLDOWN = "The destination failed and is in its cooldown."


@dataclass(frozen=True)
class PendingDelivery:
    """A delivery at the moment before it is sent."""

    endpoint: Endpoint
    message: Message | Event | None  # None: the contact has neither an email address nor a phone number
    accepted: str | None  # the fingerprint of what the destination has accepted
    is_suppressed: bool
    is_rejected: bool
    is_repeated: bool  # another contact of the same business has its address
    disabled_reason: str | None
    cooldown: timedelta | None
    failure: str  # why its last attempt failed; empty before the first one


class Outbox:
    """Reads pending deliveries and records failures of destinations, each in its own transaction."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self._loaders: dict[UUID, Batcher[UUID, PendingDelivery | None]] = {}

    async def load(self, tenant_id: UUID, delivery_id: UUID) -> PendingDelivery | None:
        """Return the delivery with its contact and its destination; None if it does not exist any more."""
        if tenant_id not in self._loaders:
            self._loaders[tenant_id] = Batcher(partial(self._load, tenant_id), key=str, max_size=MAX_LOADED)
        return await self._loaders[tenant_id].add(delivery_id)

    async def _load(self, tenant_id: UUID, ids: Sequence[UUID]) -> Sequence[PendingDelivery | Exception | None]:
        """Read many deliveries by one statement, so that a batch does not wait for one connection after another."""
        async with self._database.session(tenant_id) as session:
            rows = list(await session.execute(_LOAD, {"ids": list(ids), "tenant": tenant_id}))
            if len(rows) < len(ids):
                rows += await session.execute(_LOAD_RUNS, {"ids": list(ids), "tenant": tenant_id})
        found = {row.delivery_id: self._read(row) for row in rows}
        return [found.get(delivery_id) for delivery_id in ids]

    def _read(self, row: Row[Any]) -> PendingDelivery | DestinationClosed:
        try:
            return _pending_event(row, self._vault) if "run_id" in row._mapping else _pending(row, self._vault)
        except DestinationClosed as closed:
            return closed

    async def disable(self, tenant_id: UUID, destination_id: UUID, why: str) -> None:
        """Disable the destination; a person has to enable it again."""
        async with self._database.session(tenant_id) as session:
            await self._disable(session, tenant_id, destination_id, why)

    async def record_failure(self, tenant_id: UUID, destination_id: UUID, wait: timedelta | None) -> None:
        """Count a failure, start a cooldown on all hosts, and disable the destination after days of failures."""
        values = {
            "id": destination_id,
            "tenant": tenant_id,
            "wait": wait.total_seconds() if wait else 0.0,
            "free_failures": FREE_FAILURES,
            "first": FIRST_COOLDOWN_SECONDS,
            "max": MAX_COOLDOWN_SECONDS,
            "days": MAX_FAILING_DAYS,
        }
        async with self._database.session(tenant_id) as session:
            if await session.scalar(_RECORD_FAILURE, values):
                await self._disable(session, tenant_id, destination_id, NOTHING_ACCEPTED)

    async def _disable(self, session: AsyncSession, tenant_id: UUID, destination_id: UUID, why: str) -> None:
        if await session.scalar(_DISABLE, {"id": destination_id, "tenant": tenant_id, "why": why}):
            user_id = self._database.system_user_id
            actor = Actor("scrapersky", tenant_id, role="operator", origin="delivery", user_id=user_id)
            await audit.record(session, actor, "disable", f"destination {destination_id}", None, {"why": why})


async def record_success(session: AsyncSession, destination_ids: Sequence[UUID]) -> None:
    """Reset the failures of destinations that accepted something."""
    await session.execute(_RECORD_SUCCESS, {"ids": list(destination_ids)})


def _pending(row: Row[Any], vault: Vault) -> PendingDelivery:
    is_disabled = row.disabled_at is not None
    return PendingDelivery(
        Endpoint(row.destination_id, row.kind) if is_disabled else endpoint_of(row, vault, row.destination_id),
        Message(row.delivery_id, _payload(row), row.options, row.delivered_at) if row.email or row.phone else None,
        row.fingerprint,
        row.is_withheld,
        row.curation_status in REJECTED or row.is_of_rejected or row.merged_into_id is not None,
        row.is_repeated,
        (row.disabled_reason or BY_A_PERSON) if is_disabled else None,
        timedelta(seconds=row.cooldown_seconds) if row.cooldown_seconds and row.cooldown_seconds > 0 else None,
        failure_of(row.delivery_error),
    )


def _pending_event(row: Row[Any], vault: Vault) -> PendingDelivery:
    is_disabled = row.disabled_at is not None
    return PendingDelivery(
        Endpoint(row.destination_id, row.kind) if is_disabled else endpoint_of(row, vault, row.destination_id),
        Event("search.completed", f"run_{row.run_id.hex}", _facts_of_run(row)),
        row.fingerprint,
        is_suppressed=False,
        is_rejected=False,
        is_repeated=False,
        disabled_reason=(row.disabled_reason or BY_A_PERSON) if is_disabled else None,
        cooldown=timedelta(seconds=row.cooldown_seconds) if row.cooldown_seconds and row.cooldown_seconds > 0 else None,
        failure=failure_of(row.delivery_error),
    )


def failure_of(error: str | None) -> str:
    """Return why the last attempt of a delivery failed, without that it has waited for its destination since."""
    why = (error or "").partition(IN_COOLDOWN)[0].strip()
    return "" if why.startswith(SLOW) else why


def _facts_of_run(row: Row[Any]) -> dict[str, Any]:
    """Return what the event says about a run; empty numbers are not known."""
    is_campaign = row.provider == CAMPAIGN
    leads = f"/api/v3/{'campaigns' if is_campaign else 'searches'}/{row.search_id}/leads"
    ended = "complete" if row.is_whole else "incomplete"
    if not row.is_complete:
        ended = "superseded"
    elif row.cancelled_by is not None:
        ended = "cancelled"
    return {
        "search_id": str(row.search_id),
        "kind": "campaign" if is_campaign else "search",
        "text": row.text,
        "area": row.area,
        "name": row.name,
        "run": row.number,
        "began_at": row.began_at.isoformat(),
        "ended_at": row.ended_at.isoformat(),
        "ended": ended,
        "notes": row.notes,
        "found": row.found,
        "businesses": (row.counts or {}).get("businesses"),
        "contacts": (row.counts or {}).get("contacts"),
        "files": {form: f"{leads}.{form}" for form in ("csv", "xlsx", "jsonl")},
    }


def _payload(row: Row[Any]) -> ContactPayload:
    return ContactPayload(row.contact_id, row.email, {key: getattr(row, key) for key in PAYLOAD_KEYS} | _fallbacks(row))


def _fallbacks(row: Row[Any]) -> dict[str, Any]:
    """Return the values that the business or the web site gives where the contact has none."""
    return {
        "phone": row.phone or row.business_phone,
        "address": row.address or row.business_address,
        "business": row.business or row.domain_title,
        "website": row.website or row.final_url,
    }


_LOAD = text(f"""
SELECT v.id AS delivery_id, v.delivery_error, v.fingerprint, v.delivered_at,
    d.id AS destination_id, d.kind, d.url, d.secret, d.previous_secret, d.options, d.disabled_at, d.disabled_reason,
    extract(epoch FROM d.cooldown_until - now())::float8 AS cooldown_seconds,
    c.id AS contact_id, c.email, {", ".join(f"c.{name}" for name in DELIVERED_FIELDS)}, c.source_url,
    c.created_at AS found_at, c.confidence, {is_withheld("c")} AS is_withheld,
    {is_repeated("c")} AS is_repeated, {is_of_rejected("c.business_id", "c.domain_id")} AS is_of_rejected,
    c.curation_status, c.merged_into_id,
    coalesce(b.name, c.company) AS business, {BUSINESS_PHONE} AS business_phone,
    b.address AS business_address, b.website, b.city,
    coalesce(b.country, m.country) AS country, m.name AS domain, m.title AS domain_title, m.final_url
FROM delivery v JOIN destination d ON d.id = v.destination_id JOIN contact c ON c.id = v.contact_id
LEFT JOIN LATERAL ({any_record("c.business_id")}) b ON true LEFT JOIN domain m ON m.id = c.domain_id
WHERE v.id = ANY(:ids) AND v.tenant_id = :tenant AND d.tenant_id = :tenant AND c.tenant_id = :tenant""")  # noqa: S608 - names of core.contact_fields

_LOAD_RUNS = text("""
SELECT v.id AS delivery_id, v.delivery_error, v.fingerprint, v.run_id,
    d.id AS destination_id, d.kind, d.url, d.secret, d.previous_secret, d.options, d.disabled_at, d.disabled_reason,
    extract(epoch FROM d.cooldown_until - now())::float8 AS cooldown_seconds,
    r.number, r.began_at, r.ended_at, r.is_complete, r.is_whole, r.counts, r.found,
    s.id AS search_id, s.text, s.area, s.name, s.provider, s.notes, s.cancelled_by
FROM delivery v JOIN destination d ON d.id = v.destination_id JOIN search_run r ON r.id = v.run_id
JOIN search s ON s.id = r.search_id
WHERE v.id = ANY(:ids) AND v.tenant_id = :tenant AND d.tenant_id = :tenant AND r.tenant_id = :tenant""")

_DISABLE = text("""
UPDATE destination SET disabled_at = now(), disabled_reason = :why, updated_at = now()
WHERE id = :id AND tenant_id = :tenant AND disabled_at IS NULL RETURNING true""")

_RECORD_FAILURE = text("""
UPDATE destination SET consecutive_failures = consecutive_failures + 1, failing_since = coalesce(failing_since, now()),
    cooldown_until = greatest(cooldown_until, now() + make_interval(secs => greatest(cast(:wait AS float8),
        CASE WHEN consecutive_failures + 1 < :free_failures THEN 0
            ELSE least(:max, :first * 2 ^ least(consecutive_failures + 1 - :free_failures, 10)) END)))
WHERE id = :id AND tenant_id = :tenant
RETURNING failing_since < now() - make_interval(days => :days)""")

# Locked in one order, so that two workers never deadlock.
_RECORD_SUCCESS = text("""
UPDATE destination SET consecutive_failures = 0, failing_since = NULL, cooldown_until = NULL WHERE id IN (
    SELECT id FROM destination WHERE id = ANY(:ids) AND failing_since IS NOT NULL ORDER BY id FOR NO KEY UPDATE)""")
