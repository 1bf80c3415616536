"""The cost of a file of leads of 200,000 businesses: `make bench-leads`."""

import argparse
import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import asyncpg
import uvloop

from benchmarks.engine_server import running_server
from benchmarks.record import Figure, record
from scrapersky.cli.shared.application import keep_start_objects
from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from scrapersky.core.settings import Environment, load
from scrapersky.destinations.files.lead_file import LeadFile
from scrapersky.store.leads.read import LeadQuery, columns_of, leads

BUSINESSES = 200_000
TARGET_MICROSECONDS = 60
MAX_GROWTH_MB = 20
FILL = """
WITH business AS (
    INSERT INTO local_business (id, tenant_id, search_id, name, phone, address, street, postcode, city, country, rating,
        rating_count, categories, latitude, longitude, hours)
    SELECT gen_random_uuid(), $1, $2, 'Business ' || n, '+3589' || 1000000 + n, 'Street ' || n || ', 00100 Helsinki',
        'Street ' || n, '00100', 'Helsinki', 'FI', 4.5, n % 300, '{amenity=dentist}', 60.1, 24.9,
        '{"opening_hours": "Mo-Fr 08:00-17:00"}'
    FROM generate_series(1, $3::int) n RETURNING id, name
), site AS (
    INSERT INTO domain (id, tenant_id, search_id, name, final_url, title, language, technologies)
    SELECT gen_random_uuid(), $1, $2, replace(lower(name), ' ', '-') || '.fi',
        'https://' || replace(lower(name), ' ', '-') || '.fi/', name, 'fi', '{WordPress}'
    FROM business RETURNING id, name, title
), link AS (
    INSERT INTO business_domain (business_id, domain_id, tenant_id)
    SELECT b.id, s.id, $1 FROM business b JOIN site s ON s.title = b.name
), person AS (
    INSERT INTO contact (tenant_id, domain_id, identity, name, title, email, email_kind, verdict, confidence,
        source_url)
    SELECT $1, id, 'email:anna@' || name, 'Anna Virtanen', 'Owner', 'anna@' || name, 'personal', 'deliverable', 0.9,
        'https://' || name || '/team' FROM site
)
INSERT INTO contact (tenant_id, domain_id, identity, email, email_kind, verdict, confidence, source_url)
SELECT $1, id, 'email:info@' || name, 'info@' || name, 'role', 'deliverable', 0.95,
    'https://' || name || '/contact' FROM site"""


async def measure(url: str, businesses: int, ending: str) -> tuple[float, float, int]:
    """Return the microseconds of CPU per row of this process, the growth of its memory in MB, and the rows."""
    settings = load(Environment({"DATABASE_URL": url, "SCRAPERSKY_LOG_LEVEL": "error"}, None))
    database = Database(url, settings)
    await migrate(database)
    admin = await asyncpg.connect(url)
    tenant: UUID = await admin.fetchval("SELECT id FROM tenant LIMIT 1")
    add = "INSERT INTO search (tenant_id, text, provider) VALUES ($1, 'dentists', 'fake') RETURNING id"
    search: UUID = await admin.fetchval(add, tenant)
    await admin.execute(FILL, tenant, search, businesses)
    await admin.execute("VACUUM ANALYZE")
    await admin.close()
    with TemporaryDirectory() as folder:
        keep_start_objects()  # as commands and `serve` do
        memory = resident_mb()  # before the first row of any file
        await write(database, tenant, LeadQuery((search,), sort=("city",)), Path(folder) / f"first{ending}", 1_000)
        before = cpu()
        rows = await write(database, tenant, LeadQuery((search,)), Path(folder) / f"leads{ending}", businesses)
        used = cpu() - before
    await database.close()
    return used / rows * 1e6, resident_mb() - memory, rows


async def write(database: Database, tenant: UUID, query: LeadQuery, path: Path, max_rows: int) -> int:
    """Write up to `max_rows` leads to a file; return their number."""
    async with database.session(tenant) as session:
        found = leads(session, query)

        async def some() -> AsyncIterator[dict[str, Any]]:
            count = 0
            async for row in found:
                yield row
                count += 1
                if count == max_rows:
                    return

        with LeadFile(path, list(columns_of("business"))) as file:
            return await file.write(some())


def cpu() -> float:
    """Return the seconds of CPU that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_mb() -> float:
    """Return the largest memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main() -> None:
    """Print the cost of a row and the growth of the memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--businesses", type=int, default=BUSINESSES)
    parser.add_argument("--ending", default=".csv")
    given = parser.parse_args()
    with running_server() as server:
        async with server.database("leads") as url:
            microseconds, growth, rows = await measure(url, given.businesses, given.ending)
    sys.stdout.write(f"{rows:,} rows: {microseconds:.1f} µs CPU a row, memory grew by {growth:.1f} MB\n")
    record(
        "leads",
        [
            Figure(
                "CPU of a row of a lead file",
                round(microseconds, 1),
                "µs",
                f"≤ {TARGET_MICROSECONDS} µs",
                microseconds <= TARGET_MICROSECONDS,
            ),
            Figure("growth of the memory", round(growth, 1), "MB", f"≤ {MAX_GROWTH_MB} MB", growth <= MAX_GROWTH_MB),
        ],
    )


if __name__ == "__main__":
    uvloop.run(main())  # as commands do
