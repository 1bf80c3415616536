"""Budgets of calls: a call is booked before it is made, and stays booked unless it is certainly not billed."""

from typing import Literal, Protocol
from uuid import UUID

from scrapersky.core.errors import ScraperSkyError

MICROS_PER_CENT = 10_000  # money is counted in millionths of the provider's currency, so that no price is rounded

CallMethod = Literal["search", "details"]


class BudgetReached(ScraperSkyError):
    """The next call would cost more than the budget of the search."""

    def __init__(self, cents: float, budget_cents: float) -> None:
        super().__init__(
            f"The next call would bring the cost to {cents / 100:.2f}, over the budget of {budget_cents / 100:.2f}."
        )


class CallBudget(Protocol):
    """The budget for the calls of a search, or for the details of one place; one call at a time."""

    async def charge(self, micros: int) -> None:
        """Book a call before it is made, also a free one; raise NoMoney or BudgetReached if it is not covered."""

    async def confirm(self) -> None:
        """Confirm the latest call: a response came, so it is billed."""

    async def refund(self) -> None:
        """Refund the latest call, which was refused or not sent. A call without a response stays booked."""


class CallBudgets(Protocol):
    """Provides budgets, from this process or from the database that all workers share."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str, method: CallMethod) -> CallBudget:
        """Return the budget of a search at its provider; without a search, that of the tenant."""


class InMemoryCallBudget:
    """A budget in this process, which counts, and ends at its limit if it has one."""

    def __init__(self, budget_cents: int | None = None) -> None:
        self.calls = 0
        self.micros = 0
        self._budget_cents = budget_cents
        self._latest = 0

    @property
    def cents(self) -> float:
        """What was spent, for people to read."""
        return self.micros / MICROS_PER_CENT

    async def charge(self, micros: int) -> None:
        """Count the call and its price; raise BudgetReached over the limit."""
        total = self.micros + micros
        if self._budget_cents is not None and total > self._budget_cents * MICROS_PER_CENT:
            raise BudgetReached(total / MICROS_PER_CENT, self._budget_cents)
        self.calls += 1
        self.micros = total
        self._latest = micros

    async def confirm(self) -> None:
        """Keep the latest price."""
        self._latest = 0

    async def refund(self) -> None:
        """Subtract the latest price."""
        self.micros -= self._latest
        self._latest = 0


class InMemoryCallBudgets:
    """A new budget without limit for every search and place."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str, method: CallMethod) -> CallBudget:
        """Return a budget without limit."""
        return InMemoryCallBudget()
