"""Named queries about suppressions: whom never to write to again. The database marks the contacts they are about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, CursorResult, Label, Text, any_, delete, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.contact_fields import PHONE_FIELDS
from scrapersky.core.errors import Conflict
from scrapersky.core.uuid7 import new_id
from scrapersky.models import Contact, Suppression
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.paginate import Filters, matching
from scrapersky.store.listing.resources import CONTACTS, SUPPRESSIONS
from scrapersky.store.operations.queue_rows import among
from scrapersky.store.privacy.suppression_values import Way, read

PERSON, IMPORT, ERASURE = "person", "import", "erasure"
VALUES_AT_ONCE = 10_000


class Forgotten(Conflict):
    """Somebody had this erased: it is not stored again."""


@dataclass(frozen=True)
class Suppressed:
    """What became of the values."""

    added: int
    known: int  # there already
    contacts: int  # that are marked now


async def alone(session: AsyncSession, tenant_id: UUID) -> None:
    """First of all, for whoever locks contacts or suppressions and then writes what the other kind depends on.

    Triggers take the same lock, but only when a row is held already: two could wait for each other.
    """
    await session.execute(_ALONE, {"tenant": str(tenant_id)})


async def suppress(
    session: AsyncSession, actor: Actor, ways: Iterable[Way], *, reason: str | None = None, origin: str = PERSON
) -> Suppressed:
    """Nobody is written to these ways again: contacts that have one are marked, their waiting work is taken back."""
    wanted = sorted(set(ways), key=lambda way: way.digest)  # one order for all, so that two never wait in a ring
    added = 0
    for start in range(0, len(wanted), VALUES_AT_ONCE):
        added += await _insert(session, actor, wanted[start : start + VALUES_AT_ONCE], reason, origin)
    if added:
        shown = {"values": [way.value for way in wanted[:1_000]], "reason": reason, "added": added}
        await audit.record(session, actor, "suppress", "suppressions", None, shown)
    return Suppressed(added, len(wanted) - added, await _marked(session, actor.tenant_id))


async def suppress_contacts(
    session: AsyncSession,
    actor: Actor,
    chosen: Sequence[UUID] | Filters,
    kinds: Sequence[str],
    reason: str | None = None,
) -> Suppressed:
    """Suppress every address and number of some contacts, by ids or by filter, however many they are."""
    wanted: Any = select(Contact.email, *(getattr(Contact, name) for name in PHONE_FIELDS))
    if isinstance(chosen, Mapping):
        wanted = matching(wanted, CONTACTS, actor.tenant_id, chosen)
    else:
        wanted = wanted.where(Contact.tenant_id == actor.tenant_id, among(Contact.id, chosen))
    rows = (await session.execute(wanted)).all()
    emails = {Way("email", row.email.lower()) for row in rows if row.email and "email" in kinds}
    numbers = {Way("phone", number) for row in rows for number in row[1:] if number and "phone" in kinds}
    return await suppress(session, actor, emails | numbers, reason=reason)


async def follow(session: AsyncSession, actor: Actor, contact: Contact, reason: str) -> None:
    """A suppressed contact got another address, or was merged with this one: it stays suppressed under the new one."""
    way = Way("email", contact.email.lower()) if contact.email else Way("phone", contact.phone or contact.fax or "")
    if way.value and contact.suppressed_at is None:
        await suppress(session, actor, [way], reason=reason)
        await session.refresh(contact)


async def forget(session: AsyncSession, actor: Actor, ways: Iterable[Way]) -> None:
    """Keep the hashes of the ways and nothing else, so that they do not come back."""
    await _insert(session, actor, sorted(set(ways), key=lambda way: way.digest), None, ERASURE)


async def remove(session: AsyncSession, actor: Actor, suppression_id: UUID) -> None:
    """Let somebody be written to again, in every spelling; contacts that nothing else suppresses are free."""
    await alone(session, actor.tenant_id)
    found: Suppression = await lists.get(session, SUPPRESSIONS, actor.tenant_id, suppression_id, lock=True)
    digests = {found.value_hash}
    if found.value and found.kind in ("email", "domain"):
        digests |= {way.digest for way in read(found.value, kind="email" if found.kind == "email" else "domain")}
    shown = {"kind": found.kind, "value": found.value, "hash": found.value_hash, "origin": found.origin}
    await audit.record(session, actor, "unsuppress", f"suppression {suppression_id}", shown, None)
    await session.execute(
        delete(Suppression).where(
            Suppression.tenant_id == actor.tenant_id,
            Suppression.value_hash.in_(sorted(digests)),
            Suppression.kind == found.kind,
        )
    )


async def known(
    session: AsyncSession, tenant_id: UUID, ways: Iterable[Way], origin: str | None = None
) -> dict[Way, Suppression]:
    """Those of the ways that are suppressed, each with what suppresses it: itself, or a domain it is under."""
    above = {way: (way, *_domains_of(way)) for way in ways}
    digests = sorted({each.digest for found in above.values() for each in found})
    wanted = select(Suppression).where(Suppression.tenant_id == tenant_id, _one_of(digests))
    if origin is not None:
        wanted = wanted.where(Suppression.origin == origin)
    by_digest = {row.value_hash: row for row in await session.scalars(wanted)}
    return {
        way: by_digest[each.digest]
        for way, found in above.items()
        for each in reversed(found)
        if each.digest in by_digest
    }


async def refuse_erased(session: AsyncSession, tenant_id: UUID, ways: Iterable[Way]) -> None:
    """Raise Forgotten if somebody had one of the ways erased."""
    if await known(session, tenant_id, ways, ERASURE):
        raise Forgotten("Remove its suppression first, if the person came back to you.")


def any_erasure(tenant_id: UUID) -> Label[bool]:
    """As a column: whether the tenant has ever erased anybody."""
    erased = select(Suppression.id).where(Suppression.tenant_id == tenant_id, Suppression.origin == ERASURE)
    return erased.exists().label("has_erasures")


def ways_of(facts: Mapping[str, Any]) -> list[Way]:
    """The ways to reach a contact, by its columns."""
    email = [Way("email", facts["email"].lower())] if facts.get("email") else []
    return [*email, *(Way("phone", facts[name]) for name in PHONE_FIELDS if facts.get(name))]


async def _insert(session: AsyncSession, actor: Actor, ways: Sequence[Way], reason: str | None, origin: str) -> int:
    common = {"tenant": actor.tenant_id, "reason": reason, "origin": origin, "created_by": actor.user_id}
    columns = {
        "ids": [new_id() for _ in ways],
        "kinds": [way.kind for way in ways],
        "values": [None if origin == ERASURE else way.value for way in ways],
        "hashes": [way.digest for way in ways],
    }
    made = await session.execute(_ERASE if origin == ERASURE else _INSERT, {**common, **columns})
    return made.rowcount if isinstance(made, CursorResult) else 0


async def _marked(session: AsyncSession, tenant_id: UUID) -> int:
    """The contacts that this transaction has marked: it has one time from its begin to its end."""
    marked = select(func.count()).where(
        Contact.tenant_id == tenant_id, Contact.updated_at == func.now(), Contact.suppressed_at == func.now()
    )
    return int(await session.scalar(marked) or 0)


def _domains_of(way: Way) -> list[Way]:
    """The domains that a mail address or a domain is under, the nearest first."""
    if way.kind not in ("email", "domain"):
        return []
    labels = way.value.rpartition("@")[2].split(".")
    return [Way("domain", ".".join(labels[start:])) for start in range(len(labels) - 1)]


def _one_of(digests: Sequence[str]) -> Any:
    return Suppression.value_hash == any_(literal(list(digests), ARRAY(Text())))


# The phone number of a business `b` of the table local_business, or NULL if it is suppressed.
BUSINESS_PHONE = """CASE WHEN NOT EXISTS (SELECT FROM suppression s WHERE s.tenant_id = b.tenant_id
        AND s.kind = 'phone' AND s.value_hash = sha256_hex(b.phone)) THEN b.phone END"""

_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('suppression ' || :tenant, 0))")
_NEW = """
INSERT INTO suppression (id, tenant_id, kind, value, value_hash, reason, origin, created_by)
SELECT new.id, :tenant, new.kind, new.value, new.hash, :reason, :origin, :created_by
FROM unnest(cast(:ids AS uuid[]), cast(:kinds AS text[]), cast(:values AS text[]), cast(:hashes AS text[]))
    AS new(id, kind, value, hash)
ON CONFLICT (tenant_id, value_hash, kind)"""
_INSERT = text(f"{_NEW} DO NOTHING")
_ERASE = text(f"{_NEW} DO UPDATE SET value = NULL, reason = NULL, origin = excluded.origin, updated_at = now()")
