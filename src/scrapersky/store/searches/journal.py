"""The journals of searches in the database: a search goes on where it was killed, on whichever host."""

import json
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import Database
from scrapersky.models import Search
from scrapersky.providers.search_journal import IS_CHARGED, Journal, JournalPage

KEPT_HOURS = 26  # a search that waits for the next day's quota goes on where it stopped

_FIND = text(f"""
SELECT page FROM search_journal WHERE search_id = :search AND query = :question AND page_token = :place
    AND stored_at > now() - interval '{KEPT_HOURS} hours'""")  # noqa: S608 - a number of ours

_KEEP = text("""
INSERT INTO search_journal (search_id, query, page_token, tenant_id, page)
VALUES (:search, :question, :place, :tenant, CAST(:page AS jsonb))
ON CONFLICT (search_id, query, page_token) DO UPDATE SET page = excluded.page, stored_at = now()""")

_FORGET = text("DELETE FROM search_journal WHERE search_id = :search AND query = :question")
_CLOSE = text("DELETE FROM search_journal WHERE search_id = :search")
_BOOK = text("""
UPDATE search_journal SET page = page || jsonb_build_object(cast(:booked AS text), true) WHERE search_id = :search""")
_INHERIT = text("""
INSERT INTO search_journal (search_id, query, page_token, tenant_id, page, stored_at)
SELECT :heir, j.query, j.page_token, j.tenant_id, j.page, j.stored_at
FROM search_journal j JOIN search s ON s.id = j.search_id
WHERE s.tenant_id = :tenant AND lower(s.text) = lower(:text) AND lower(s.area) IS NOT DISTINCT FROM lower(:area)
    AND s.provider = :provider AND s.id <> :heir AND j.page ->> :booked IS NOT NULL ON CONFLICT DO NOTHING""")


class StoredJournal:
    """The journal of one search; each page is a transaction of its own, while the work goes on without a session."""

    def __init__(self, database: Database, tenant_id: UUID, search_id: UUID) -> None:
        self._database = database
        self._tenant_id = tenant_id
        self._search_id = search_id

    async def find(self, question: str, place: str) -> JournalPage | None:
        """The page, if an earlier attempt got it a day ago at most."""
        wanted = {"search": self._search_id, "question": question, "place": place}
        async with self._database.session(self._tenant_id) as session:
            page: JournalPage | None = await session.scalar(_FIND, wanted)
        return page

    async def keep(self, question: str, place: str, page: JournalPage) -> None:
        """Written before anything is made of it."""
        row = {"search": self._search_id, "question": question, "place": place, "page": json.dumps(page)}
        async with self._database.session(self._tenant_id) as session:
            await session.execute(_KEEP, {**row, "tenant": self._tenant_id})

    async def forget(self, question: str) -> None:
        """Drop the pages of a question that has to be asked anew."""
        async with self._database.session(self._tenant_id) as session:
            await session.execute(_FORGET, {"search": self._search_id, "question": question})


class StoredJournals:
    """The journals of all searches, by tenant and search."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, tenant_id: UUID, search_id: UUID) -> Journal:
        """The journal of this search."""
        return StoredJournal(self._database, tenant_id, search_id)


async def close(session: AsyncSession, search_id: UUID) -> None:
    """The search has its result, in this same transaction: what it was told on the way is not needed any more."""
    await session.execute(_CLOSE, {"search": search_id})


async def book(session: AsyncSession, search_id: UUID) -> None:
    """The search ended before its provider did: what it was told is paid for, and the beginning if it goes on."""
    await session.execute(_BOOK, {"search": search_id, "booked": IS_CHARGED})


async def inherit(session: AsyncSession, heir: Search) -> None:
    """What the same search with another limit was told and paid for a day ago at most is not paid for again."""
    same = {"tenant": heir.tenant_id, "text": heir.text, "area": heir.area, "provider": heir.provider}
    await session.execute(_INHERIT, {"heir": heir.id, "booked": IS_CHARGED, **same})
