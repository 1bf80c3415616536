"""Budgets for the details of places: charged before every call, refunded if the call is not billed."""

from typing import Protocol
from uuid import UUID


class DetailBudget(Protocol):
    """The budget for the details of one place."""

    async def charge(self, cents: float) -> None:
        """Charge a call before it is made, also a free one; raise NoMoney if the budget does not cover it."""

    async def refund(self) -> None:
        """Refund the latest call, which failed and is not billed."""


class DetailBudgets(Protocol):
    """Provides budgets, from this process or from the database that all workers share."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """Return the budget of a search at its provider; without a search, that of the tenant."""


class InMemoryDetailBudget:
    """A budget without limit, which only counts."""

    def __init__(self) -> None:
        self.calls = 0
        self.cents = 0.0
        self._latest = 0.0

    async def charge(self, cents: float) -> None:
        """Count the call and its price."""
        self.calls += 1
        self.cents += cents
        self._latest = cents

    async def refund(self) -> None:
        """Subtract the latest price."""
        self.cents -= self._latest
        self._latest = 0.0


class InMemoryDetailBudgets:
    """A new budget without limit for every place."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """Return a budget without limit."""
        return InMemoryDetailBudget()
