"""Nominatim: finds the area of a name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.extract.text import fold, single_line
from scrapersky.providers.areas.area import Area, FoundAreas
from scrapersky.providers.areas.geometry import Box, Circle, Shape, wrapped
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import (
    AmbiguousArea,
    ProviderBusy,
    ProviderFailed,
    ProviderRefused,
    QueryRefused,
    UnknownArea,
)
from scrapersky.providers.fields import finite, part, text
from scrapersky.providers.http_api import Api, ApiResponse, ClientSource
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import LimitsSource, Throttle

POLICY = "https://operations.osmfoundation.org/policies/nominatim/"
# The usage policy of the public server: at most one request per second.
PUBLIC_HOST, PUBLIC_DELAY_SECONDS = "openstreetmap.org", 1.0
CACHE_TTL = timedelta(days=1)
# Categories with a border whose inside Overpass knows; a street or a river is searched by its box.
BORDERED = ("boundary", "place", "landuse")
# What a name usually means; a street or a shop of that name is meant only if there is no such place.
TOWNS = ("city", "town", "village", "municipality", "hamlet", "suburb")
SETTLEMENTS = frozenset(
    {*TOWNS, "borough", "district", "city_district", "neighbourhood", "quarter", "county", "state", "region"}
    | {"province", "country", "island", "postcode", "administrative"}
)
SAME_IMPORTANCE = 0.12  # Nominatim's measure, between 0 and 1; of Paris in France and in Texas it is .3 apart
POSTCODE = re.compile(r"[A-Za-z]{0,2}\d[A-Za-z\d]{0,4}(?:[ -]?[A-Za-z\d]{2,4})?")
SEVERAL = re.compile(r", |\b(?:and|und|ja|och|og|et|y|e|i|en)\b|[&+]", re.IGNORECASE)  # between towns, perhaps
MAX_CANDIDATES = 10
FORM = {"format": "jsonv2", "limit": str(MAX_CANDIDATES), "addressdetails": "1"}
NOWHERE = Where()
POINT_DEGREES = 0.02  # the box around a village of which only the centre is known
SHORT_WAIT, LONG_WAIT = timedelta(seconds=30), timedelta(minutes=1)


class Nominatim:
    """Sends throttled requests and caches the results, as the usage policy requires."""

    def __init__(self, api: Api, throttle: Throttle, cache: ResponseCache | None = None) -> None:
        self._api = api
        self._throttle = throttle
        self._cache = cache or InMemoryResponseCache()

    async def locate(self, where: Where) -> FoundAreas:
        """Return the areas of a request; of several names, those that are known, with notes about the others.

        Raises UnknownArea or AmbiguousArea if no area is left.
        """
        if where.shape is not None:
            return FoundAreas((await self._around(where.shape, where),))
        areas, errors = [], list[UnknownArea]()
        for name in where.names:
            try:
                areas.append(_surrounded(choose(name, await self.candidates(name, where)), where.radius_metres))
            except UnknownArea as unknown:
                errors.append(unknown)
        if not areas:
            raise errors[0] if errors else UnknownArea("The search names no area.")
        return FoundAreas(tuple(areas), tuple(str(error) for error in errors))

    async def candidates(self, name: str, where: Where = NOWHERE) -> list[Area]:
        """Return the areas of this name, the best known first; raise UnknownArea if there is none."""
        found = await self._places(f"/search?{urlencode({**_question(name), **_limits(where)})}")
        areas = _distinct([area for place in found if (area := _area(place))])
        if not areas:
            within, cure = (f" in {where.country}", "or the country") if where.country else ("", "or add the country")
            several = " Several towns are separated by semicolons." if SEVERAL.search(name) else ""
            raise UnknownArea(f"No place named {name!r} is known{within}; check its spelling, {cure}.{several}")
        return areas

    async def _around(self, shape: Shape, where: Where) -> Area:
        """Return the area of a shape, with the name and the country of what is in its middle."""
        box = shape if isinstance(shape, Box) else shape.box
        latitude, longitude = box.centre
        query = {"lat": f"{latitude:.6f}", "lon": f"{longitude:.6f}", "format": "jsonv2", "zoom": "10"}
        query |= {"addressdetails": "1"} | ({"accept-language": where.language} if where.language else {})
        place = next(iter(await self._places(f"/reverse?{urlencode(query)}")), {})
        address = part(place, "address")
        label = _label(place, address)
        words = where.words or ""
        return Area(
            name=f"{words} ({label})" if label else f"{words} (no place is known there; latitude comes first)",
            box=box,
            country=_country(address) or where.country,
            label=label,
            kind="shape",
            centre=box.centre,
            shape=None if isinstance(shape, Box) else shape,
        )

    async def _places(self, path: str) -> list[Mapping[str, Any]]:
        async def send() -> list[Mapping[str, Any]]:
            found = self._checked(await self._api.send("GET", path, headers={"Accept": "application/json"}))
            return [place for place in found if isinstance(place, dict)]

        return await self._throttle.cached(self._cache, f"{self._api.base_url}{path}", CACHE_TTL, send)

    def _checked(self, response: ApiResponse) -> list[Any]:
        found, status = response.json, response.status
        if status == 200 and isinstance(found, list):
            return found
        if status == 200 and isinstance(found, dict):  # one place, or `error` if there is none at this point
            return [] if "error" in found else [found]
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
            raise QueryRefused(f"Nominatim does not accept the query: {_message(found)}")
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


def choose(name: str, areas: Sequence[Area]) -> Area:
    """Return the area that a name means; raise AmbiguousArea if others are about as well known."""
    exact = [area for area in areas if fold(name) in (fold(area.label), fold(area.name))]
    first, *others = exact or areas
    rivals = [other for other in others if other.importance >= first.importance - SAME_IMPORTANCE]
    if rivals and not (exact and len(exact) == 1):
        raise AmbiguousArea(name, [first, *rivals])
    return first


def _distinct(areas: Sequence[Area]) -> list[Area]:
    """Return the areas without parts and centres of others, those with a border or of a settlement first.

    The name of a town may also be that of a bar on another continent.
    """
    kept: list[Area] = []
    for area in sorted(areas, key=lambda area: area.relation is None):
        if not any(area.box.overlaps(other.box) for other in kept):
            kept.append(area)
    settled = [area for area in kept if area.kind in SETTLEMENTS]
    return settled or kept[:1]


def _surrounded(area: Area, radius_metres: float | None) -> Area:
    """Return the circle around the centre of an area; without a radius the area itself."""
    if radius_metres is None:
        return area
    circle = Circle(*(area.centre or area.box.centre), radius_metres)
    return replace(area, box=circle.box, shape=circle, relation=None, postcode=None)


def _question(name: str) -> dict[str, str]:
    """Return the parameters for a name; a postcode, with or without a country behind it, is asked for as such."""
    code, _, rest = (part.strip() for part in name.partition(","))
    if not POSTCODE.fullmatch(code):
        return {"q": name, **FORM}
    return {"postalcode": code, **({"country": rest} if rest else {}), **FORM}


def _limits(where: Where) -> dict[str, str]:
    country = {"countrycodes": where.country.lower()} if where.country else {}
    return country | ({"accept-language": where.language} if where.language else {})


def _area(place: Mapping[str, Any]) -> Area | None:
    """Convert a place to an area; None if its box or point is invalid. Numbers are strings here."""
    address = part(place, "address")
    try:
        box = _box(place)
        osm_id = int(place["osm_id"]) if "osm_id" in place else None
        centre = (float(place["lat"]), float(place["lon"])) if "lat" in place else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    category, kind = place.get("category") or place.get("class"), str(place.get("addresstype") or "")
    bordered = place.get("osm_type") == "relation" and category in BORDERED
    is_postcode = "postcode" in (kind, place.get("type")) or place.get("type") == "postal_code"
    return Area(
        name=single_line(str(place.get("display_name") or place.get("name") or ""), 300),
        box=box,
        country=_country(address),
        relation=osm_id if bordered else None,
        label=_label(place, address),
        kind=kind or (str(place.get("type") or "") if category in BORDERED else ""),
        centre=centre,
        importance=finite(place.get("importance")) or 0.0,
        postcode=text(address.get("postcode") or place.get("name")) if is_postcode else None,
    )


def _country(address: Mapping[str, Any]) -> str | None:
    code = address.get("country_code")
    return code.upper() if isinstance(code, str) and len(code) == 2 else None


def _label(place: Mapping[str, Any], address: Mapping[str, Any]) -> str:
    """Return the name with county, state and country, which tells it from others of the same name."""
    town = next((address[kind] for kind in TOWNS if address.get(kind)), None)
    parts = (place.get("name") or town, *(address.get(level) for level in ("county", "state", "country")))
    return single_line(", ".join(dict.fromkeys(str(part) for part in parts if part)), 300)


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
