"""What the Places API charges: a call costs as much as the dearest field in its mask."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

Method = Literal["search", "details"]


class Tier(IntEnum):
    """The classes of fields, from free to dear."""

    IDS = 0
    ESSENTIALS = 1
    PRO = 2
    ENTERPRISE = 3
    ATMOSPHERE = 4


# US cents a call, before volume discounts and without the free calls of each month (prices of September 2026).
CENTS: dict[Method, dict[Tier, float]] = {
    "search": {Tier.IDS: 0.0, Tier.ESSENTIALS: 3.2, Tier.PRO: 3.2, Tier.ENTERPRISE: 3.5, Tier.ATMOSPHERE: 4.0},
    "details": {Tier.IDS: 0.0, Tier.ESSENTIALS: 0.5, Tier.PRO: 1.7, Tier.ENTERPRISE: 2.0, Tier.ATMOSPHERE: 2.5},
}

_FIELDS: dict[Tier, tuple[str, ...]] = {
    Tier.IDS: ("id", "name", "attributions", "movedPlace", "movedPlaceId"),
    Tier.ESSENTIALS: (
        "formattedAddress",
        "shortFormattedAddress",
        "postalAddress",
        "addressComponents",
        "location",
        "plusCode",
        "types",
        "viewport",
    ),
    Tier.PRO: (
        "displayName",
        "primaryType",
        "businessStatus",
        "googleMapsUri",
        "timeZone",
        "utcOffsetMinutes",
        "pureServiceAreaBusiness",
    ),
    Tier.ENTERPRISE: (
        "websiteUri",
        "nationalPhoneNumber",
        "internationalPhoneNumber",
        "rating",
        "userRatingCount",
        "priceLevel",
        "regularOpeningHours",
    ),
}
_TIERS = {field: tier for tier, fields in _FIELDS.items() for field in fields}

IDS_ONLY = ("id",)
# Everything a deep scan wants: asked for in the search it costs less than a fifth of a cent a place, later two cents.
ALL_FIELDS = (
    "id",
    "displayName",
    "businessStatus",
    "types",
    "primaryType",
    "formattedAddress",
    "postalAddress",
    "location",
    "timeZone",
    "websiteUri",
    "nationalPhoneNumber",
    "internationalPhoneNumber",
    "rating",
    "userRatingCount",
    "priceLevel",
    "regularOpeningHours",
    "googleMapsUri",
    "pureServiceAreaBusiness",
    "movedPlaceId",
)


def cents(method: Method, fields: Iterable[str]) -> float:
    """The price of one call with this mask; an unknown field counts as the dearest."""
    return CENTS[method][max((_TIERS.get(field, Tier.ATMOSPHERE) for field in fields), default=Tier.IDS)]
