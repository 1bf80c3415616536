"""Converts a place of the Places API (New) to PlaceDetails, with its expiry date."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from scrapersky.core import clock
from scrapersky.providers.base import MOVED_TO, PlaceDetails
from scrapersky.providers.fields import finite, part, phone_numbers, present, text, texts, whole

NAME = "google_places"
RETENTION = timedelta(days=30)  # by the terms; the id may be kept without limit
LICENCE = "Google Maps Platform terms: may be shown with attribution, not kept beyond expires_at; the id may"
PRICE_LEVELS = {
    "PRICE_LEVEL_FREE": 0,
    "PRICE_LEVEL_INEXPENSIVE": 1,
    "PRICE_LEVEL_MODERATE": 2,
    "PRICE_LEVEL_EXPENSIVE": 3,
    "PRICE_LEVEL_VERY_EXPENSIVE": 4,
}


def google_place(found: Mapping[str, Any]) -> PlaceDetails:
    """Convert a place; values that Google leaves out stay empty."""
    postal, location = part(found, "postalAddress"), part(found, "location")
    now = clock.now()
    country = text(postal.get("regionCode"))
    phone = text(found.get("internationalPhoneNumber")) or text(found.get("nationalPhoneNumber"))
    return PlaceDetails(
        provider=NAME,
        provider_id=str(found["id"]),
        name=text(part(found, "displayName").get("text")) or str(found["id"]),
        address=text(found.get("formattedAddress")),
        street=", ".join(texts(postal.get("addressLines"))) or None,
        city=text(postal.get("locality")),
        region=text(postal.get("administrativeArea")),
        postcode=text(postal.get("postalCode")),
        country=country,
        latitude=finite(location.get("latitude")),
        longitude=finite(location.get("longitude")),
        timezone=text(part(found, "timeZone").get("id")),
        phone=next(iter(phone_numbers([phone] if phone else [], country)), None),
        website=text(found.get("websiteUri"), 2048),
        # The primary type first.
        categories=tuple(dict.fromkeys([*texts([found.get("primaryType")]), *texts(found.get("types"))])),
        rating=finite(found.get("rating")),
        rating_count=whole(found.get("userRatingCount")),
        price_level=PRICE_LEVELS.get(str(found.get("priceLevel"))),
        hours=_hours(part(found, "regularOpeningHours")),
        business_status=text(found.get("businessStatus"), 40),
        licence=LICENCE,
        fetched_at=now,
        expires_at=now + RETENTION,
        extra=_extra(found),
    )


def _hours(hours: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the periods as Google gives them (day 0 is Sunday; no close means always open), and the week in words."""
    periods = hours.get("periods")
    opened = [_period(period) for period in periods if isinstance(period, dict)] if isinstance(periods, list) else []
    return present({"periods": opened, "weekdays": texts(hours.get("weekdayDescriptions"))}) or None


def _period(period: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    return {
        end: {unit: number for unit in ("day", "hour", "minute") if (number := whole(moment.get(unit))) is not None}
        for end in ("open", "close")
        if (moment := part(period, end))
    }


def _extra(found: Mapping[str, Any]) -> dict[str, Any]:
    return present(
        {
            "google_maps_uri": text(found.get("googleMapsUri"), 2048),
            MOVED_TO: text(found.get("movedPlaceId"), 300),
            "service_area_only": found.get("pureServiceAreaBusiness") is True,
        }
    )
