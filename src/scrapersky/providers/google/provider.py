"""Google Places (New): paid by the call, sixty places a question, and as many as there are by asking box by box."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta
from math import ceil

import structlog

from scrapersky.core.errors import Retryable
from scrapersky.providers.area import Box, Geocoder, what_and_where
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.detail_budget import DetailBudget, InMemoryDetailBudget
from scrapersky.providers.google import prices as google_prices
from scrapersky.providers.google.api import MAX_RESULTS_PER_QUERY, PAGE_SIZE, GoogleApi, GooglePlace, TextQuery
from scrapersky.providers.google.paging import GooglePages, within
from scrapersky.providers.google.place import place_of
from scrapersky.providers.google.tiles import search_tiles

log = structlog.get_logger(__name__)

ASSUMED_PLACES = 500  # for the estimate of a search without a limit
FILLED = 0.5  # how full the pages of a search by boxes are, at the least one should reckon with
MAX_CELLS = 600


class GooglePlaces:
    """Search with everything a deep scan wants, within the budget; details to refresh a single place."""

    name = "google_places"

    def __init__(
        self,
        api: GoogleApi,
        geocoder: Geocoder | None = None,
        *,
        patience: timedelta = timedelta(minutes=3),
        most_cells: int = MAX_CELLS,
    ) -> None:
        self._api = api
        self._geocoder = geocoder
        self._patience = patience
        self._most_cells = most_cells

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """By the limit; ids are looked for free of charge, so finding nothing costs nothing."""
        wanted = query.limit or ASSUMED_PLACES
        by_boxes = wanted > MAX_RESULTS_PER_QUERY
        pages = ceil(wanted / (PAGE_SIZE * FILLED if by_boxes else PAGE_SIZE))
        price = google_prices.cents("search", google_prices.ALL_FIELDS)
        told = f"Up to {pages} paid calls of {price:g} cents for {wanted} places"
        assumed = "" if query.limit else "; without a limit this many are assumed, and there may be more"
        later = google_prices.cents("details", google_prices.ALL_FIELDS)
        along = f" Details come along; a place looked into more than a day later costs {later:g} cents more."
        calls = 3 * pages if by_boxes else pages
        return Estimate(calls, ceil(pages * price), f"{told}{assumed}.{along}", later)

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Every place once, page by page, up to the limit; taken up again where an earlier attempt was interrupted."""
        seen: set[str] = set()
        pages = GooglePages(self._api, meter, self._patience)
        async with aclosing(self._found(query, pages, meter, seen)) as found:
            async for page in found:
                fresh = {place["id"]: place for place in page if place["id"] not in seen}
                wanted = list(fresh.values())[: None if query.limit is None else query.limit - len(seen)]
                seen.update(place["id"] for place in wanted)
                if wanted:
                    yield [place_of(place) for place in wanted]
                if query.limit is not None and len(seen) >= query.limit:
                    break
        log.info("places_found", provider=self.name, places=len(seen), calls=meter.calls, cents=round(meter.cents, 2))

    async def details(self, provider_id: str, purse: DetailBudget) -> PlaceDetails:
        """The place as it is now, for two cents."""
        return place_of(await self._api.details(provider_id, google_prices.ALL_FIELDS, purse))

    async def current_id(self, provider_id: str) -> str:
        """The id that this place has now, for nothing."""
        return str((await self._api.details(provider_id, google_prices.IDS_ONLY, InMemoryDetailBudget()))["id"])

    async def _found(
        self, query: PlaceQuery, pages: GooglePages, meter: Meter, seen: set[str]
    ) -> AsyncGenerator[tuple[GooglePlace, ...], None]:
        """One question where sixty will do, else box by box: ids first, for nothing, then the leaves."""
        what, where = what_and_where(query)
        whole = TextQuery(f"{what} in {where}" if where else what, None, query.language, query.country)
        few = query.limit is not None and query.limit <= MAX_RESULTS_PER_QUERY
        if not few:
            ids = await pages.ids(whole)
            if not ids:
                return
            few = len(ids) < MAX_RESULTS_PER_QUERY
        if few:
            async for page in pages.places(whole):
                yield page
            return
        box = await self._area(query, where)
        if box is None:
            points: list[tuple[float, float]] = []
            async for page in pages.places(whole):
                points += [point for place in page if (point := _point(place)) is not None]
                yield page
            if not points:
                meter.notes.append("Google has more than 60 places, but none on the map to look around.")
                return
            box = Box.around(points)
        async for page in self._boxed(whole, what, box, pages, meter, seen):
            yield page

    async def _boxed(
        self, whole: TextQuery, what: str, box: Box, pages: GooglePages, meter: Meter, seen: set[str]
    ) -> AsyncGenerator[tuple[GooglePlace, ...], None]:
        async def ids_in(cell: Box) -> frozenset[str]:
            return await pages.ids(within(whole, what, cell))

        full = 0
        async for leaf in search_tiles(box, ids_in, self._most_cells):
            full += leaf.full
            if leaf.ids <= seen:
                continue
            async for page in pages.places(within(whole, what, leaf.box)):
                yield page
        if full:
            log.warning("google_cells_truncated", cells=full, box=box)
            meter.notes.append(f"In {full} of the boxes there are more places than Google tells of: some are missing.")

    async def _area(self, query: PlaceQuery, where: str | None) -> Box | None:
        """The box of the area by name; None when nobody knows it, for then the first sixty places say where it is."""
        if self._geocoder is None or not where:
            return None
        try:
            return (await self._geocoder(where, query.country, query.language)).box
        except (ProviderRefused, Retryable) as unknown:
            log.info("area_not_found", area=where, reason=str(unknown))
            return None


def _point(place: GooglePlace) -> tuple[float, float] | None:
    found = place_of(place)
    if found.latitude is None or found.longitude is None:
        return None
    return found.latitude, found.longitude
