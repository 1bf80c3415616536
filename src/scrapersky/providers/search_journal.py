"""What a search has been told and has paid for so far, page by page: so that no attempt pays for it again."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

JournalPage = Mapping[str, Any]  # as JSON can hold it
IS_CHARGED = "is_booked"  # in a page: an earlier run has its price in the cost of the search


class Journal(Protocol):
    """The pages of one search, by question and by their place in its answer."""

    async def find(self, question: str, place: str) -> JournalPage | None:
        """The page, if an earlier attempt got it."""

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Remember a page, before anything is made of it."""

    async def forget(self, question: str) -> None:
        """Drop the pages of a question that has to be asked anew."""


class Journals(Protocol):
    """Where the journals lie: in this process, or in the database that all workers share."""

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """The journal of this search."""


class InMemoryJournal:
    """A journal that goes with its process."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[str, JournalPage]] = {}

    async def find(self, question: str, place: str) -> JournalPage | None:
        """The page, if it was asked for before."""
        return self._pages.get(question, {}).get(place)

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Remember a page."""
        self._pages.setdefault(question, {})[place] = page

    async def forget(self, question: str) -> None:
        """Drop the pages of a question."""
        self._pages.pop(question, None)


class InMemoryJournals:
    """A fresh journal for every attempt: for whoever has no database."""

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """An empty one."""
        return InMemoryJournal()
