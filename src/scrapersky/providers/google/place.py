"""A place of the Places API (New) as a place of ours, with the date it has to be forgotten by."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from scrapersky.core import clock
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.text import single_line
from scrapersky.providers.base import MOVED_TO, PlaceDetails, finite

KEPT = timedelta(days=30)  # the terms: the id for ever, coordinates for 30 days, nothing else for good
LICENCE = "Google Maps Platform terms: may be shown with attribution, not kept beyond expires_at; the id may"
PRICE_LEVELS = {
    "PRICE_LEVEL_FREE": 0,
    "PRICE_LEVEL_INEXPENSIVE": 1,
    "PRICE_LEVEL_MODERATE": 2,
    "PRICE_LEVEL_EXPENSIVE": 3,
    "PRICE_LEVEL_VERY_EXPENSIVE": 4,
}


def place_of(found: Mapping[str, Any]) -> PlaceDetails:
    """What Google does not know it leaves out, and so do we."""
    postal, location = _part(found, "postalAddress"), _part(found, "location")
    now = clock.now()
    country = _text(postal.get("regionCode"))
    return PlaceDetails(
        provider="google_places",
        provider_id=str(found["id"]),
        name=_text(_part(found, "displayName").get("text")) or str(found["id"]),
        address=_text(found.get("formattedAddress")),
        street=", ".join(_texts(postal.get("addressLines"))) or None,
        city=_text(postal.get("locality")),
        region=_text(postal.get("administrativeArea")),
        postcode=_text(postal.get("postalCode")),
        country=country,
        latitude=finite(location.get("latitude")),
        longitude=finite(location.get("longitude")),
        timezone=_text(_part(found, "timeZone").get("id")),
        phone=_phone(found, country),
        website=_text(found.get("websiteUri"), 2048),
        categories=_categories(found),
        rating=finite(found.get("rating")),
        rating_count=_whole(found.get("userRatingCount")),
        price_level=PRICE_LEVELS.get(str(found.get("priceLevel"))),
        hours=_hours(_part(found, "regularOpeningHours")),
        business_status=_text(found.get("businessStatus"), 40),
        licence=LICENCE,
        fetched_at=now,
        expires_at=now + KEPT,
        extra=_extra(found),
    )


def _phone(found: Mapping[str, Any], country: str | None) -> str | None:
    written = _text(found.get("internationalPhoneNumber")) or _text(found.get("nationalPhoneNumber"))
    reading = parse_phone(written, country or "") if written else None
    return reading.number if reading else written


def _categories(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The types, the primary one first."""
    return tuple(dict.fromkeys([*_texts([found.get("primaryType")]), *_texts(found.get("types"))]))


def _hours(hours: Mapping[str, Any]) -> dict[str, Any] | None:
    """Periods as Google gives them (day 0 is Sunday; no close means never), and the week in words."""
    periods = hours.get("periods")
    told = [_period(period) for period in periods if isinstance(period, dict)] if isinstance(periods, list) else []
    kept = {"periods": told, "weekdays": _texts(hours.get("weekdayDescriptions"))}
    return {key: value for key, value in kept.items() if value} or None


def _period(period: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {
        end: {unit: whole for unit in ("day", "hour", "minute") if (whole := _whole(moment.get(unit))) is not None}
        for end in ("open", "close")
        if (moment := _part(period, end))
    }


def _extra(found: Mapping[str, Any]) -> dict[str, Any]:
    extra = {
        "google_maps_uri": _text(found.get("googleMapsUri"), 2048),
        MOVED_TO: _text(found.get("movedPlaceId"), 300),
        "service_area_only": True if found.get("pureServiceAreaBusiness") is True else None,
    }
    return {key: value for key, value in extra.items() if value is not None}


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}


def _texts(values: Any) -> list[str]:
    return [text for value in values if (text := _text(value))] if isinstance(values, list) else []


def _text(value: Any, limit: int = 1000) -> str | None:
    return (single_line(value, limit) or None) if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    number = finite(value)
    return None if number is None else int(number)
