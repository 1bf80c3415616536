"""SQL about suppressions: contact points that get no more messages. Triggers mark the contacts that have one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
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
from scrapersky.store.operations.queue_rows import one_of
from scrapersky.store.privacy.contact_points import ContactPoint, Kind, other_forms, points_in, spellings_of
from scrapersky.store.withheld import is_person_mentioned

PERSON, IMPORT, ERASURE = "person", "import", "erasure"
CHUNK_ROWS = 2_000  # of one statement: marking the contacts of 10,000 exceeds the time of a request's statement
PART_ROWS = 1_000  # of contacts that are read at once: the event loop does not wait for all


class ErasedBefore(Conflict):
    """The person was erased: they are not stored again."""


@dataclass(frozen=True)
class SuppressionCounts:
    """The result of a request to suppress values."""

    added: int
    known: int  # suppressed before
    contacts: int  # marked by this request


async def lock_tenant(session: AsyncSession, tenant_id: UUID) -> None:
    """Lock the suppressions of a tenant, before contacts or suppressions are locked and the others written.

    Triggers take the same lock when a row is locked already: without this, two transactions could deadlock.
    """
    await session.execute(_LOCK_TENANT, {"tenant": str(tenant_id)})


async def suppress(
    session: AsyncSession,
    actor: Actor,
    points: Iterable[ContactPoint],
    *,
    reason: str | None = None,
    origin: str = PERSON,
) -> SuppressionCounts:
    """Suppress contact points: contacts that have one are marked, and their waiting rows withdrawn."""
    values = await asyncio.to_thread(_sorted, points)
    added = 0
    for start in range(0, len(values), CHUNK_ROWS):
        added += await _insert(session, actor, values[start : start + CHUNK_ROWS], reason, origin)
    shown = {"values": [point.value for point in values[:1_000]], "reason": reason, "added": added}
    await audit.record(session, actor, "suppress", "suppressions", None, shown)
    return SuppressionCounts(added, len(values) - added, await _marked(session, actor.tenant_id))


async def suppress_contacts(
    session: AsyncSession,
    actor: Actor,
    chosen: Sequence[UUID] | Filters,
    kinds: Sequence[str],
    reason: str | None = None,
) -> SuppressionCounts:
    """Suppress every address and number of contacts, by ids or by filter, in one transaction."""
    query: Any = select(Contact.email, *(getattr(Contact, name) for name in PHONE_FIELDS))
    if isinstance(chosen, Mapping):
        query = matching(query, CONTACTS, actor.tenant_id, chosen)
    else:
        query = query.where(Contact.tenant_id == actor.tenant_id, one_of(Contact.id, chosen))
    points = set[ContactPoint]()
    rows = await session.stream(query.execution_options(yield_per=PART_ROWS))
    async for part in rows.partitions():
        points |= {ContactPoint("email", row.email.lower()) for row in part if row.email and "email" in kinds}
        points |= {ContactPoint("phone", number) for row in part for number in row[1:] if number and "phone" in kinds}
    return await suppress(session, actor, points, reason=reason)


async def suppress_moved(session: AsyncSession, actor: Actor, contact: Contact, reason: str) -> None:
    """Suppress the present address of a contact that was suppressed under another one or merged with such."""
    email, number = contact.email, contact.phone or contact.fax or ""
    point = ContactPoint("email", email.lower()) if email else ContactPoint("phone", number)
    if point.value and contact.suppressed_at is None:
        await suppress(session, actor, [point], reason=reason)
        await session.refresh(contact)


async def suppress_erased(session: AsyncSession, actor: Actor, points: Iterable[ContactPoint]) -> None:
    """Store only the hashes of the points, so that an erased person is not stored again, nor in another form."""
    known_points = list(points)
    await _insert(session, actor, _sorted([*known_points, *other_forms(known_points)]), None, ERASURE)


async def remove(session: AsyncSession, actor: Actor, suppression_id: UUID) -> None:
    """Remove a suppression in every spelling; contacts without another suppression are unmarked."""
    await lock_tenant(session, actor.tenant_id)
    found: Suppression = await lists.get(session, SUPPRESSIONS, actor.tenant_id, suppression_id, lock=True)
    digests = {found.value_hash}
    if found.value and found.kind in ("email", "domain"):
        digests |= {point.digest for point in spellings_of(ContactPoint(cast("Kind", found.kind), found.value))}
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
    session: AsyncSession, tenant_id: UUID, points: Iterable[ContactPoint], origin: str | None = None
) -> dict[ContactPoint, Suppression]:
    """Return the suppressed ones of the points, each with its suppression: its own, or that of a domain above it."""
    above = await asyncio.to_thread(_digests_of, points)  # a host can have 120 domains above it
    digests = sorted({digest for found in above.values() for digest in found})
    query = select(Suppression).where(Suppression.tenant_id == tenant_id, _one_of(digests))
    if origin is not None:
        query = query.where(Suppression.origin == origin)
    by_digest = {row.value_hash: row for row in await session.scalars(query)}
    return {
        point: by_digest[digest] for point, found in above.items() for digest in reversed(found) if digest in by_digest
    }


async def mentioning(session: AsyncSession, tenant_id: UUID, texts: Iterable[str]) -> set[str]:
    """Return those of the texts that contain a suppressed email address or international phone number."""
    anything = select(Suppression.id).where(Suppression.tenant_id == tenant_id).limit(1)
    if await session.scalar(anything) is None:
        return set()
    by_point: dict[ContactPoint, set[str]] = {}
    for one in texts:
        for point in points_in(one):
            by_point.setdefault(point, set()).add(one)
    return {one for point in await known(session, tenant_id, by_point) for one in by_point[point]}


async def naming(session: AsyncSession, tenant_id: UUID, texts: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of the texts, each with the name of its site, that name a withheld person of the site."""
    given = sorted(set(texts))
    columns = {"sites": [site for site, _ in given], "texts": [one for _, one in given], "tenant": tenant_id}
    return {(row.site, row.written) for row in await session.execute(_NAMING, columns)}


async def refuse_erased(session: AsyncSession, tenant_id: UUID, points: Iterable[ContactPoint]) -> None:
    """Raise ErasedBefore if one of the points belongs to an erased person."""
    if await known(session, tenant_id, points, ERASURE):
        raise ErasedBefore("Remove the suppression with the origin `erasure` first, if the person agrees.")


def any_erasure(tenant_id: UUID) -> Label[bool]:
    """Return the column that is true if the tenant has ever erased a person."""
    erased = select(Suppression.id).where(Suppression.tenant_id == tenant_id, Suppression.origin == ERASURE)
    return erased.exists().label("has_erasures")


def contact_points_of(facts: Mapping[str, Any]) -> list[ContactPoint]:
    """Return the contact points of a contact, by its columns."""
    email = [ContactPoint("email", facts["email"].lower())] if facts.get("email") else []
    return [*email, *(ContactPoint("phone", facts[name]) for name in PHONE_FIELDS if facts.get(name))]


async def _insert(
    session: AsyncSession, actor: Actor, points: Sequence[ContactPoint], reason: str | None, origin: str
) -> int:
    common = {"tenant": actor.tenant_id, "reason": reason, "origin": origin, "created_by": actor.user_id}
    columns = {
        "ids": [new_id() for _ in points],
        "kinds": [point.kind for point in points],
        "values": [None if origin == ERASURE else point.value for point in points],
        "hashes": [point.digest for point in points],
    }
    inserted = await session.execute(_ERASE if origin == ERASURE else _INSERT, {**common, **columns})
    return inserted.rowcount if isinstance(inserted, CursorResult) else 0


async def _marked(session: AsyncSession, tenant_id: UUID) -> int:
    """Count the contacts marked by this transaction, in which now() is constant."""
    marked = select(func.count()).where(
        Contact.tenant_id == tenant_id, Contact.updated_at == func.now(), Contact.suppressed_at == func.now()
    )
    return int(await session.scalar(marked) or 0)


def _digests_of(points: Iterable[ContactPoint]) -> dict[ContactPoint, list[str]]:
    """Return the hashes of each point: its own, and those of the domains above it."""
    return {point: [each.digest for each in (point, *_domains_of(point))] for point in points}


def _domains_of(point: ContactPoint) -> list[ContactPoint]:
    """Return the domains above an email address or a domain, nearest first."""
    if point.kind not in ("email", "domain"):
        return []
    labels = point.value.rpartition("@")[2].split(".")
    return [ContactPoint("domain", ".".join(labels[start:])) for start in range(len(labels) - 1)]


def _sorted(points: Iterable[ContactPoint]) -> list[ContactPoint]:
    """Return the points in one order for all transactions, so that two of them never deadlock."""
    return sorted(set(points), key=lambda point: point.digest)


def _one_of(digests: Sequence[str]) -> Any:
    return Suppression.value_hash == any_(literal(list(digests), ARRAY(Text())))


_NAMING = text(f"""
SELECT given.site, given.written FROM unnest(cast(:sites AS text[]), cast(:texts AS text[])) AS given(site, written)
JOIN domain d ON d.tenant_id = :tenant AND d.name = given.site
WHERE {is_person_mentioned("given.written", "d.id")}""")  # noqa: S608 - own names
_LOCK_TENANT = text("SELECT pg_advisory_xact_lock(hashtextextended('suppression ' || :tenant, 0))")
_NEW = """
INSERT INTO suppression (id, tenant_id, kind, value, value_hash, reason, origin, created_by)
SELECT new.id, :tenant, new.kind, new.value, new.hash, :reason, :origin, :created_by
FROM unnest(cast(:ids AS uuid[]), cast(:kinds AS text[]), cast(:values AS text[]), cast(:hashes AS text[]))
    AS new(id, kind, value, hash)
ON CONFLICT (tenant_id, value_hash, kind)"""
_INSERT = text(f"{_NEW} DO NOTHING")
_ERASE = text(f"{_NEW} DO UPDATE SET value = NULL, reason = NULL, origin = excluded.origin, updated_at = now()")
