"""Budgets of calls in the database: booked before a call, by any number of workers, and never overdrawn."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg

from scrapersky.core import clock
from scrapersky.core.database import Database
from scrapersky.providers.base import NoMoney
from scrapersky.providers.call_budget import BudgetReached, CallBudget, CallMethod
from scrapersky.store.money.quotas import next_month

RETRY_AFTER = timedelta(hours=1)  # a raised budget wakes the waiting rows at once; this covers all other cases
SOON = timedelta(seconds=30)
LOCKED_WAIT_SECONDS = 0.02
# How each reason begins, for people; that a row waits for money is in its column `waits_for`.
NO_MONEY = "No money for its details: "

_BOOK = "SELECT * FROM book_call($1, $2, $3, $4, $5)"
_CONFIRM = "SELECT confirm_call($1)"
_REFUND = "SELECT refund_call($1)"


class StoredCallBudget:
    """The budget for the calls of one search, or for the details of one place.

    A call is booked before it is made. Until it is confirmed or refunded it is a row of `unanswered_call`: that of a
    worker that dies, or of a lost connection, stays there and stays booked, because it may have been billed.
    """

    def __init__(
        self, database: Database, tenant_id: UUID, search_id: UUID | None, provider: str, method: CallMethod
    ) -> None:
        self._database = database
        self._owner = (tenant_id, search_id, provider, method)
        self._call_id: UUID | None = None

    async def charge(self, micros: int) -> None:
        """Book a call in the budget of the search and the month of the tenant, or raise NoMoney or BudgetReached."""
        row = await self._book(micros)
        if row["refusal"] == "budget" and self._owner[-1] == "search":
            raise BudgetReached(row["used"], row["allowed"])
        if row["refusal"] is not None:
            raise no_money(row["refusal"], row["used"], row["allowed"])
        self._call_id = row["call_id"]

    async def confirm(self) -> None:
        """Confirm that the latest call was answered and is billed."""
        await self._end(_CONFIRM)

    async def refund(self) -> None:
        """Refund the latest call to the same budget and month."""
        await self._end(_REFUND)

    async def _end(self, statement: str) -> None:
        call_id, self._call_id = self._call_id, None
        if call_id is not None:
            async with self._database.engine_connection() as connection:
                await connection.execute(statement, call_id)

    async def _book(self, micros: int) -> asyncpg.Record:
        while True:
            try:
                async with self._database.engine_connection() as connection:
                    return await connection.fetchrow(_BOOK, *self._owner, micros)
            except asyncpg.LockNotAvailableError:  # another transaction writes to the search
                await asyncio.sleep(LOCKED_WAIT_SECONDS)


class StoredCallBudgets:
    """The budgets of all searches and tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str, method: CallMethod) -> CallBudget:
        """Return the budget of this search, or of its tenant."""
        return StoredCallBudget(self._database, tenant_id, search_id, provider, method)


def no_money(refusal: str, used: int, allowed: int) -> NoMoney:
    """Build NoMoney with the reason, the retry time and what lifts it."""
    if refusal == "open":
        return NoMoney(f"{NO_MONEY}the search is running again, and its calls are charged first.", SOON)
    if refusal == "budget":
        return NoMoney(
            f"{NO_MONEY}the budget of the search is used up ({used / 100:.2f} of {allowed / 100:.2f}). "
            "Give the search a larger budget.",
            RETRY_AFTER,
        )
    return NoMoney(
        f"{NO_MONEY}of {allowed / 100:.2f} a month {used / 100:.2f} are spent or reserved by searches. It continues "
        "next month, or when an admin of the operator tenant raises cents_per_month.",
        min(RETRY_AFTER, next_month(clock.now().date()) - clock.now()),
    )
