"""The countries and cities in which the invented businesses are."""

from dataclasses import dataclass
from functools import cache

from scrapersky.sandbox.world.data_files import table


@dataclass(frozen=True, slots=True)
class CityBox:
    """A rectangle on the map, in degrees; one that crosses the antimeridian has its west east of its east."""

    south: float
    west: float
    north: float
    east: float

    def holds(self, latitude: float, longitude: float) -> bool:
        """Check that a point lies in the box, edges included."""
        if self.west > self.east and self.east < longitude < self.west:
            return False
        return self.south <= latitude <= self.north and (self.west > self.east or self.west <= longitude <= self.east)

    @property
    def width(self) -> float:
        """Degrees from west to east."""
        return self.east - self.west if self.west <= self.east else self.east - self.west + 360


@dataclass(frozen=True, slots=True)
class City:
    """A real city's name and rough place; nothing else about it is real."""

    name: str
    english: str
    box: CityBox
    postcode: str
    landline: tuple[str, ...]
    country: str  # two letters
    relation: int  # its number in the fake map


@dataclass(frozen=True, slots=True)
class Country:
    """How a country writes its addresses, numbers and companies."""

    code: str
    name: str
    language: str
    ending: str
    legal: str
    tax: str
    timezone: str
    mobile: tuple[str, ...]
    streets: tuple[str, ...]
    cities: tuple[City, ...]


@cache
def countries() -> dict[str, Country]:
    """Return every country by its two-letter code."""
    found = {}
    for index, (code, row) in enumerate(table("countries").items()):
        cities = tuple(
            City(
                city["name"],
                city["english"],
                CityBox(*city["box"]),
                city["postcode"],
                tuple(city["landline"]),
                code,
                900_000 + index * 10 + place,
            )
            for place, city in enumerate(row["cities"])
        )
        plain = {key: row[key] for key in ("name", "language", "ending", "legal", "tax", "timezone")}
        found[code] = Country(code, mobile=tuple(row["mobile"]), streets=tuple(row["streets"]), cities=cities, **plain)
    return found


@cache
def cities() -> dict[str, City]:
    """Return every city by its name."""
    return {city.name: city for country in countries().values() for city in country.cities}
