"""What a text search of Google Places asks for, read and checked."""

import json
from dataclasses import dataclass
from typing import Any

from scrapersky.sandbox.google.errors import invalid
from scrapersky.sandbox.server.response import Request
from scrapersky.sandbox.world.business import Location
from scrapersky.sandbox.world.cities import City, CityBox, cities
from scrapersky.sandbox.world.slugs import plain, slug
from scrapersky.sandbox.world.trades import Trade, trades

LITTLE_WORDS = frozenset(
    ("in", "near", "me", "the", "a", "an", "and", "of", "at", "around", "best", "good", "en", "im", "bei")
)
MISMATCH = "Request parameters for paging requests must match the initial SearchText request."
WIDEST = 180.0  # degrees
NOT_COMPARED = ("pageToken", "pageSize", "maxResultCount")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """The words of a query: trades, cities, and other words."""

    trades: frozenset[str]
    cities: frozenset[str]
    rest: tuple[str, ...]

    def wants(self, seat: Location) -> bool:
        """Check that a business has this trade and city; other words are searched in its name."""
        if self.trades and seat.trade.name not in self.trades:
            return False
        return not self.cities or seat.city.name in self.cities


def read_text(text: str) -> ParsedQuery:
    """Parse a query such as "dentists in Helsinki"."""
    folded = f"-{slug(text)}-"
    found_cities = frozenset(city.name for city in cities().values() if _named(city, folded))
    city_words = {word for name in found_cities for word in _words_of(cities()[name])}
    rest = [word for word in slug(text).split("-") if word not in LITTLE_WORDS and word not in city_words]
    wanted: set[str] = set()
    left = []
    for word in rest:
        meant = [trade.name for trade in trades().values() if _means(trade, word)]
        wanted.update(meant)
        if not meant:
            left.append(word)
    return ParsedQuery(frozenset(wanted), found_cities, tuple(left))


def read_body(request: Request) -> dict[str, Any]:
    """Parse the JSON body of a request."""
    try:
        asked = json.loads(request.body or b"{}")
    except ValueError:
        raise invalid("Invalid JSON payload received.") from None
    if not isinstance(asked, dict):
        raise invalid("Invalid JSON payload received.")
    return asked


def read_box(asked: dict[str, Any]) -> CityBox | None:
    """Return the rectangle of the location restriction, or None."""
    if "locationRestriction" in asked and "locationBias" in asked:
        raise invalid("Only one of location_bias and location_restriction may be set.")
    if "locationRestriction" not in asked:
        return None
    rectangle = asked["locationRestriction"].get("rectangle")
    if rectangle is None:
        raise invalid("Invalid location_restriction: only a rectangle is supported in SearchText.")
    low, high = rectangle.get("low", {}), rectangle.get("high", {})
    box = CityBox(
        low.get("latitude", 0.0), low.get("longitude", 0.0), high.get("latitude", 0.0), high.get("longitude", 0.0)
    )
    if box.south > box.north:
        raise invalid("Invalid rectangle: low latitude is greater than high latitude.")
    if box.width > WIDEST:
        raise invalid("Invalid rectangle: it must not be wider than 180 degrees.")
    return box


def read_size(asked: dict[str, Any]) -> int:
    """Return the page size; values over twenty become twenty, as at Google."""
    size = asked.get("pageSize", asked.get("maxResultCount", 0))
    if not isinstance(size, int) or size < 0:
        raise invalid("Invalid page_size: it must not be negative.")
    return min(size or 20, 20)


def fingerprint(asked: dict[str, Any]) -> str:
    """Return everything that must stay the same from page to page."""
    return json.dumps({key: value for key, value in asked.items() if key not in NOT_COMPARED}, sort_keys=True)


def _named(city: City, folded: str) -> bool:
    return any(f"-{slug(name)}-" in folded for name in (city.name, city.english))


def _words_of(city: City) -> list[str]:
    return [word for name in (city.name, city.english) for word in slug(name).split("-")]


def _means(trade: Trade, word: str) -> bool:
    return word in trade.words or word == plain(trade.name)
