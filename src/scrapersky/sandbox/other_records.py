"""The businesses of a world as a file of somebody else has them: spelled differently, with gaps, and a chain."""

import csv
import io
from collections.abc import Iterator

from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.cities import cities
from scrapersky.sandbox.world.slugs import plain
from scrapersky.sandbox.world.world import World

COLUMNS = (
    "id",
    "name",
    "category",
    "street",
    "postcode",
    "city",
    "country",
    "phone",
    "website",
    "latitude",
    "longitude",
)
CHAIN, BRANCHES, CHAIN_SITE = "Kruunu", 4, "https://www.kruunu-chain-7q.fi/"
NUDGE_DEGREES = 0.00015  # a map of somebody else: up to 17 m away


def record_of(business: Business) -> dict[str, object]:
    """Return the record of a business; the id is its number."""
    number = business.number
    spellings = (
        business.name,
        business.legal_name,
        business.name.upper(),
        plain(business.name),
        " ".join(reversed(business.name.split())),
    )
    return {
        "id": str(number),
        "name": spellings[number % len(spellings)],
        "category": business.trade.name,
        "street": business.street,
        "postcode": business.postcode if number % 3 else None,
        "city": business.city.name,
        "country": business.country.code,
        "phone": business.phone if number % 4 else None,
        "website": business.website if number % 3 else None,
        "latitude": round(business.latitude + NUDGE_DEGREES * (number % 3 - 1), 7),
        "longitude": round(business.longitude + NUDGE_DEGREES * (number % 2), 7),
    }


def branches(city_name: str, trade: str) -> Iterator[dict[str, object]]:
    """Yield the branches of a chain in a city: one name and one site, far from each other."""
    city = cities()[city_name]
    for number in range(BRANCHES):
        share = (number + 0.5) / BRANCHES
        yield {
            "id": f"chain {number}",
            "name": f"{CHAIN} {trade} {number + 1}",
            "category": trade,
            "city": city_name,
            "country": city.country,
            "website": CHAIN_SITE,
            "latitude": round(city.box.south + share * (city.box.north - city.box.south), 7),
            "longitude": round(city.box.west + share * (city.box.east - city.box.west), 7),
        }


def records_file(world: World, city_name: str, trade: str) -> str:
    """Return the CSV of the businesses of a city and trade, and of a chain that no other provider knows."""
    out = io.StringIO()
    rows = csv.DictWriter(out, COLUMNS)
    rows.writeheader()
    rows.writerows(
        record_of(world[seat.number])
        for seat in world.seats()
        if (seat.city.name, seat.trade.name) == (city_name, trade)
    )
    rows.writerows(branches(city_name, trade))
    return out.getvalue()
