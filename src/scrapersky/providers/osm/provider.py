"""The provider openstreetmap, which needs no key: Nominatim finds the area, Overpass the businesses in it."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import structlog

from scrapersky.providers.areas.area import Area, Geocoder
from scrapersky.providers.areas.geometry import Box, Polygon
from scrapersky.providers.areas.tiles import tile_count, tiles
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceNotFound, PlaceQuery, UnknownArea, locate
from scrapersky.providers.call_budget import CallBudget
from scrapersky.providers.declaration import ProviderContext, ProviderDeclaration
from scrapersky.providers.http_api import Api
from scrapersky.providers.osm.categories import BusinessKind, business_kind
from scrapersky.providers.osm.overpass import Element, Overpass, TooLarge, query_by_id, query_by_name, query_by_tags
from scrapersky.providers.osm.place import LICENCE, NAME, osm_place
from scrapersky.providers.split_query import required_query, what_and_where
from scrapersky.providers.throttle import Throttle

log = structlog.get_logger(__name__)

MAX_PLACES = 2000  # of one query
# The public servers are not meant for downloading whole countries: larger areas are for Overture.
TILE_METRES = 120_000.0
MAX_TILES = 100  # queries of one search
MIN_TILE_METRES = 500.0  # smaller ones are not divided
MAX_FAILURES = 3  # queries of one search that the server gave up; then it is too busy, and the search waits
SEARCH_SECONDS = 90  # the query itself may take 60


class OpenStreetMap:
    """Free: one request for the area, and one for each tile of it."""

    name = NAME

    def __init__(self, geocoder: Geocoder, overpass: Overpass) -> None:
        self._geocoder = geocoder
        self._overpass = overpass

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Return a cost of zero, the number of requests, and how the query is interpreted."""
        what = what_and_where(query).text
        read = _interpretation(what, business_kind(what))
        if not query.areas:
            return Estimate(2, 0, f"OpenStreetMap costs nothing. {read}")
        requests = sum(tile_count(area, TILE_METRES) for area in query.areas)
        in_tiles = f" The area is searched in {requests} tiles, one after the other." if requests > 1 else ""
        return Estimate(requests + 1, 0, f"OpenStreetMap costs nothing.{in_tiles} {read}")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield every business of the kind in the areas, up to the limit, one page for each tile."""
        query = required_query(query)
        kind = business_kind(query.text)
        if kind is None or kind.unknown:
            meter.notes.append(_interpretation(query.text, kind))
        seen: set[str] = set()
        if not query.areas:
            await meter.pay()
        for area in await locate(query, self._geocoder, meter):
            async for elements in self._in_tiles(query, kind, area, meter):
                places = (osm_place(element, area.country) for element in elements)
                found = {
                    place.provider_id: place
                    for place in places
                    if place is not None
                    and place.provider_id not in seen
                    and area.contains(place.latitude, place.longitude, place.postcode)
                }
                page = list(found.values())[: None if query.limit is None else query.limit - len(seen)]
                seen.update(place.provider_id for place in page)
                if page:
                    yield page
                if query.limit is not None and len(seen) >= query.limit:
                    return
        log.info("places_found", provider=NAME, kind=query.text, places=len(seen), calls=meter.calls)

    async def _in_tiles(
        self, query: PlaceQuery, kind: BusinessKind | None, area: Area, meter: Meter
    ) -> AsyncIterator[Sequence[Element]]:
        """Yield the elements of each tile; a tile that is full, or too much for the server, is divided."""
        if tile_count(area, TILE_METRES) > 4 * MAX_TILES:
            raise UnknownArea(_too_large(area))
        pending = tiles(area, TILE_METRES)[::-1]
        if len(pending) > MAX_TILES:
            raise UnknownArea(_too_large(area))
        # The limit of the search is that of one query only if the server knows the exact border.
        is_exact = area.postcode is None and not isinstance(area.shape, Polygon)
        limit = min(query.limit or MAX_PLACES, MAX_PLACES) if is_exact and len(pending) == 1 else MAX_PLACES
        left, failures = MAX_TILES, 0
        while pending:
            tile = pending.pop()
            if left <= 0:
                meter.note_missing(f"{len(pending) + 1} parts of {area.name} were not searched: they are too many.")
                return
            left -= 1
            may_divide = tile.shorter_side_metres >= 2 * MIN_TILE_METRES
            try:
                elements = await self._elements(query.text, kind, area, tile, limit, meter)
            except TooLarge:
                failures += 1
                if not may_divide or failures >= MAX_FAILURES:
                    raise
                elements = None
            if elements is None or (len(elements) >= MAX_PLACES and may_divide):
                pending += [quarter for quarter in reversed(tile.quarters()) if area.overlaps(quarter)]
                continue
            if len(elements) >= MAX_PLACES:
                meter.note_missing(f"Only {MAX_PLACES} places of a small part of {area.name} were taken.")
            yield elements

    async def _elements(
        self, what: str, kind: BusinessKind | None, area: Area, tile: Box, limit: int, meter: Meter
    ) -> Sequence[Element]:
        await meter.pay()
        return await self._overpass.elements(
            query_by_tags(kind.tags, area, limit, tile) if kind else query_by_name(what, area, limit, tile)
        )

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the place with this id, such as node/123."""
        query = query_by_id(provider_id)
        if query is None:
            raise PlaceNotFound(f"{provider_id[:40]!r} is not an id of OpenStreetMap; one looks like node/123.")
        await budget.charge(0)
        elements = await self._overpass.elements(query)
        place = next((place for element in elements if (place := osm_place(element)) is not None), None)
        if place is None:
            raise PlaceNotFound(f"OpenStreetMap has no business {provider_id} any more.")
        return place


def _too_large(area: Area) -> str:
    return (
        f"{area.name} is too large for OpenStreetMap's public servers: an area of {MAX_TILES} boxes of "
        f"{TILE_METRES / 1000:g} km is the limit. Search a part of it, or use Overture (--provider overture)."
    )


def _interpretation(what: str, kind: BusinessKind | None) -> str:
    if kind is None:
        return f"{what!r} is not a known kind of business: names that contain it are searched for instead."
    read = f"{kind.known!r} is read as {' or '.join(kind.tags)}."
    return f"{read} Ignored words: {', '.join(kind.unknown)}." if kind.unknown else read


def _build(context: ProviderContext) -> OpenStreetMap:
    settings = context.settings
    url = settings.provider_overpass_url.rstrip("/").removesuffix("/interpreter")
    api = Api(context.client, url, service="Overpass", setting="PROVIDER_OVERPASS_URL", seconds=SEARCH_SECONDS)
    throttle = Throttle("Overpass", url, lease=timedelta(seconds=2 * SEARCH_SECONDS), limits=context.limits)
    ttl = timedelta(seconds=settings.provider_osm_cache_ttl_seconds)
    return OpenStreetMap(context.geocoder, Overpass(api, throttle, context.response_cache, ttl=ttl))


OPENSTREETMAP = ProviderDeclaration(
    name=NAME,
    label="OpenStreetMap",
    build=_build,
    data="name, address, phone, website, email, socials, hours; what volunteers entered",
    attribution=LICENCE,
    place_url="https://www.openstreetmap.org/{}",
)
