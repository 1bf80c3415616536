"""The pages of one Google search: asked for once, paid for once, also when the search has to be taken up again."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import structlog

from scrapersky.providers import google_prices
from scrapersky.providers.area import Box
from scrapersky.providers.google_api import GoogleApi, GooglePlace, PageOfPlaces, Question
from scrapersky.providers.google_errors import MINUTE, PageTokenRefused
from scrapersky.providers.place import Meter, ProviderBusy, ProviderFailed

log = structlog.get_logger(__name__)

MOST_PAGES = 10  # of one question; Google ends after three

# Every page a search has had so far, by question, mask and token.
Journal = dict[tuple[Question, tuple[str, ...], str | None], PageOfPlaces]


class GooglePages:
    """Reads pages through a journal: what an earlier attempt got is charged as it was, and not asked for again."""

    def __init__(self, api: GoogleApi, meter: Meter, journal: Journal, patience: timedelta) -> None:
        self._api = api
        self._meter = meter
        self._journal = journal
        self._patience = patience

    async def places(self, question: Question) -> AsyncIterator[tuple[GooglePlace, ...]]:
        """Every place with everything about it, page by page."""
        async for page in self._pages(question, google_prices.EVERYTHING):
            yield page

    async def ids(self, question: Question) -> frozenset[str]:
        """The ids alone, which cost nothing."""
        return frozenset(
            [place["id"] async for page in self._pages(question, google_prices.IDS_ONLY) for place in page]
        )

    async def _pages(self, question: Question, fields: tuple[str, ...]) -> AsyncIterator[tuple[GooglePlace, ...]]:
        token, asked, again = None, 0, False
        while asked < MOST_PAGES:
            try:
                page = await self._page(question, fields, token)
            except PageTokenRefused as refused:
                if again:
                    raise ProviderFailed(f"{refused} Twice in one search.") from None
                token, asked, again = None, 0, True
                self._forget(question, fields)
                continue
            asked += 1
            if page.places:
                yield page.places
            token = page.next_token
            if token is None:
                return

    async def _page(self, question: Question, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        known = self._journal.get((question, fields, token))
        if known is not None:
            self._meter.charge(google_prices.cents("search", fields))
            return known
        page = await self._patiently(question, fields, token)
        self._journal[question, fields, token] = page
        return page

    async def _patiently(self, question: Question, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        """A minute's wait in the middle of a search is cheaper than beginning again."""
        while True:
            try:
                return await self._api.search(question, fields, self._meter, token)
            except ProviderBusy as busy:
                if busy.after > min(MINUTE, self._patience):
                    raise
                log.info("provider_waited_for", provider="google_places", reason=str(busy), seconds=busy.after.seconds)
                self._patience -= busy.after
                await asyncio.sleep(busy.after.total_seconds())

    def _forget(self, question: Question, fields: tuple[str, ...]) -> None:
        for entry in [entry for entry in self._journal if entry[:2] == (question, fields)]:
            del self._journal[entry]


def within(question: Question, text: str, box: Box) -> Question:
    """The same question about a box."""
    return Question(text, box, question.language, question.country)
