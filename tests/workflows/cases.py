"""What the contract tests must know of each workflow: how a row of it comes to be, and what finding something means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from scrapersky.engine.pipeline import Pipeline
from scrapersky.extract.web_address import CompanyDomain
from scrapersky.pipeline import the_line
from scrapersky.providers.place import PlaceDetails
from scrapersky.sandbox.parcels import parcel_line


@dataclass(frozen=True)
class Case:
    """A workflow under contract."""

    name: str
    line: Callable[[], Pipeline]
    insert: str  # $1 tenant, $2 number, $3 status
    found: Callable[[], Any]
    products: str | None = None  # counts what success leaves in the next inbox

    async def add(
        self, admin: asyncpg.Connection, tenant: UUID, count: int = 1, status: str = "Queued", start: int = 0
    ) -> list[UUID]:
        """Rows in this order."""
        return [await admin.fetchval(self.insert, tenant, f"{start + n}", status) for n in range(count)]

    def __str__(self) -> str:
        return self.name


def real_line() -> Pipeline:
    return the_line({})


CASES = [
    Case(
        "deep_scan",
        real_line,
        "INSERT INTO place (tenant_id, provider, provider_id, name, deep_scan_status) "
        "VALUES ($1, 'test', $2, 'n', $3) RETURNING id",
        lambda: PlaceDetails("test", "1", "A Business", website="https://a-business.example/"),
        "SELECT count(*) FROM local_business WHERE domain_extraction_status = 'Queued'",
    ),
    Case(
        "domain_extraction",
        real_line,
        "INSERT INTO local_business (tenant_id, name, website, domain_extraction_status) "
        "VALUES ($1, $2, 'https://one.fi', $3) RETURNING id",
        lambda: CompanyDomain("one.fi", "one.fi", "https://one.fi/"),
        "SELECT count(*) FROM domain",
    ),
    Case(
        "packing",
        parcel_line,
        "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, $2, $3) RETURNING id",
        lambda: None,
        "SELECT count(*) FROM parcel WHERE weighing_status = 'Queued'",
    ),
    Case(
        "weighing",
        parcel_line,
        "INSERT INTO parcel (tenant_id, label, weighing_status) VALUES ($1, $2, $3) RETURNING id",
        lambda: 100,
        "SELECT count(*) FROM shipment WHERE shipping_status = 'Queued'",
    ),
    Case(
        "shipping",
        parcel_line,
        "INSERT INTO shipment (tenant_id, parcel_id, shipping_status) "
        "VALUES ($1, gen_random_uuid(), coalesce($3, $2)) RETURNING id",
        lambda: None,
    ),
]
