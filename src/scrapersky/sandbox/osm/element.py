"""A business as OpenStreetMap knows it."""

from typing import Any

from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.phone_numbers import international
from scrapersky.sandbox.world.unlisted import Unlisted

FIRST_ID = 7_000_000_000


def kind_of(number: int) -> str:
    """Choose the element type: mostly nodes, some ways, few relations."""
    return {0: "relation"}.get(number % 20, "way" if number % 4 == 1 else "node")


def tags_of(business: Business) -> dict[str, str]:
    """Build the tags, all strings; about half use the contact: prefix."""
    street, _, application = business.street.rpartition(" ")
    if business.street[:1].isdigit():
        application, _, street = business.street.partition(" ")
    before = "contact:" if business.number % 2 else ""
    hours = business.hours
    opening = f"Mo-Fr {hours.opens:02}:00-{hours.closes:02}:00"
    if hours.saturday:
        opening += f"; Sa 10:00-{hours.saturday:02}:00"
    closed = "disused:" if business.closed else ""
    tags = {
        "name": business.name,
        f"{closed}{business.trade.osm_key}": business.trade.osm_value,
        "addr:street": street,
        "addr:housenumber": application,
        "addr:postcode": business.postcode,
        "addr:city": business.city.name,
        "addr:country": business.country.code,
        "opening_hours": opening,
    }
    if business.number % 5:
        tags[f"{before}phone"] = international(business.phone)
    if business.website:
        tags[f"{before}website"] = business.website
    if business.unlisted is Unlisted.EMAIL:
        tags[f"{before}email"] = business.email
    return tags


def element(business: Business, tags: dict[str, str], out: set[str]) -> dict[str, Any]:
    """Build the element as printed: nodes have coordinates, others a centre if requested."""
    kind = kind_of(business.number)
    shown: dict[str, Any] = {"type": kind, "id": FIRST_ID + business.number}
    place = {"lat": business.latitude, "lon": business.longitude}
    if kind == "node" and ("center" in out or out.isdisjoint(("tags", "ids"))):
        shown |= place
    elif kind != "node" and "center" in out:
        shown["center"] = place
    if kind == "way" and "tags" not in out:
        shown["nodes"] = [FIRST_ID * 2 + business.number * 10 + corner for corner in (0, 1, 2, 3, 0)]
    if "ids" not in out and "skel" not in out:
        shown["tags"] = tags
    return shown
