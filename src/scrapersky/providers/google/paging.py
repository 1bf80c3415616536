"""The pages of one Google search: asked for once, paid for once, also when the search has to be taken up again."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from datetime import timedelta

import structlog

from scrapersky.providers.area import Box
from scrapersky.providers.base import Meter, ProviderBusy, ProviderFailed
from scrapersky.providers.google import prices as google_prices
from scrapersky.providers.google.api import GoogleApi, GooglePlace, PageOfPlaces, TextQuery
from scrapersky.providers.google.errors import MINUTE, PageTokenRefused
from scrapersky.providers.search_journal import IS_CHARGED

log = structlog.get_logger(__name__)

MAX_PAGES = 10  # of one question; Google ends after three


class GooglePages:
    """Reads pages through a journal: what an earlier attempt got is charged as it was, and not asked for again."""

    def __init__(self, api: GoogleApi, meter: Meter, patience: timedelta) -> None:
        self._api = api
        self._meter = meter
        self._journal = meter.journal
        self._patience = patience

    async def places(self, question: TextQuery) -> AsyncIterator[tuple[GooglePlace, ...]]:
        """Every place with everything about it, page by page."""
        async for page in self._pages(question, google_prices.ALL_FIELDS):
            yield page

    async def ids(self, question: TextQuery) -> frozenset[str]:
        """The ids alone, which cost nothing."""
        return frozenset(
            [place["id"] async for page in self._pages(question, google_prices.IDS_ONLY) for place in page]
        )

    async def _pages(self, question: TextQuery, fields: tuple[str, ...]) -> AsyncIterator[tuple[GooglePlace, ...]]:
        token, asked, again = None, 0, False
        while asked < MAX_PAGES:
            try:
                page = await self._page(question, fields, token)
            except PageTokenRefused as refused:
                if again:
                    raise ProviderFailed(f"{refused} Twice in one search.") from None
                token, asked, again = None, 0, True
                await self._journal.forget(_name(question, fields))
                continue
            asked += 1
            if page.places:
                yield page.places
            token = page.next_token
            if token is None:
                return

    async def _page(self, question: TextQuery, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        name, place = _name(question, fields), _digest(token or "")
        known = await self._journal.find(name, place)
        if known is not None:
            if not known.get(IS_CHARGED):
                self._meter.charge(google_prices.cents("search", fields))
            return PageOfPlaces(tuple(known["places"]), known["next_token"])
        page = await self._patiently(question, fields, token)
        await self._journal.keep(name, place, {"places": list(page.places), "next_token": page.next_token})
        return page

    async def _patiently(self, question: TextQuery, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        """A minute's wait in the middle of a search is cheaper than beginning again."""
        while True:
            try:
                return await self._api.search(question, fields, self._meter, token)
            except ProviderBusy as busy:
                if busy.after > min(MINUTE, self._patience):
                    raise
                log.info("provider_throttled", provider="google_places", reason=str(busy), seconds=busy.after.seconds)
                self._patience -= busy.after
                await asyncio.sleep(busy.after.total_seconds())


def within(question: TextQuery, text: str, box: Box) -> TextQuery:
    """The same question about a box."""
    return TextQuery(text, box, question.language, question.country)


def _name(question: TextQuery, fields: tuple[str, ...]) -> str:
    """What a question is called in the journal: the same words and the same mask, the same name."""
    return _digest(json.dumps([question.body(None), fields], sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
