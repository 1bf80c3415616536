"""The outbox: what one delivery needs, read in a short session that is closed before anything is sent."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database, is_connection_error
from scrapersky.core.errors import BadSetting
from scrapersky.core.vault import Vault
from scrapersky.core.vocabularies import Curation
from scrapersky.destinations.endpoint import Endpoint
from scrapersky.destinations.errors import DestinationClosed
from scrapersky.destinations.gathering import Gathering
from scrapersky.destinations.payload import ContactPayload, Message
from scrapersky.engine.outcomes import Later
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

AWAY = timedelta(seconds=5)
LOADED_AT_ONCE = 500
SET_ASIDE = (Curation.NOT_A_FIT, Curation.ARCHIVED)
PATIENT_DAYS = 3  # a destination that takes nothing for so long is disabled
PATIENCE, FIRST_REST_SECONDS, MAX_COOLDOWN_SECONDS = 3, 5.0, 300.0  # failures in a row, then rests that double
NOTHING_TAKEN = f"It has taken nothing for {PATIENT_DAYS} days. Enable it again when it is back."


@dataclass(frozen=True)
class Waiting:
    """A delivery as it stands at this moment."""

    address: Endpoint
    parcel: Message | None  # None: the contact has no email address
    accepted: str | None  # the fingerprint of what the destination has
    is_suppressed: bool
    is_set_aside: bool
    disabled_why: str | None
    rest: timedelta | None


class Outbox:
    """Given to the delivery workflow at the composition root; each question is a transaction of its own."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self._loads: dict[UUID, Gathering[UUID, Waiting | None]] = {}

    @asynccontextmanager
    async def _session(self, tenant_id: UUID) -> AsyncIterator[AsyncSession]:
        """A database that is away is no fault of the contact: the try does not count."""
        try:
            async with self._database.session(tenant_id) as session:
                yield session
        except Exception as error:
            if not is_connection_error(error):
                raise
            raise Later(AWAY, "The database was away.") from error

    async def load(self, tenant_id: UUID, delivery_id: UUID) -> Waiting | None:
        """The delivery with its contact and its destination; None when it is gone."""
        if tenant_id not in self._loads:
            self._loads[tenant_id] = Gathering(partial(self._load, tenant_id), str, LOADED_AT_ONCE, seconds=0)
        return await self._loads[tenant_id].add(delivery_id)

    async def _load(self, tenant_id: UUID, ids: Sequence[UUID]) -> Sequence[Waiting | Exception | None]:
        """Many by one statement: a batch for a destination must not wait for one connection after the other."""
        async with self._session(tenant_id) as session:
            rows = await session.execute(_LOAD, {"ids": list(ids), "tenant": tenant_id})
        found = {row.delivery_id: self._read(row) for row in rows}
        return [found.get(delivery_id) for delivery_id in ids]

    def _read(self, row: Row[Any]) -> Waiting | DestinationClosed:
        try:
            return _waiting(row, self._vault)
        except DestinationClosed as closed:
            return closed

    async def disable(self, tenant_id: UUID, destination_id: UUID, why: str) -> None:
        """Nothing is delivered there until a person enables it again."""
        async with self._session(tenant_id) as session:
            await _disable(session, tenant_id, destination_id, why)

    async def let_rest(self, tenant_id: UUID, destination_id: UUID, asked: timedelta | None) -> None:
        """It has failed: after some failures nobody asks it for a while, on any host; after days of them never."""
        wanted = {
            "id": destination_id,
            "tenant": tenant_id,
            "asked": asked.total_seconds() if asked else 0.0,
            "patience": PATIENCE,
            "first": FIRST_REST_SECONDS,
            "longest": MAX_COOLDOWN_SECONDS,
            "days": PATIENT_DAYS,
        }
        async with self._session(tenant_id) as session:
            if await session.scalar(_LET_REST, wanted):
                await _disable(session, tenant_id, destination_id, NOTHING_TAKEN)


async def recovered(session: AsyncSession, destination_ids: Sequence[UUID]) -> None:
    """They have taken something: their failures are forgotten."""
    await session.execute(_RECOVERED, {"ids": list(destination_ids)})


def opened(destination_id: UUID, destination: Any, vault: Vault) -> Endpoint:
    """A destination with its secrets opened, or DestinationClosed when they cannot be."""
    sealed = (destination.secret, destination.former_secret)
    try:
        secret, former = (SecretStr(vault.open(each)) if each else None for each in sealed)
    except BadSetting:
        raise DestinationClosed("Its secret was sealed with another SCRAPERSKY_SECRET_KEY. Enter it anew.") from None
    return Endpoint(destination_id, destination.kind, destination.url, secret, former, destination.options)


def _waiting(row: Row[Any], vault: Vault) -> Waiting:
    is_disabled = row.disabled_at is not None
    address = Endpoint(row.destination_id, row.kind, row.url) if is_disabled else opened(row.destination_id, row, vault)
    return Waiting(
        address,
        Message(row.delivery_id, _card(row), row.options, row.delivered_at) if row.email else None,
        row.fingerprint,
        row.suppressed_at is not None,
        row.curation_status in SET_ASIDE or row.merged_into_id is not None,
        (row.disabled_why or "a person disabled it") if is_disabled else None,
        timedelta(seconds=row.rest_seconds) if row.rest_seconds and row.rest_seconds > 0 else None,
    )


def _card(row: Row[Any]) -> ContactPayload:
    return ContactPayload(
        contact_id=row.contact_id,
        email=row.email,
        name=row.name,
        title=row.title,
        phone=row.phone or row.business_phone,
        email_kind=row.email_kind,
        profiles=row.profiles,
        address=row.address or row.business_address,
        business=row.business or row.domain_title,
        website=row.website or row.final_url,
        domain=row.domain,
        city=row.city,
        country=row.country,
        source_url=row.source_url,
        found_at=row.found_at,
        confidence=row.confidence,
        verdict=row.verdict,
    )


async def _disable(session: AsyncSession, tenant_id: UUID, destination_id: UUID, why: str) -> None:
    done = await session.scalar(_DISABLE, {"id": destination_id, "tenant": tenant_id, "why": why})
    if done:
        actor = Actor("scrapersky", tenant_id, role="operator", origin="delivery")
        await audit.record(session, actor, "disable", f"destination {destination_id}", None, {"why": why})


_LOAD = text("""
SELECT v.id AS delivery_id, v.fingerprint, v.delivered_at,
    d.id AS destination_id, d.kind, d.url, d.secret, d.former_secret, d.options, d.disabled_at, d.disabled_why,
    extract(epoch FROM d.resting_until - now())::float8 AS rest_seconds,
    c.id AS contact_id, c.email, c.name, c.title, c.phone, c.email_kind, c.profiles, c.address, c.source_url,
    c.created_at AS found_at, c.confidence, c.verdict, c.suppressed_at, c.curation_status, c.merged_into_id,
    b.name AS business, CASE WHEN NOT EXISTS (SELECT FROM suppression s WHERE s.tenant_id = :tenant AND s.kind = 'phone'
        AND s.value_hash = encode(sha256(convert_to(b.phone, 'UTF8')), 'hex')) THEN b.phone END AS business_phone,
    b.address AS business_address, b.website, b.city,
    coalesce(b.country, m.country) AS country, m.name AS domain, m.title AS domain_title, m.final_url
FROM delivery v JOIN destination d ON d.id = v.destination_id JOIN contact c ON c.id = v.contact_id
LEFT JOIN local_business b ON b.id = c.business_id LEFT JOIN domain m ON m.id = c.domain_id
WHERE v.id = ANY(:ids) AND v.tenant_id = :tenant AND d.tenant_id = :tenant AND c.tenant_id = :tenant""")

_DISABLE = text("""
UPDATE destination SET disabled_at = now(), disabled_why = :why, updated_at = now()
WHERE id = :id AND tenant_id = :tenant AND disabled_at IS NULL RETURNING true""")

_LET_REST = text("""
UPDATE destination SET failures = failures + 1, failing_since = coalesce(failing_since, now()),
    resting_until = greatest(resting_until, now() + make_interval(secs => greatest(cast(:asked AS float8),
        CASE WHEN failures + 1 < :patience THEN 0
            ELSE least(:longest, :first * 2 ^ least(failures + 1 - :patience, 10)) END)))
WHERE id = :id AND tenant_id = :tenant
RETURNING failing_since < now() - make_interval(days => :days)""")

# Locked in one order, so that two workers never wait in a ring.
_RECOVERED = text("""
UPDATE destination SET failures = 0, failing_since = NULL, resting_until = NULL WHERE id IN (
    SELECT id FROM destination WHERE id = ANY(:ids) AND failing_since IS NOT NULL ORDER BY id FOR NO KEY UPDATE)""")
