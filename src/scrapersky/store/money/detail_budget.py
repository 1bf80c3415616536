"""The purses of searches in the database: taken from before a call, by however many workers, and never overdrawn."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from math import ceil
from uuid import UUID

import asyncpg

from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.providers.base import NoMoney
from scrapersky.providers.detail_budget import DetailBudget

LOOK_AGAIN = timedelta(hours=1)  # whoever raises a budget wakes what waits; this is for all other ways
SOON = timedelta(seconds=30)
HELD_SECONDS = 0.02
# How each reason begins, so that what waits for money is known from what waits for something else.
WAITS = "No money for its details: "

_RESERVE = "SELECT * FROM reserve_details($1, $2, $3, $4)"
_REFUND = "SELECT refund_details($1, $2, $3, $4, $5)"


class StoredDetailBudget:
    """The money for one place. A worker that dies in the middle of a call leaves it paid: it may have been billed."""

    def __init__(self, database: Database, tenant_id: UUID, search_id: UUID | None, provider: str) -> None:
        self._database = database
        self._whose = (tenant_id, search_id, provider)
        self._taken: tuple[int, date] | None = None

    async def charge(self, cents: float) -> None:
        """In whole cents, rounded up: out of the budget of the search and the month of the tenant at once."""
        price = ceil(cents)
        row = await self._reserve(price)
        if row["refusal"] is not None:
            raise no_money(row["refusal"], row["used"], row["allowed"])
        self._taken = (price, row["month"])

    async def refund(self) -> None:
        """To the budget and the month it came from."""
        taken, self._taken = self._taken, None
        if taken is not None and taken[0]:
            async with self._database.engine_connection() as connection:
                await connection.execute(_REFUND, *self._whose, *taken)

    async def _reserve(self, price: int) -> asyncpg.Record:
        while True:
            try:
                async with self._database.engine_connection() as connection:
                    return await connection.fetchrow(_RESERVE, *self._whose, price)
            except asyncpg.LockNotAvailableError:  # somebody writes to the search: without the book in hand, wait
                await asyncio.sleep(HELD_SECONDS)


class StoredDetailBudgets:
    """The purses of all searches and tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """The purse of this search, or of its tenant."""
        return StoredDetailBudget(self._database, tenant_id, search_id, provider)


def no_money(refusal: str, used: int, allowed: int) -> NoMoney:
    """Why a purse stays shut, until when, and what opens it."""
    if refusal == "open":
        return NoMoney(f"{WAITS}the search is being made again, and gets what it needs of its budget first.", SOON)
    if refusal == "budget":
        return NoMoney(
            f"{WAITS}the budget of the search is used up ({used / 100:.2f} of {allowed / 100:.2f}). Raise it by asking "
            "for the same search with a larger one: `scrapersky find … --budget`, or POST /api/v3/searches.",
            LOOK_AGAIN,
        )
    return NoMoney(
        f"{WAITS}of {allowed / 100:.2f} a month {used / 100:.2f} are spent or held by searches. It goes on next month, "
        "or when an admin of the house raises cents_per_month.",
        min(LOOK_AGAIN, _next_month() - clock.now()),
    )


def _next_month() -> datetime:
    first = clock.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1, tzinfo=UTC)
