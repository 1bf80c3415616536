"""The provider openstreetmap, which needs no key: Nominatim finds the area, Overpass the businesses in it."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import structlog

from scrapersky.providers.area import Geocoder, required_what_and_where, what_and_where
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.call_budget import CallBudget
from scrapersky.providers.declaration import ProviderContext, ProviderDeclaration
from scrapersky.providers.http_api import Api
from scrapersky.providers.osm.categories import BusinessKind, business_kind
from scrapersky.providers.osm.overpass import Overpass, query_by_id, query_by_name, query_by_tags
from scrapersky.providers.osm.place import LICENCE, NAME, osm_place
from scrapersky.providers.throttle import Throttle

log = structlog.get_logger(__name__)

MAX_PLACES = 2000  # of one search; use a server of your own or Overture for more
SEARCH_SECONDS = 90  # the query itself may take 60


class OpenStreetMap:
    """Free, for small areas: two requests per search."""

    name = NAME

    def __init__(self, geocoder: Geocoder, overpass: Overpass) -> None:
        self._geocoder = geocoder
        self._overpass = overpass

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Return a cost of zero, and how the query is interpreted."""
        what, _ = what_and_where(query)
        return Estimate(2, 0, f"OpenStreetMap costs nothing. {_interpretation(what, business_kind(what))}")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield one page with every business of the kind in the area, up to the limit."""
        what, where = required_what_and_where(query)
        kind = business_kind(what)
        if kind is None or kind.unknown:
            meter.notes.append(_interpretation(what, kind))
        meter.charge()
        area = await self._geocoder(where, query.country, query.language)
        limit = min(query.limit or MAX_PLACES, MAX_PLACES)
        overpass_query = query_by_tags(kind.tags, area, limit) if kind else query_by_name(what, area, limit)
        meter.charge()
        elements = await self._overpass.elements(overpass_query)
        if len(elements) >= MAX_PLACES:
            meter.notes.append(f"Only the first {MAX_PLACES} places were taken; search smaller areas for the others.")
        converted = (osm_place(element, area.country) for element in elements)
        found = {place.provider_id: place for place in converted if place is not None}
        log.info("places_found", provider=NAME, area=area.name, kind=what, elements=len(elements), places=len(found))
        if found:
            yield list(found.values())

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the place with this id, such as node/123."""
        query = query_by_id(provider_id)
        if query is None:
            raise ProviderRefused(f"{provider_id[:40]!r} is not an id of OpenStreetMap; one looks like node/123.")
        await budget.charge(0)
        elements = await self._overpass.elements(query)
        place = next((place for element in elements if (place := osm_place(element)) is not None), None)
        if place is None:
            raise ProviderRefused(f"OpenStreetMap has no business {provider_id} any more.")
        return place


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
