"""Journals of searches: the pages that are already paid for, so that a retry does not pay again."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

JournalPage = Mapping[str, Any]  # parsed JSON
IS_CHARGED = "is_booked"  # in a page: its price is in the cost of the search already


class Journal(Protocol):
    """The pages of one search, by query and by their position in its results."""

    async def find(self, question: str, place: str) -> JournalPage | None:
        """Return the page if an earlier attempt stored it."""

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Store a page, before it is processed."""

    async def forget(self, question: str) -> None:
        """Delete the pages of a query that must be sent again."""


class Journals(Protocol):
    """Provides journals, from this process or from the database that all workers share."""

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """Return the journal of this search."""


class InMemoryJournal:
    """A journal that goes with its process."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[str, JournalPage]] = {}

    async def find(self, question: str, place: str) -> JournalPage | None:
        """Return the page if it is stored."""
        return self._pages.get(question, {}).get(place)

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Store a page."""
        self._pages.setdefault(question, {})[place] = page

    async def forget(self, question: str) -> None:
        """Delete the pages of a query."""
        self._pages.pop(question, None)


class InMemoryJournals:
    """A new journal for every attempt."""

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """Return an empty journal."""
        return InMemoryJournal()
