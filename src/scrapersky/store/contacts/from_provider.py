"""Statements that store the contact points a provider names: as contacts of the domain, else of the business itself."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import BY_PROVIDER
from scrapersky.engine.settle import driver_connection
from scrapersky.models import BusinessDomain, Place
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.place_contacts import contact_points, source_of
from scrapersky.store.contacts.rows import INSERT, Row, arrays_of, contact_rows, evidence_rank
from scrapersky.store.operations.queue_rows import one_of


async def store(
    session: AsyncSession, named: Mapping[UUID, tuple[Place, PlaceDetails]], verified: Iterable[UUID]
) -> list[UUID]:
    """Store the contacts of businesses, each once; a known contact is only marked as seen now.

    New contacts with an email address are queued for verification if their business is one of `verified`. Return the
    new contacts that have a number and no email address.
    """
    rows = [row for business_id, (place, details) in named.items() for row in _rows(business_id, place, details)]
    if not rows:
        return []
    domains = await _domains_of(session, named)
    for row in rows:
        row["domain_id"] = domains.get(row["business_id"])
        row["identity"] += "" if row["domain_id"] else f":{row['business_id']}"
    # One order of locks for all processes; of rows for one contact the best is stored.
    rows.sort(key=lambda row: (str(row["domain_id"]), row["identity"], row["evidence_rank"]))
    driver = await driver_connection(session)
    tenant_id = next(iter(named.values()))[0].tenant_id
    await driver.execute(_SEEN, tenant_id, [row["domain_id"] for row in rows], [row["identity"] for row in rows])
    ranked = {name: [row[name] for row in rows] for name in ("domain_id", "identity", *_SOURCE)}
    await driver.execute(_REPLACE, tenant_id, *ranked.values())
    added = await driver.fetch(_ADD, tenant_id, *arrays_of(rows))
    to_verify = set(verified)
    await driver.execute(_VERIFY, [row["id"] for row in added if row["has_email"] and row["business_id"] in to_verify])
    return [row["id"] for row in added if not row["has_email"]]


async def move_to_domains(session: AsyncSession, links: Sequence[tuple[UUID, UUID]]) -> None:
    """Move contacts of businesses to the domains now linked to them; one that the domain has already is merged."""
    if links:
        driver = await driver_connection(session)
        for statement in (_MOVE, _REPLACE_BY_MOVED, _MERGE):
            await driver.execute(statement, [business for business, _ in links], [domain for _, domain in links])


def _rows(business_id: UUID, place: Place, details: PlaceDetails) -> list[Row]:
    common = {"business_id": business_id, "source_url": source_of(place.provider, place.provider_id)}
    rows = [{**row, **common, "id": new_id()} for row in contact_rows(contact_points(details)).values()]
    return [{**row, "evidence_rank": evidence_rank(row)} for row in rows]


async def _domains_of(session: AsyncSession, business_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """Return the domain of each business that has one; of several, the one linked last."""
    links = select(BusinessDomain.business_id, BusinessDomain.domain_id).order_by(BusinessDomain.linked_at)
    rows = await session.execute(links.where(one_of(BusinessDomain.business_id, business_ids)))
    return {row.business_id: row.domain_id for row in rows}


_SEEN = """
UPDATE contact SET seen_at = now() WHERE id IN (
    SELECT c.id FROM unnest($2::uuid[], $3::text[]) AS named(domain_id, identity)
    JOIN contact c ON c.tenant_id = $1 AND c.domain_id = named.domain_id AND c.identity = named.identity
    UNION ALL SELECT c.id FROM unnest($3::text[]) AS named(identity)
    JOIN contact c ON c.tenant_id = $1 AND c.domain_id IS NULL AND c.identity = named.identity)"""

# Of several places that name the contact, the one with the lowest rank is its source, whichever was scanned first.
_SOURCE = ("business_id", "source_url", "snippet", "evidence_rank")
_IS_BETTER = f"""known.found_by = '{BY_PROVIDER}' AND known.edited_at IS NULL
    AND named.evidence_rank < coalesce(known.evidence_rank, '~') COLLATE "C\""""
_TAKE_SOURCE = ", ".join(f"{name} = named.{name}" for name in _SOURCE)
_REPLACE = f"""
UPDATE contact known SET {_TAKE_SOURCE}, updated_at = now() FROM (
    SELECT DISTINCT ON (domain_id, identity) * FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[],
        $7::text[]) AS n(domain_id, identity, {", ".join(_SOURCE)})
    ORDER BY domain_id, identity, evidence_rank COLLATE "C") named
WHERE known.tenant_id = $1 AND known.domain_id = named.domain_id AND known.identity = named.identity
    AND {_IS_BETTER}"""  # noqa: S608 - own names

# A trigger leaves out erased people and marks suppressed contacts before the row is returned.
_ADD = f"""
WITH added AS ({INSERT}
    ON CONFLICT DO NOTHING RETURNING id, business_id, email, phone, suppressed_at
)
SELECT id, business_id, email IS NOT NULL AS has_email FROM added
WHERE coalesce(email, phone) IS NOT NULL AND suppressed_at IS NULL"""  # noqa: S608 - own names
_VERIFY = "UPDATE contact SET contact_verification_status = 'Queued' WHERE id = ANY ($1::uuid[])"

_WITHOUT_DOMAIN = f"""
    SELECT c.id, c.tenant_id, c.business_id, c.source_url, c.snippet, c.evidence_rank, link.domain_id,
        replace(c.identity, ':' || c.business_id, '') AS identity
    FROM unnest($1::uuid[], $2::uuid[]) AS link(business_id, domain_id)
    JOIN contact c ON c.business_id = link.business_id
    WHERE c.domain_id IS NULL AND c.found_by = '{BY_PROVIDER}' AND c.merged_into_id IS NULL"""  # noqa: S608 - own names
_MOVE = f"""
UPDATE contact SET domain_id = moved.domain_id, identity = moved.identity, updated_at = now()
FROM (SELECT DISTINCT ON (m.domain_id, m.identity) m.* FROM ({_WITHOUT_DOMAIN}) m
    WHERE NOT EXISTS (SELECT FROM contact k
        WHERE k.tenant_id = m.tenant_id AND k.domain_id = m.domain_id AND k.identity = m.identity)
    ORDER BY m.domain_id, m.identity, m.evidence_rank COLLATE "C", m.id) moved
WHERE contact.id = moved.id"""  # noqa: S608 - own names
_REPLACE_BY_MOVED = f"""
UPDATE contact known SET {_TAKE_SOURCE}, updated_at = now() FROM (
    SELECT DISTINCT ON (domain_id, identity) * FROM ({_WITHOUT_DOMAIN}) m
    ORDER BY domain_id, identity, evidence_rank COLLATE "C") named
WHERE known.tenant_id = named.tenant_id AND known.domain_id = named.domain_id AND known.identity = named.identity
    AND {_IS_BETTER}"""  # noqa: S608 - own names
_MERGE = f"""
UPDATE contact SET merged_into_id = known.id, curation_status = 'Archived', updated_at = now()
FROM ({_WITHOUT_DOMAIN}) merged JOIN contact known ON known.tenant_id = merged.tenant_id
    AND known.domain_id = merged.domain_id AND known.identity = merged.identity
WHERE contact.id = merged.id"""  # noqa: S608 - own names
