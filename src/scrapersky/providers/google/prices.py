"""The prices of the Places API: a call costs as much as the most expensive field in its mask."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

Method = Literal["search", "details"]


class Tier(IntEnum):
    """The price classes of fields, in ascending order."""

    IDS = 0
    ESSENTIALS = 1
    PRO = 2
    ENTERPRISE = 3
    ATMOSPHERE = 4


# US cents per call, before volume discounts and without the free calls of each month (prices of September 2026).
CENTS: dict[Method, dict[Tier, float]] = {
    "search": {Tier.IDS: 0.0, Tier.ESSENTIALS: 3.2, Tier.PRO: 3.2, Tier.ENTERPRISE: 3.5, Tier.ATMOSPHERE: 4.0},
    "details": {Tier.IDS: 0.0, Tier.ESSENTIALS: 0.5, Tier.PRO: 1.7, Tier.ENTERPRISE: 2.0, Tier.ATMOSPHERE: 2.5},
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


def call_cents(method: Method, fields: Iterable[str]) -> float:
    """Return the price of one call with this mask; an unknown field counts as the most expensive."""
    return CENTS[method][max((_TIERS.get(field, Tier.ATMOSPHERE) for field in fields), default=Tier.IDS)]
