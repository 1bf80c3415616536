"""Who pays for the details of a place: the purse is asked before every call, and gets back what was not billed."""

from typing import Protocol
from uuid import UUID


class DetailBudget(Protocol):
    """The money for the details of one place."""

    async def take(self, cents: float) -> None:
        """The price of a call that is about to be made, and is counted even if it is free; NoMoney if there is none."""

    async def give_back(self) -> None:
        """The latest call failed: it was made, but is not billed."""


class DetailBudgets(Protocol):
    """Where the purses lie: in this process, or in the database that all workers share."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """The purse of a search at its provider; without a search, its tenant's own."""


class InMemoryDetailBudget:
    """A purse that never runs dry and only counts: for whoever has no database."""

    def __init__(self) -> None:
        self.calls = 0
        self.cents = 0.0
        self._latest = 0.0

    async def take(self, cents: float) -> None:
        """Count the call and its price."""
        self.calls += 1
        self.cents += cents
        self._latest = cents

    async def give_back(self) -> None:
        """Take the latest price off again."""
        self.cents -= self._latest
        self._latest = 0.0


class InMemoryDetailBudgets:
    """A fresh purse for every place."""

    def of(self, tenant_id: UUID, search_id: UUID | None, provider: str) -> DetailBudget:
        """An unlimited one."""
        return InMemoryDetailBudget()
