"""What `make bench-scale` measures: each operation as the application does it, on a database of any size."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from benchmarks.scale_fill import DOMAINS, EXPIRED, FIRST_RETENTION_YEARS, PAGES_OF_SEARCH, RETENTIONS
from benchmarks.scale_fill import PAGES as PAGES_OF_DOMAIN
from scrapersky.actions.erase_person import erase
from scrapersky.core.database import Database
from scrapersky.engine.outcomes import COMPLETED
from scrapersky.engine.queue import Queue, Settlement
from scrapersky.engine.workflow import Claimed
from scrapersky.maintenance.expire_contacts import ExpireContacts
from scrapersky.models import Search
from scrapersky.store.audit.record import Actor
from scrapersky.store.leads.read import LeadQuery, leads
from scrapersky.store.listing.paginate import Sort, count, page
from scrapersky.store.listing.resources import CONTACTS, PAGES, Resource
from scrapersky.store.privacy.identify import PersonQuery
from scrapersky.store.searches import snapshot

BATCH = 50
LISTED = 50
LEASE_SECONDS = 600


@dataclass
class Scale:
    """One database: what the operations need to work on it."""

    owner: asyncpg.Connection  # what it does is not counted
    database: Database
    queue: Queue
    tenant: UUID
    search: UUID  # the newest
    domains: int  # of the whole database
    claimed: list[Claimed]
    erased: int = 0  # people so far
    retained: int = 0  # runs of the retention so far

    @property
    def actor(self) -> Actor:
        """The actor of what people do."""
        return Actor("benchmark", self.tenant, "admin", "benchmark")


async def claim(scale: Scale) -> int:
    """Claim a batch of pages."""
    async with scale.database.engine_connection() as connection:
        rows = await scale.queue.claim(connection, BATCH, LEASE_SECONDS)
    scale.claimed += rows
    return len(rows)


async def settle(scale: Scale) -> int:
    """Settle the batch of pages that was claimed first."""
    rows, scale.claimed = scale.claimed[:BATCH], scale.claimed[BATCH:]
    done = [Settlement(row["id"], row["attempts"], COMPLETED) for row in rows]
    async with scale.database.engine_connection() as connection:
        lost = await scale.queue.settle(connection, done)
    return len(done) - len(lost)


async def list_pages(scale: Scale) -> int:
    """List the latest pages of a kind."""
    return await _list(scale, PAGES, {"kind": "contact"})


async def list_contacts(scale: Scale) -> int:
    """List the contacts of a search."""
    return await _list(scale, CONTACTS, {"search_id": scale.search})


async def _list(scale: Scale, resource: Resource, filters: Mapping[str, object]) -> int:
    async with scale.database.session(scale.tenant) as session:
        columns = ("id", resource.label, "updated_at")
        found = await page(session, resource, scale.tenant, columns, filters, sort=Sort(), limit=LISTED)
        await count(session, resource, scale.tenant, filters)
    return len(found)


async def count_progress(scale: Scale) -> int:
    """Count the progress of a search anew; the item is a page of the search."""
    async with scale.database.session(scale.tenant) as session:
        await snapshot.forget(session, [scale.search])
        await snapshot.current(session, await session.get_one(Search, scale.search))
    return PAGES_OF_SEARCH


async def poll_progress(scale: Scale) -> int:
    """Read the stored progress of a search, as a browser does that watches it."""
    async with scale.database.session(scale.tenant) as session:
        await snapshot.of_list(session, [scale.search])
    return 1


async def export_leads(scale: Scale) -> int:
    """Read the lead file of a search; the item is a row of the file."""
    rows = 0
    async with scale.database.session(scale.tenant) as session:
        async for _ in leads(session, LeadQuery((scale.search,))):
            rows += 1
    assert rows == DOMAINS
    return rows


async def shorten_retention(scale: Scale) -> None:
    """Let the next group of contacts be older than the retention."""
    scale.retained += 1
    days = 365 * (FIRST_RETENTION_YEARS + 2 - scale.retained) - 100
    await scale.owner.execute("UPDATE retention SET days = $1 WHERE name = 'contacts'", days)


async def retain(scale: Scale) -> int:
    """Delete the contacts that were not seen for longer than the retention."""
    async with scale.database.engine_connection() as connection:
        said = await ExpireContacts().run(connection)
    assert f"deleted {EXPIRED} " in said, said
    return EXPIRED


async def erase_one(scale: Scale) -> int:
    """Erase a person from every table; the item is a page of the database, because all of them are read."""
    scale.erased += 1
    address = f"anna@site-{scale.domains - scale.erased}.example"
    async with scale.database.session(scale.tenant) as session:
        done = await erase(session, scale.actor, PersonQuery(email=address))
    assert done.contacts == 1, done
    return scale.domains * PAGES_OF_DOMAIN


@dataclass(frozen=True)
class Operation:
    """One operation: its name, what is counted, how often it is measured."""

    name: str
    item: str
    run: Callable[[Scale], Awaitable[int]]
    times: int
    grows: str = ""  # why its cost grows with the size of the database
    prepare: Callable[[Scale], Awaitable[None]] | None = None  # before each run, not counted

    @property
    def label(self) -> str:
        """The name and the item."""
        return f"{self.name}, {self.item}"


OPERATIONS = (
    Operation("claim", "row", claim, 20),
    Operation("settle", "row", settle, 20),
    Operation("list pages", "row", list_pages, 20, "its count ends at 10,000 rows, and small databases have fewer"),
    Operation("list contacts", "row", list_contacts, 10),
    Operation("count progress", "page", count_progress, 5),
    Operation("poll progress", "poll", poll_progress, 20),
    Operation("lead file", "row", export_leads, 5),
    Operation(
        "retention",
        "contact",
        retain,
        RETENTIONS - 1,
        "the oldest contacts of a large database are on disk, not in memory",
        shorten_retention,
    ),
    Operation("erasure", "stored page", erase_one, 3),
)
