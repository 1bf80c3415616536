"""The prices of the Places API: a call costs as much as the most expensive field in its mask."""

from collections.abc import Iterable
from enum import IntEnum

from scrapersky.providers.call_budget import CallMethod


class Tier(IntEnum):
    """The price classes of fields, in ascending order."""

    IDS = 0
    ESSENTIALS = 1
    PRO = 2
    ENTERPRISE = 3
    ATMOSPHERE = 4


# Millionths of a US dollar per call, before volume discounts and without the free calls of each month (September 2026).
MICROS: dict[CallMethod, dict[Tier, int]] = {
    "search": {
        Tier.IDS: 0,
        Tier.ESSENTIALS: 32_000,
        Tier.PRO: 32_000,
        Tier.ENTERPRISE: 35_000,
        Tier.ATMOSPHERE: 40_000,
    },
    "details": {
        Tier.IDS: 0,
        Tier.ESSENTIALS: 5_000,
        Tier.PRO: 17_000,
        Tier.ENTERPRISE: 20_000,
        Tier.ATMOSPHERE: 25_000,
    },
}

# The fields that are requested, and others of the same price.
_REQUESTED = {
    Tier.IDS: "id movedPlaceId",
    Tier.ESSENTIALS: "types formattedAddress postalAddress location",
    Tier.PRO: "displayName businessStatus primaryType timeZone googleMapsUri pureServiceAreaBusiness",
    Tier.ENTERPRISE: "websiteUri nationalPhoneNumber internationalPhoneNumber rating userRatingCount priceLevel "
    "regularOpeningHours",
}
_OTHERS = {
    Tier.IDS: "name attributions movedPlace",
    Tier.ESSENTIALS: "shortFormattedAddress addressComponents plusCode viewport",
    Tier.PRO: "utcOffsetMinutes",
}
_TIERS = {field: tier for fields in (_REQUESTED, _OTHERS) for tier, names in fields.items() for field in names.split()}

IDS_ONLY = ("id",)
# Everything a deep scan needs: in a search it costs less than a fifth of a cent per place, as details two cents.
ALL_FIELDS = tuple(field for names in _REQUESTED.values() for field in names.split())


def call_micros(method: CallMethod, fields: Iterable[str]) -> int:
    """Return the price of one call with this mask; an unknown field counts as the most expensive."""
    return MICROS[method][max((_TIERS.get(field, Tier.ATMOSPHERE) for field in fields), default=Tier.IDS)]
