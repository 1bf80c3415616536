"""Converts a row of Overture's places to PlaceDetails, in the schema before and after September 2026."""

from collections.abc import Mapping
from typing import Any

from scrapersky.core import clock
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.fields import part, phone_numbers, postal_address, present, text, texts

NAME = "overture"
LICENCE = "Overture Maps Foundation: CDLA-Permissive-2.0, Apache-2.0 or CC0 by source"
STATUS = {
    "open": "OPERATIONAL",
    "temporarily_closed": "CLOSED_TEMPORARILY",
    "permanently_closed": "CLOSED_PERMANENTLY",
}


def overture_place(row: Mapping[str, Any]) -> PlaceDetails | None:
    """Convert a row; None if it has no name."""
    name = text(part(row, "names").get("primary"))
    if not name:
        return None
    address = next(iter(row.get("addresses") or ()), None) or {}
    street, city, postcode, country = (
        text(address.get(name)) for name in ("freeform", "locality", "postcode", "country")
    )
    box = part(row, "bbox")
    numbers, websites = phone_numbers(texts(row.get("phones"), 2048), country), texts(row.get("websites"), 2048)
    return PlaceDetails(
        provider=NAME,
        provider_id=str(row["id"]),
        name=name,
        address=postal_address(street, postcode, city, country),
        street=street,
        city=city,
        region=text(address.get("region")),
        postcode=postcode,
        country=country,
        latitude=box.get("ymin"),
        longitude=box.get("xmin"),
        phone=numbers[0] if numbers else None,
        website=websites[0] if websites else None,
        categories=categories(row),
        business_status=STATUS.get(str(row.get("operating_status")), "OPERATIONAL"),
        licence=LICENCE,
        fetched_at=clock.now(),
        extra=_extra(row, numbers, websites),
    )


def categories(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the categories of a row, the most specific first."""
    new, old = part(row, "taxonomy"), part(row, "categories")
    found = [
        new.get("primary"),
        old.get("primary"),
        row.get("basic_category"),
        *(new.get("hierarchy") or ()),
        *(new.get("alternates") or new.get("alternate") or ()),
        *(old.get("alternate") or ()),
    ]
    return tuple(dict.fromkeys(str(one) for one in found if one))


def _extra(row: Mapping[str, Any], numbers: list[str], websites: list[str]) -> dict[str, Any]:
    return present(
        {
            "emails": texts(row.get("emails"), 2048),
            "phones": numbers[1:],
            "websites": websites[1:],
            "socials": texts(row.get("socials"), 2048),
            "brand": text(part(part(row, "brand"), "names").get("primary")),
            "confidence": row.get("confidence"),
        }
    )
