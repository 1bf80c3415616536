"""The pages of a Google search, stored in a journal so that each is requested and paid for once."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.base import Meter, ProviderBusy, ProviderFailed
from scrapersky.providers.google.api import MAX_RESULTS_PER_QUERY, GoogleApi, GooglePlace, GoogleQuery, PageOfPlaces
from scrapersky.providers.google.errors import MINUTE, PageTokenRefused
from scrapersky.providers.google.place import NAME
from scrapersky.providers.google.prices import ALL_FIELDS, IDS_ONLY, call_micros
from scrapersky.providers.search_journal import IS_CHARGED

log = structlog.get_logger(__name__)

MAX_PAGES = 10  # of one query; Google ends after three
MIN_SIDE_METRES = 25.0  # a shopping centre has more than sixty places within fifty metres
MAX_DEGREES = 180.0

# Returns the ids of the places in a box, at most sixty.
IdsIn = Callable[[Box], Awaitable[frozenset[str]]]


class GooglePages:
    """Reads pages through a journal: a page of an earlier attempt is charged to the meter, but not requested again."""

    def __init__(self, api: GoogleApi, meter: Meter, max_wait: timedelta) -> None:
        self._api = api
        self._meter = meter
        self._journal = meter.journal
        self._wait_left = max_wait

    async def places(self, query: GoogleQuery) -> AsyncIterator[tuple[GooglePlace, ...]]:
        """Yield the places with all their fields, page by page."""
        async for page in self._pages(query, ALL_FIELDS):
            yield page

    async def ids(self, query: GoogleQuery) -> frozenset[str]:
        """Return the ids of the places, which is free."""
        return frozenset([place["id"] async for page in self._pages(query, IDS_ONLY) for place in page])

    async def _pages(self, query: GoogleQuery, fields: tuple[str, ...]) -> AsyncIterator[tuple[GooglePlace, ...]]:
        token, requested, is_retry = None, 0, False
        while requested < MAX_PAGES:
            try:
                page = await self._page(query, fields, token)
            except PageTokenRefused as refused:
                if is_retry:
                    raise ProviderFailed(f"{refused} Twice in one search.") from None
                token, requested, is_retry = None, 0, True
                await self._journal.forget(_journal_key(query, fields))
                continue
            requested += 1
            if page.places:
                yield page.places
            token = page.next_token
            if token is None:
                return

    async def _page(self, query: GoogleQuery, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        key, position = _journal_key(query, fields), _digest(token or "")
        stored = await self._journal.find(key, position)
        if stored is not None:
            if not stored.get(IS_CHARGED):  # the version before has stored it
                await self._meter.pay(call_micros("search", fields))
                await self._meter.budget.confirm()
            return PageOfPlaces(tuple(stored["places"]), stored["next_token"])
        page = await self._search(query, fields, token)
        stored = {"places": list(page.places), "next_token": page.next_token, IS_CHARGED: True}
        await self._journal.keep(key, position, stored)
        return page

    async def _search(self, query: GoogleQuery, fields: tuple[str, ...], token: str | None) -> PageOfPlaces:
        """Request a page; wait for short cooldowns, which is cheaper than starting the search again."""
        while True:
            try:
                return await self._api.search(query, fields, self._meter, token)
            except ProviderBusy as busy:
                if busy.after > min(MINUTE, self._wait_left):
                    raise
                log.info("provider_throttled", provider=NAME, reason=str(busy), seconds=busy.after.seconds)
                self._wait_left -= busy.after
                await asyncio.sleep(busy.after.total_seconds())


@dataclass(frozen=True)
class Tile:
    """A box that is not divided further; `is_full` if it may have more places than Google returns."""

    box: Box
    ids: frozenset[str]
    is_full: bool


async def search_tiles(area: Area, ids_in: IdsIn, max_tiles: int) -> AsyncIterator[Tile]:
    """Divide the box of an area into quarters until each has fewer than sixty places; yield the tiles with places.

    Neighbours share an edge and may share places. Quarters outside the area are left out.
    """
    pending = [area.box]
    requested = 0
    while pending:
        box = pending.pop()
        if not area.overlaps(box):
            continue
        if box.width > MAX_DEGREES:  # the maximum of one query
            pending.extend(reversed(box.quarters()))
            continue
        requested += 1
        ids = await ids_in(box)
        is_full = len(ids) >= MAX_RESULTS_PER_QUERY
        if is_full and box.shorter_side_metres >= 2 * MIN_SIDE_METRES and requested + len(pending) < max_tiles:
            pending.extend(reversed(box.quarters()))
        elif ids:
            yield Tile(box, ids, is_full)


def _journal_key(query: GoogleQuery, fields: tuple[str, ...]) -> str:
    """Return the name of a query and its mask in the journal."""
    return _digest(json.dumps([query.body(None), fields], sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
