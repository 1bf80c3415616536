"""A row of Overture's places as a place of ours, in its schema before and after September 2026."""

from collections.abc import Mapping
from typing import Any

from scrapersky.core import clock
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.text import single_line
from scrapersky.providers.base import PlaceDetails

LICENCE = "Overture Maps Foundation: CDLA-Permissive-2.0, Apache-2.0 or CC0 by source"
STATUS = {
    "open": "OPERATIONAL",
    "temporarily_closed": "CLOSED_TEMPORARILY",
    "permanently_closed": "CLOSED_PERMANENTLY",
}


def place_of(row: Mapping[str, Any]) -> PlaceDetails | None:
    """The place; None when it has no name."""
    name = single_line(str(_part(row, "names").get("primary") or ""), 1000)
    if not name:
        return None
    address = next(iter(row.get("addresses") or ()), None) or {}
    country = _text(address.get("country"))
    box = _part(row, "bbox")
    numbers, websites = _numbers(row, country), _texts(row.get("websites"))
    return PlaceDetails(
        provider="overture",
        provider_id=str(row["id"]),
        name=name,
        address=_address(address),
        street=_text(address.get("freeform")),
        city=_text(address.get("locality")),
        region=_text(address.get("region")),
        postcode=_text(address.get("postcode")),
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
    """Everything the row says it is, the most exact first."""
    new, old = _part(row, "taxonomy"), _part(row, "categories")
    found = [
        new.get("primary"),
        old.get("primary"),
        row.get("basic_category"),
        *(new.get("hierarchy") or ()),
        *(new.get("alternates") or new.get("alternate") or ()),
        *(old.get("alternate") or ()),
    ]
    return tuple(dict.fromkeys(str(one) for one in found if one))


def _numbers(row: Mapping[str, Any], country: str | None) -> list[str]:
    readings = [(number, parse_phone(number, country or "")) for number in _texts(row.get("phones"))]
    return list(dict.fromkeys(reading.number if reading else number for number, reading in readings))


def _address(address: Mapping[str, Any]) -> str | None:
    town = " ".join(part for part in (_text(address.get("postcode")), _text(address.get("locality"))) if part)
    parts = (_text(address.get("freeform")), town, _text(address.get("country")))
    return ", ".join(part for part in parts if part) or None


def _extra(row: Mapping[str, Any], numbers: list[str], websites: list[str]) -> dict[str, Any]:
    found = {
        "emails": _texts(row.get("emails")),
        "phones": numbers[1:],
        "websites": websites[1:],
        "socials": _texts(row.get("socials")),
        "brand": _text(_part(_part(row, "brand"), "names").get("primary")),
        "confidence": row.get("confidence"),
    }
    return {key: value for key, value in found.items() if value}


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _texts(values: Any) -> list[str]:
    return [text for value in values or () if (text := single_line(str(value), 2048))]


def _text(value: Any) -> str | None:
    return (single_line(value, 1000) or None) if isinstance(value, str) else None
