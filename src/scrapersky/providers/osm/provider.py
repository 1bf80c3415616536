"""OpenStreetMap, the provider that needs no key: Nominatim says where, Overpass what is there."""

from collections.abc import AsyncIterator, Sequence

import structlog

from scrapersky.providers.area import what_and_where
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.providers.osm import query as osm_query
from scrapersky.providers.osm.categories import BusinessKind, business_kind
from scrapersky.providers.osm.nominatim import Nominatim
from scrapersky.providers.osm.overpass import Overpass
from scrapersky.providers.osm.place import place_of

log = structlog.get_logger(__name__)

MAX_PLACES = 2000  # of one answer: more is for one's own server or for Overture
NAMED = "names that contain it are searched for instead."


class OpenStreetMap:
    """Free, for small areas: two questions a search."""

    name = "openstreetmap"

    def __init__(self, nominatim: Nominatim, overpass: Overpass) -> None:
        self._nominatim = nominatim
        self._overpass = overpass

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Nothing, whatever is asked."""
        what, _ = what_and_where(query)
        return Estimate(
            calls=2, cents=0, explanation=f"OpenStreetMap costs nothing. {_reading(what, business_kind(what))}"
        )

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """One page with every business of the kind in the area, up to the limit."""
        what, where = what_and_where(query)
        if not where or not what:
            raise ProviderRefused(
                "The search does not say what to look for and where: write 'dentists in Helsinki', or give an area."
            )
        kind = business_kind(what)
        if kind is None or kind.unknown:
            meter.notes.append(_reading(what, kind))
        meter.charge()
        area = await self._nominatim.find(where, query.country, query.language)
        most = min(query.limit or MAX_PLACES, MAX_PLACES)
        question = osm_query.by_tags(kind.tags, area, most) if kind else osm_query.by_name(what, area, most)
        meter.charge()
        elements = await self._overpass.ask(question)
        if len(elements) >= MAX_PLACES:
            meter.notes.append(f"Only the first {MAX_PLACES} places were taken; search smaller areas for the rest.")
        found = {place.provider_id: place for one in elements if (place := place_of(one, area.country)) is not None}
        log.info(
            "places_found", provider=self.name, area=area.name, kind=what, elements=len(elements), places=len(found)
        )
        if found:
            yield list(found.values())

    async def details(self, provider_id: str, purse: DetailBudget) -> PlaceDetails:
        """The element with this id, such as node/123."""
        question = osm_query.by_id(provider_id)
        if question is None:
            raise ProviderRefused(f"{provider_id[:40]!r} is no id of OpenStreetMap; one looks like node/123.")
        await purse.take(0)
        elements = await self._overpass.ask(question)
        place = next((place for one in elements if (place := place_of(one)) is not None), None)
        if place is None:
            raise ProviderRefused(f"OpenStreetMap has no business {provider_id} any more.")
        return place


def _reading(what: str, kind: BusinessKind | None) -> str:
    """How the words were understood."""
    if kind is None:
        return f"{what!r} is no kind of business known here: {NAMED}"
    read = f"{kind.known!r} is read as {' or '.join(kind.tags)}."
    return f"{read} Left out of account: {', '.join(kind.unknown)}." if kind.unknown else read
