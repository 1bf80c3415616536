"""Budgets of searches in the database: charged before a call, by any number of workers, and never overdrawn."""

import asyncio
from datetime import date, timedelta
from math import ceil
from uuid import UUID

import asyncpg

from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.providers.base import NoMoney
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.store.money.quotas import next_month

RETRY_AFTER = timedelta(hours=1)  # a raised budget wakes the waiting rows at once; this covers all other cases
SOON = timedelta(seconds=30)
LOCKED_WAIT_SECONDS = 0.02
# How each reason begins, which distinguishes rows that wait for money from rows that wait for something else.
NO_MONEY = "No money for its details: "

_RESERVE = "SELECT * FROM reserve_details($1, $2, $3, $4)"
_REFUND = "SELECT refund_details($1, $2, $3, $4, $5)"


class StoredDetailBudget:
    """The budget for the details of one place. A call of a worker that dies stays charged: it may have been billed."""

    def __init__(self, database: Database, tenant_id: UUID, search_id: UUID | None, provider: str) -> None:
        self._database = database
        self._owner = (tenant_id, search_id, provider)
        self._charged: tuple[int, date] | None = None

    async def charge(self, cents: float) -> None:
        """Charge whole cents, rounded up, to the budget of the search and the month of the tenant, or raise NoMoney."""
        price = ceil(cents)
        row = await self._reserve(price)
        if row["refusal"] is not None:
            raise no_money(row["refusal"], row["used"], row["allowed"])
        self._charged = (price, row["month"])

    async def refund(self) -> None:
        """Refund what was charged to the same budget and month."""
        charged, self._charged = self._charged, None
        if charged is not None and charged[0]:
            async with self._database.engine_connection() as connection:
                await connection.execute(_REFUND, *self._owner, *charged)

    async def _reserve(self, price: int) -> asyncpg.Record:
        while True:
            try:
                async with self._database.engine_connection() as connection:
                    return await connection.fetchrow(_RESERVE, *self._owner, price)
            except asyncpg.LockNotAvailableError:  # another transaction writes to the search
                await asyncio.sleep(LOCKED_WAIT_SECONDS)


class StoredDetailBudgets:
    """The budgets of all searches and tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """Return the budget of this search, or of its tenant."""
        return StoredDetailBudget(self._database, tenant_id, search_id, provider)


def no_money(refusal: str, used: int, allowed: int) -> NoMoney:
    """Build NoMoney with the reason, the retry time and what lifts it."""
    if refusal == "open":
        return NoMoney(f"{NO_MONEY}the search is running again, and its calls are charged first.", SOON)
    if refusal == "budget":
        return NoMoney(
            f"{NO_MONEY}the budget of the search is used up ({used / 100:.2f} of {allowed / 100:.2f}). Raise it: "
            "request the same search with a larger budget (`scrapersky find … --budget`, or POST /api/v3/searches).",
            RETRY_AFTER,
        )
    return NoMoney(
        f"{NO_MONEY}of {allowed / 100:.2f} a month {used / 100:.2f} are spent or reserved by searches. It continues "
        "next month, or when an admin of the operator tenant raises cents_per_month.",
        min(RETRY_AFTER, next_month(clock.now().date()) - clock.now()),
    )
