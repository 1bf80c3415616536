"""Nominatim: finds the area of a name."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.extract.text import single_line
from scrapersky.providers.area import Area, Box, wrapped
from scrapersky.providers.base import ProviderBusy, ProviderFailed, ProviderRefused, UnknownArea
from scrapersky.providers.http_api import Api, ApiResponse, ClientSource
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import LimitsSource, Throttle

POLICY = "https://operations.osmfoundation.org/policies/nominatim/"
# The usage policy of the public server: at most one request per second.
PUBLIC_HOST, PUBLIC_DELAY_SECONDS = "openstreetmap.org", 1.0
CACHE_TTL = timedelta(days=1)
# Categories with a border whose inside Overpass knows; a street or a river is searched by its box.
BORDERED = ("boundary", "place", "landuse")
POINT_DEGREES = 0.02  # the box around a village of which only the centre is known
SHORT_WAIT, LONG_WAIT = timedelta(seconds=30), timedelta(minutes=1)


class Nominatim:
    """Sends throttled requests and caches the results, as the usage policy requires."""

    def __init__(self, api: Api, throttle: Throttle, cache: ResponseCache | None = None) -> None:
        self._api = api
        self._throttle = throttle
        self._cache = cache or InMemoryResponseCache()

    async def find(self, name: str, country: str | None = None, language: str | None = None) -> Area:
        """Return the area of this name; raise UnknownArea if there is none."""
        query = {"q": name, "format": "jsonv2", "limit": "5", "addressdetails": "1"}
        query |= {"countrycodes": country.lower()} if country else {}
        query |= {"accept-language": language} if language else {}
        areas = [area for place in await self._places(f"/search?{urlencode(query)}") if (area := _area(place))]
        if not areas:
            within = f" in {country.upper()}" if country else ""
            raise UnknownArea(f"No place named {name!r} is known{within}; check its spelling, or add the country.")
        # The name of a town may also be that of a bar on another continent: areas with a border come first.
        return next((area for area in areas if area.relation is not None), areas[0])

    async def _places(self, path: str) -> list[Mapping[str, Any]]:
        async def send() -> list[Mapping[str, Any]]:
            found = self._checked(await self._api.send("GET", path, headers={"Accept": "application/json"}))
            return [place for place in found if isinstance(place, dict)]

        return await self._throttle.cached(self._cache, f"{self._api.base_url}{path}", CACHE_TTL, send)

    def _checked(self, response: ApiResponse) -> list[Any]:
        found, status = response.json, response.status
        if status == 200 and isinstance(found, list):
            return found
        if status >= 500:
            raise ProviderBusy(f"Nominatim is overloaded (it answers {status}).", SHORT_WAIT)
        if status == 403 or response.is_html:
            raise ProviderRefused(
                f"Nominatim does not serve us (it answers {status} with a page): its usage policy requires at most "
                f"one request per second and a contact. Read {POLICY}, set CRAWL_CONTACT_URL, or use a server of your "
                f"own with {self._api.setting}."
            )
        if status == 429:
            raise ProviderBusy("Nominatim requires fewer requests (it answers 429).", LONG_WAIT)
        if status == 400:
            raise ProviderRefused(f"Nominatim does not accept the query: {_message(found)}")
        raise ProviderFailed(f"Nominatim answers {status} with something that is not a list of places.")


def build_nominatim(
    settings: Settings, client: ClientSource, limits: LimitsSource, cache: ResponseCache | None
) -> Nominatim:
    """Build the geocoder of all providers from the settings."""
    url, delay = settings.provider_nominatim_url, settings.provider_nominatim_delay_seconds
    host = urlsplit(url).hostname or ""
    if delay < PUBLIC_DELAY_SECONDS and (host == PUBLIC_HOST or host.endswith(f".{PUBLIC_HOST}")):
        raise BadSetting(
            f"PROVIDER_NOMINATIM_DELAY_SECONDS is {delay:g}, but {host} allows one request per second. Leave it at "
            f"{PUBLIC_DELAY_SECONDS:g}, or set PROVIDER_NOMINATIM_URL to a server of your own."
        )
    api = Api(client, url, service="Nominatim", setting="PROVIDER_NOMINATIM_URL", seconds=20)
    return Nominatim(api, Throttle("Nominatim", url, delay=timedelta(seconds=delay), limits=limits), cache)


def _message(found: Any) -> str:
    error = found.get("error") if isinstance(found, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "no reason given.")[:200]


def _area(place: Mapping[str, Any]) -> Area | None:
    """Convert a place to an area; None if its box or point is invalid. Numbers are strings here."""
    address = place.get("address")
    country = address.get("country_code") if isinstance(address, dict) else None
    try:
        box = _box(place)
        osm_id = int(place["osm_id"]) if "osm_id" in place else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    bordered = place.get("osm_type") == "relation" and (place.get("category") or place.get("class")) in BORDERED
    return Area(
        name=single_line(str(place.get("display_name") or place.get("name") or ""), 300),
        box=box,
        country=country.upper() if isinstance(country, str) and len(country) == 2 else None,
        relation=osm_id if bordered else None,
    )


def _box(place: Mapping[str, Any]) -> Box:
    if place.get("boundingbox"):
        south, north, west, east = (float(edge) for edge in place["boundingbox"])
    else:
        south = north = float(place["lat"])
        west = east = float(place["lon"])
    if not (-90 <= south <= north <= 90 and -180 <= west <= 180 and -180 <= east <= 180):
        raise ValueError(place)
    if north - south < POINT_DEGREES / 100:
        south, north = max(south - POINT_DEGREES, -90), min(north + POINT_DEGREES, 90)
        return Box(south, wrapped(west - POINT_DEGREES), north, wrapped(east + POINT_DEGREES))
    return Box(south, west, north, east)
