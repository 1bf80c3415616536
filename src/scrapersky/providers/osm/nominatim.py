"""Nominatim: where a place that somebody named lies."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from scrapersky.extract.text import single_line
from scrapersky.providers.area import Area, Box, wrapped
from scrapersky.providers.base import ProviderBusy, ProviderFailed, ProviderRefused
from scrapersky.providers.http_api import Api, ApiResponse
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import Throttle

POLICY = "https://operations.osmfoundation.org/policies/nominatim/"
GOOD_FOR = timedelta(days=1)
# What is drawn as a border, so that Overpass knows its inside; a street or a river is searched by its box.
BORDERED = ("boundary", "place", "landuse")
# A box around a village of which only the middle is known.
POINT_DEGREES = 0.02
SHORT_WAIT, LONG_WAIT = timedelta(seconds=30), timedelta(minutes=1)


class Nominatim:
    """Asks one question a second at most, and none twice: its operators' rules for everybody."""

    def __init__(self, api: Api, turns: Throttle, answers: ResponseCache | None = None) -> None:
        self._api = api
        self._answers = answers or InMemoryResponseCache()
        self._turns = turns

    async def find(self, name: str, country: str | None = None, language: str | None = None) -> Area:
        """The area of this name; ProviderRefused when there is none."""
        asked = {"q": name, "format": "jsonv2", "limit": "5", "addressdetails": "1"}
        asked |= {"countrycodes": country.lower()} if country else {}
        asked |= {"accept-language": language} if language else {}
        path = f"/search?{urlencode(asked)}"
        found = await self._places(path)
        areas = [area for place in found if (area := _area(place)) is not None]
        if not areas:
            within = f" in {country.upper()}" if country else ""
            raise ProviderRefused(f"No place named {name!r} is known{within}; check its spelling, or add the country.")
        # The name of a town also fits a bar on the other side of the world: what has a border comes first.
        return next((area for area in areas if area.relation is not None), areas[0])

    async def _places(self, path: str) -> list[Mapping[str, Any]]:
        question = f"{self._api.base_url}{path}"
        found: list[Mapping[str, Any]] | None = await self._answers.find(question)
        if found is not None:
            return found
        async with self._turns.turn():
            found = await self._answers.find(question)  # of whoever had the turn before us
            if found is None:
                found = await self._ask(path)
                await self._answers.keep(question, found, GOOD_FOR)
        return found

    async def _ask(self, path: str) -> list[Mapping[str, Any]]:
        found = self._checked(await self._api.ask("GET", path, headers={"Accept": "application/json"}))
        return [place for place in found if isinstance(place, dict)]

    def _checked(self, answer: ApiResponse) -> list[Any]:
        found = answer.json
        if answer.status == 200 and isinstance(found, list):
            return found
        if answer.status >= 500:
            raise ProviderBusy(f"Nominatim is overloaded (it answers {answer.status}).", SHORT_WAIT)
        if answer.status == 403 or answer.is_html:
            raise ProviderRefused(
                f"Nominatim does not serve us (it answers {answer.status} with a page): its usage policy wants at most "
                f"one question a second and a contact. Read {POLICY}, set CRAWL_CONTACT_URL, or use a server of your "
                f"own with {self._api.setting}."
            )
        if answer.status == 429:
            raise ProviderBusy("Nominatim wants fewer questions (it answers 429).", LONG_WAIT)
        if answer.status == 400:
            raise ProviderRefused(f"Nominatim does not understand the question: {_message(found)}")
        raise ProviderFailed(f"Nominatim answers {answer.status} with something that is no list of places.")


def _message(found: Any) -> str:
    error = found.get("error") if isinstance(found, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "it does not say why.")[:200]


def _area(place: Mapping[str, Any]) -> Area | None:
    """The place as an area; None when its box or point cannot be read. Every number comes as a string."""
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
