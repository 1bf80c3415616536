"""The provider google_places: paid per call, sixty places per query, more by dividing the area into boxes."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta
from math import ceil

import structlog
from pydantic import SecretStr

from scrapersky.core.errors import BadSetting, Retryable
from scrapersky.providers.areas.area import Area, FoundAreas, Geocoder
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import (
    AmbiguousArea,
    Estimate,
    Meter,
    PlaceDetails,
    PlaceQuery,
    ProviderRefused,
    QueryRefused,
    locate,
)
from scrapersky.providers.call_budget import MICROS_PER_CENT, CallBudget, InMemoryCallBudget
from scrapersky.providers.declaration import ProviderContext, ProviderDeclaration
from scrapersky.providers.google.api import MAX_RESULTS_PER_QUERY, PAGE_SIZE, GoogleApi, GooglePlace, GoogleQuery
from scrapersky.providers.google.paging import GooglePages, search_tiles
from scrapersky.providers.google.place import LICENCE, NAME, RETENTION, google_place
from scrapersky.providers.google.prices import ALL_FIELDS, IDS_ONLY, call_micros
from scrapersky.providers.http_api import Api
from scrapersky.providers.split_query import what_and_where

log = structlog.get_logger(__name__)

ASSUMED_PLACES = 500  # for the estimate of a search without a limit
MIN_PAGE_FILL = 0.5  # of the pages of a search by boxes, for the estimate
MAX_TILES = 600


class GooglePlaces:
    """Searches with all fields that a deep scan needs, within the budget; details refresh a single place."""

    name = NAME

    def __init__(
        self,
        api: GoogleApi,
        geocoder: Geocoder | None = None,
        *,
        max_wait: timedelta = timedelta(seconds=20),
        max_tiles: int = MAX_TILES,
    ) -> None:
        self._api = api
        self._geocoder = geocoder
        self._max_wait = max_wait
        self._max_tiles = max_tiles

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Estimate by the limit; ids are searched free of charge, so a search without results costs nothing."""
        places = query.limit or ASSUMED_PLACES
        by_boxes = places > MAX_RESULTS_PER_QUERY
        pages = ceil(places / (PAGE_SIZE * MIN_PAGE_FILL if by_boxes else PAGE_SIZE))
        price, later = call_micros("search", ALL_FIELDS), call_micros("details", ALL_FIELDS)
        page_cents, place_cents = price / MICROS_PER_CENT, later / MICROS_PER_CENT
        assumed = "" if query.limit else "; without a limit this many are assumed, and there may be more"
        explanation = (
            f"Up to {pages} paid calls of {page_cents:g} cents for {places} places{assumed}. "
            f"Details come along; a place looked into more than a day later costs {place_cents:g} cents more."
        )
        return Estimate(3 * pages if by_boxes else pages, ceil(pages * page_cents), explanation, later)

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield every place once, page by page, up to the limit; pages of an interrupted attempt are reused."""
        query = what_and_where(query)
        seen: set[str] = set()
        pages = GooglePages(self._api, meter, self._max_wait)
        for area in await self._areas(query, meter):
            async with aclosing(self._found(query, area, pages, meter, seen)) as found:
                async for page in found:
                    new = {place["id"]: place for place in page if place["id"] not in seen}
                    places = [place for one in new.values() if _is_in(area, place := google_place(one))]
                    selected = places[: None if query.limit is None else query.limit - len(seen)]
                    seen.update(place.provider_id for place in selected)
                    if selected:
                        yield selected
                    if query.limit is not None and len(seen) >= query.limit:
                        break
            if query.limit is not None and len(seen) >= query.limit:
                break
        log.info("places_found", provider=NAME, places=len(seen), calls=meter.calls, cents=round(meter.cents, 2))

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the current details of a place, for two cents."""
        return google_place(await self._api.details(provider_id, ALL_FIELDS, budget))

    async def current_id(self, provider_id: str) -> str:
        """Return the current id of a place, which is free; raise PlaceNotFound if it has none."""
        return str((await self._api.details(provider_id, IDS_ONLY, InMemoryCallBudget()))["id"])

    async def _found(
        self, query: PlaceQuery, area: Area | None, pages: GooglePages, meter: Meter, seen: set[str]
    ) -> AsyncGenerator[tuple[GooglePlace, ...], None]:
        """Search with one query if sixty places are enough, else in boxes: free ids first, then the paid pages."""
        whole = _whole_query(query, area)
        one_query = query.limit is not None and query.limit <= MAX_RESULTS_PER_QUERY and not _is_part(area)
        if not one_query:
            ids = await pages.ids(whole)
            if not ids:
                return
            one_query = len(ids) < MAX_RESULTS_PER_QUERY
        if one_query:
            async for page in pages.places(whole):
                yield page
            return
        if area is None:
            points: list[tuple[float, float]] = []
            async for page in pages.places(whole):
                points += [point for place in page if (point := _point(place)) is not None]
                yield page
            if not points:
                meter.note_missing("Google has more than 60 places, but none on the map to look around.")
                return
            area = Area("", Box.around(points))
        async for page in self._in_boxes(whole, query.text, area, pages, meter, seen):
            yield page

    async def _in_boxes(
        self, whole: GoogleQuery, what: str, area: Area, pages: GooglePages, meter: Meter, seen: set[str]
    ) -> AsyncGenerator[tuple[GooglePlace, ...], None]:
        async def ids_in(tile: Box) -> frozenset[str]:
            return await pages.ids(whole.within(what, tile))

        full = 0
        async for tile in search_tiles(area, ids_in, self._max_tiles):
            full += tile.is_full
            if tile.ids <= seen:
                continue
            async for page in pages.places(whole.within(what, tile.box)):
                yield page
        if full:
            log.warning("google_cells_truncated", cells=full, box=area.box)
            meter.note_missing(f"{full} of the boxes have more places than Google returns: some places are missing.")

    async def _areas(self, query: PlaceQuery, meter: Meter) -> tuple[Area | None, ...]:
        """Return the areas; one that is None if the geocoder does not know it: then Google decides what is in it."""
        if query.areas or (self._geocoder is not None and query.where.is_given):
            try:
                return await locate(query, self._geocoder or _nowhere, meter)
            except AmbiguousArea:
                raise
            except (ProviderRefused, Retryable) as unknown:
                if query.where.shape is not None or query.where.radius_metres or len(query.where.names) > 1:
                    raise
                log.info("area_not_found", area=query.where.words, reason=str(unknown))
        return (None,)


def _whole_query(query: PlaceQuery, area: Area | None) -> GoogleQuery:
    """Return the query for the whole area: by its name; of a shape or one of several towns by its box."""
    where = query.where
    if area is None or not (area.shape is not None or where.shape is not None or len(where.names) > 1):
        name = where.names[0] if where.names else None
        return GoogleQuery(f"{query.text} in {name}" if name else query.text, None, where.language, where.country)
    return GoogleQuery(query.text, area.box, where.language, area.country or where.country)


def _is_part(area: Area | None) -> bool:
    """Return whether the area is only a part of the box that Google searches."""
    return area is not None and (area.shape is not None or area.postcode is not None)


def _is_in(area: Area | None, place: PlaceDetails) -> bool:
    return area is None or area.contains(place.latitude, place.longitude, place.postcode)


async def _nowhere(where: Where) -> FoundAreas:
    raise QueryRefused(f"There is no geocoder for {where.words}.")


def _point(place: GooglePlace) -> tuple[float, float] | None:
    found = google_place(place)
    if found.latitude is None or found.longitude is None:
        return None
    return found.latitude, found.longitude


def _build(context: ProviderContext) -> GooglePlaces:
    settings = context.settings
    key = settings.provider_google_api_key.get_secret_value().strip() if settings.provider_google_api_key else ""
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise BadSetting("PROVIDER_GOOGLE_API_KEY is not a key: it has characters that no key has. Copy it again.")
    api = Api(context.client, settings.provider_google_url, service="Google", setting="PROVIDER_GOOGLE_URL")
    return GooglePlaces(GoogleApi(api, SecretStr(key), context.cooldowns), context.geocoder)


GOOGLE_PLACES = ProviderDeclaration(
    name=NAME,
    label="Google Places",
    build=_build,
    required_setting="provider_google_api_key",
    cost="3.5 US cents per page of 20 places, 2 for the details of a place",
    data="name, address, phone, website, rating, hours, status; nearly every business",
    attribution=LICENCE,
    retention=RETENTION,
    place_url="https://www.google.com/maps/place/?q=place_id:{}",
)
