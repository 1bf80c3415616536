"""What the database knows about the missing web site of a business: its email addresses, and other records of it."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database

MAX_RECORDS = 20
NEAR_METRES = 150.0


@dataclass(frozen=True)
class OtherRecord:
    """Another business of the tenant that has a web site: with the same number, or the same name and near."""

    name: str
    website: str
    provider: str | None
    same_phone: bool
    metres: float | None


@dataclass(frozen=True)
class KnownAbout:
    """The email addresses of a business, and other records that may be the same business."""

    emails: tuple[str, ...] = ()
    records: tuple[OtherRecord, ...] = ()


class KnownSites(Protocol):
    """Looks up what is known about a business."""

    async def of(self, tenant_id: UUID, business_id: UUID) -> KnownAbout:
        """Return what is known."""


class NothingKnown:
    """No database: nothing is known."""

    async def of(self, tenant_id: UUID, business_id: UUID) -> KnownAbout:
        """Return nothing."""
        return KnownAbout()


class StoredKnownSites:
    """Looks businesses up in the database, two short queries by index each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant_id: UUID, business_id: UUID) -> KnownAbout:
        """Return what the tenant's own rows say."""
        async with self._database.session(tenant_id) as session:
            return await look_up(session, tenant_id, business_id)


async def look_up(session: AsyncSession, tenant_id: UUID, business_id: UUID) -> KnownAbout:
    """Return the addresses that the provider names, and up to MAX_RECORDS other records."""
    asked = {"tenant": tenant_id, "business": business_id}
    emails = await session.scalars(EMAILS, asked)
    records = await session.execute(RECORDS, {**asked, "metres": NEAR_METRES, "max_records": MAX_RECORDS})
    return KnownAbout(tuple(emails), tuple(OtherRecord(**row._mapping) for row in records))


EMAILS = text("""
SELECT DISTINCT email FROM contact
WHERE tenant_id = :tenant AND business_id = :business AND email IS NOT NULL AND suppressed_at IS NULL
ORDER BY email LIMIT 20""")

# Two lookups by index: one condition with OR would read every business. A site that was found by us is not a record.
_METRES = """111320 * sqrt((o.latitude - b.latitude) ^ 2
    + ((o.longitude - b.longitude) * cos(radians(b.latitude))) ^ 2)"""
_OTHER = f"""
    SELECT o.id, o.name, o.website, o.place_id, {_METRES} AS metres, o.phone = b.phone AS same_phone
    FROM local_business b JOIN local_business o ON o.tenant_id = b.tenant_id AND o.id <> b.id
        AND o.website IS NOT NULL AND o.website_how IS NULL"""  # noqa: S608 - own names
RECORDS = text(f"""
SELECT DISTINCT ON (other.id) other.name, other.website, p.provider, coalesce(other.same_phone, false) AS same_phone,
    other.metres
FROM ({_OTHER} AND o.phone = b.phone WHERE b.tenant_id = :tenant AND b.id = :business
    UNION ALL {_OTHER} AND o.name_key = b.name_key WHERE b.tenant_id = :tenant AND b.id = :business) other
LEFT JOIN place p ON p.id = other.place_id
WHERE other.same_phone OR other.metres <= :metres
ORDER BY other.id LIMIT :max_records""")  # noqa: S608 - own names
