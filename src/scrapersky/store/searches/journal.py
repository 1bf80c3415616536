"""Journals of searches in the database: a search that was interrupted continues on any host where it stopped."""

import json
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.models import Search
from scrapersky.providers.search_journal import IS_CHARGED, Journal, JournalPage

KEPT_HOURS = 26  # longer than the wait for the next day's quota

_FIND = text(f"""
SELECT page FROM search_journal WHERE search_id = :search AND query = :question AND page_token = :place
    AND stored_at > now() - interval '{KEPT_HOURS} hours'""")  # noqa: S608 - a number of ours

_KEEP = text("""
INSERT INTO search_journal (search_id, query, page_token, tenant_id, page)
VALUES (:search, :question, :place, :tenant, CAST(:page AS jsonb))
ON CONFLICT (search_id, query, page_token) DO UPDATE SET page = excluded.page, stored_at = now()""")

_FORGET = text("DELETE FROM search_journal WHERE search_id = :search AND query = :question")
_CLOSE = text("DELETE FROM search_journal WHERE search_id = :search")
_MARK_CHARGED = text("""
UPDATE search_journal SET page = page || jsonb_build_object(cast(:is_charged AS text), true)
WHERE search_id = :search""")
_COPY_CHARGED = text("""
INSERT INTO search_journal (search_id, query, page_token, tenant_id, page, stored_at)
SELECT :search, j.query, j.page_token, j.tenant_id, j.page, j.stored_at
FROM search_journal j JOIN search s ON s.id = j.search_id
WHERE s.tenant_id = :tenant AND lower(s.text) = lower(:text) AND lower(s.area) IS NOT DISTINCT FROM lower(:area)
    AND s.area_request IS NOT DISTINCT FROM (SELECT area_request FROM search WHERE id = :search)
    AND s.provider = :provider AND s.id <> :search AND j.page ->> :is_charged IS NOT NULL ON CONFLICT DO NOTHING""")


class StoredJournal:
    """The journal of one search. Each page is a transaction of its own: a search runs without a session."""

    def __init__(self, database: Database, tenant_id: UUID, search_id: UUID) -> None:
        self._database = database
        self._tenant_id = tenant_id
        self._search_id = search_id

    async def find(self, question: str, place: str) -> JournalPage | None:
        """Return the page if an earlier attempt stored it within KEPT_HOURS."""
        wanted = {"search": self._search_id, "question": question, "place": place}
        async with self._database.session(self._tenant_id) as session:
            page: JournalPage | None = await session.scalar(_FIND, wanted)
        return page

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Store a page, before it is processed."""
        row = {"search": self._search_id, "question": question, "place": place, "page": json.dumps(page)}
        async with self._database.session(self._tenant_id) as session:
            await session.execute(_KEEP, {**row, "tenant": self._tenant_id})

    async def forget(self, question: str) -> None:
        """Delete the pages of a query that must be sent again."""
        async with self._database.session(self._tenant_id) as session:
            await session.execute(_FORGET, {"search": self._search_id, "question": question})


class StoredJournals:
    """The journals of all searches, by tenant and search."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """Return the journal of this search."""
        return StoredJournal(self._database, tenant_id, search_id)


async def close(session: AsyncSession, search_id: UUID) -> None:
    """Delete the journal of a search that is complete, in the transaction that stores its result."""
    await session.execute(_CLOSE, {"search": search_id})


async def mark_charged(session: AsyncSession, search_id: UUID) -> None:
    """Mark the pages of an incomplete search as charged: if it continues, it does not pay for them again."""
    await session.execute(_MARK_CHARGED, {"search": search_id, "is_charged": IS_CHARGED})


async def copy_charged_pages(session: AsyncSession, search: Search) -> None:
    """Copy the charged pages of the same search with another limit: they are not paid for again."""
    same = {"tenant": search.tenant_id, "text": search.text, "area": search.area, "provider": search.provider}
    await session.execute(_COPY_CHARGED, {"search": search.id, "is_charged": IS_CHARGED, **same})
