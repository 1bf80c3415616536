"""What a provider knows of ways to reach a business, as contacts of it: of its domain where it has one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.engine.settle import driver_connection
from scrapersky.models import BusinessDomain, Place
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.place_contacts import PROVIDER, contact_points, source_of
from scrapersky.store.contacts.from_page import contact_rows
from scrapersky.store.operations.queue_rows import among

FACTS = ("email", "email_kind", "phone", "fax", "profiles")
NAMES = ("id", "domain_id", "business_id", "identity", *FACTS, "source_url", "snippet", "found_by", "confidence")

Row = dict[str, Any]
Told = tuple[Place, PlaceDetails]


async def keep(session: AsyncSession, told: Mapping[UUID, Told], verified: Iterable[UUID]) -> None:
    """Contacts of these businesses, each once; what is known already was only said again.

    Those with an address are verified next where the business is one of `verified`.
    """
    rows = [row for business_id, (place, details) in told.items() for row in _rows(business_id, place, details)]
    if not rows:
        return
    domains = await _domains_of(session, told)
    for row in rows:
        row["domain_id"] = domains.get(row["business_id"])
        row["identity"] += "" if row["domain_id"] else f":{row['business_id']}"
    rows.sort(key=lambda row: (str(row["domain_id"]), row["identity"]))  # one order for all hosts
    driver = await driver_connection(session)
    columns = {name: [row.get(name) for row in rows] for name in NAMES}
    columns["profiles"] = [value and json.dumps(value) for value in columns["profiles"]]
    tenant_id = next(iter(told.values()))[0].tenant_id
    await driver.execute(_SEEN, tenant_id, columns["domain_id"], columns["identity"])
    added = await driver.fetch(_ADD, tenant_id, list(verified), *columns.values())
    await driver.execute(_VERIFY, [row["id"] for row in added])


async def adopt(session: AsyncSession, links: Sequence[tuple[UUID, UUID]]) -> None:
    """The domain of a business is known now: what its provider told of it belongs there; what the domain has already
    stays as it is, and the other one points to it."""
    if links:
        driver = await driver_connection(session)
        for statement in (_ADOPT, _MERGE):
            await driver.execute(statement, [business for business, _ in links], [domain for _, domain in links])


def _rows(business_id: UUID, place: Place, details: PlaceDetails) -> list[Row]:
    common = {"business_id": business_id, "source_url": source_of(place.provider, place.provider_id)}
    return [{**row, **common, "id": new_id()} for row in contact_rows(contact_points(details)).values()]


async def _domains_of(session: AsyncSession, business_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """The domain of each that has one; the latest of several."""
    links = select(BusinessDomain.business_id, BusinessDomain.domain_id).order_by(BusinessDomain.linked_at)
    rows = await session.execute(links.where(among(BusinessDomain.business_id, business_ids)))
    return {row.business_id: row.domain_id for row in rows}


_TYPES = {"id": "uuid", "domain_id": "uuid", "business_id": "uuid", "confidence": "float8"}

_SEEN = """
UPDATE contact SET seen_at = now() WHERE id IN (
    SELECT c.id FROM unnest($2::uuid[], $3::text[]) AS said(domain_id, identity)
    JOIN contact c ON c.tenant_id = $1 AND c.domain_id = said.domain_id AND c.identity = said.identity
    UNION ALL SELECT c.id FROM unnest($3::text[]) AS said(identity)
    JOIN contact c ON c.tenant_id = $1 AND c.domain_id IS NULL AND c.identity = said.identity)"""

# Whoever was erased is not added, and whoever is suppressed is marked: the database sees to both, before this looks.
_ADD = f"""
WITH added AS (
    INSERT INTO contact (tenant_id, {", ".join(NAMES)})
    SELECT $1, {", ".join("profiles::jsonb" if name == "profiles" else name for name in NAMES)}
    FROM unnest({", ".join(f"${n}::{_TYPES.get(name, 'text')}[]" for n, name in enumerate(NAMES, 3))})
        AS said({", ".join(NAMES)})
    ON CONFLICT DO NOTHING RETURNING id, business_id, email, suppressed_at
)
SELECT id FROM added WHERE email IS NOT NULL AND suppressed_at IS NULL AND business_id = ANY ($2::uuid[])"""  # noqa: S608
_VERIFY = "UPDATE contact SET contact_verification_status = 'Queued' WHERE id = ANY ($1::uuid[])"

_ALONE = f"c.domain_id IS NULL AND c.found_by = '{PROVIDER}' AND c.merged_into_id IS NULL"
_MINE = f"""
    SELECT c.id, c.tenant_id, link.domain_id, replace(c.identity, ':' || c.business_id, '') AS identity
    FROM unnest($1::uuid[], $2::uuid[]) AS link(business_id, domain_id)
    JOIN contact c ON c.business_id = link.business_id WHERE {_ALONE}"""  # noqa: S608 - own names
_ADOPT = f"""
UPDATE contact SET domain_id = mine.domain_id, identity = mine.identity, updated_at = now()
FROM (SELECT DISTINCT ON (m.domain_id, m.identity) m.* FROM ({_MINE}) m
    WHERE NOT EXISTS (SELECT FROM contact k
        WHERE k.tenant_id = m.tenant_id AND k.domain_id = m.domain_id AND k.identity = m.identity)
    ORDER BY m.domain_id, m.identity, m.id) mine
WHERE contact.id = mine.id"""  # noqa: S608 - own names
_MERGE = f"""
UPDATE contact SET merged_into_id = known.id, curation_status = 'Archived', updated_at = now()
FROM ({_MINE}) mine JOIN contact known ON known.tenant_id = mine.tenant_id AND known.domain_id = mine.domain_id
    AND known.identity = mine.identity
WHERE contact.id = mine.id"""  # noqa: S608 - own names
