"""What stands around a contact: the page it was found on, the other contacts there, and where it was sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

SHOWN = 8  # other contacts


@dataclass(frozen=True)
class Neighbour:
    """Another row beside a contact: a page, another contact, or a delivery."""

    id: UUID
    name: str
    note: str | None  # the kind of the page, the position of the person, the id at the destination
    word: str | None  # why the page is of this kind, the status of the delivery
    at: datetime | None  # when the page was read, when the contact was delivered
    number: int | None  # the HTTP status of the page


@dataclass(frozen=True)
class Surroundings:
    """The page of a contact, the other contacts there, and the deliveries."""

    page: Neighbour | None = None
    others: tuple[Neighbour, ...] = ()
    sent: tuple[Neighbour, ...] = ()


async def of_contact(session: AsyncSession, contact_id: UUID) -> Surroundings:
    """Return what stands around a contact, in one query."""
    found: dict[str, list[Any]] = {"page": [], "other": [], "sent": []}
    for what, *columns in await session.execute(_AROUND, {"id": contact_id, "limit": SHOWN}):
        found[what].append(Neighbour(*columns))
    return Surroundings(next(iter(found["page"]), None), tuple(found["other"]), tuple(found["sent"]))


_AROUND = text("""
WITH this AS (SELECT id, page_id, domain_id FROM contact WHERE id = :id)
SELECT 'page' AS what, p.id, p.url AS name, p.kind AS note, p.kind_reason AS word, p.fetched_at AS at,
    p.http_status AS number
FROM page p JOIN this ON p.id = this.page_id
UNION ALL
(SELECT 'other', c.id, coalesce(c.name, c.email, c.phone, c.fax, c.address, c.identity), c.title, c.email, c.updated_at,
    NULL
FROM contact c JOIN this ON c.domain_id = this.domain_id AND c.id <> this.id
WHERE c.merged_into_id IS NULL ORDER BY c.page_id = this.page_id DESC NULLS LAST, c.id LIMIT :limit)
UNION ALL
SELECT 'sent', d.id, destination.name, d.external_id, d.delivery_status, coalesce(d.delivered_at, d.updated_at), NULL
FROM delivery d JOIN this ON d.contact_id = this.id JOIN destination ON destination.id = d.destination_id""")
