"""What Google would bill for a call, by the fields in its mask: a price list that is not the client's own."""

from collections import Counter
from collections.abc import Iterable

IDS, ESSENTIALS, PRO, ENTERPRISE, ATMOSPHERE = range(5)
TIERS = ("Essentials (IDs Only)", "Essentials", "Pro", "Enterprise", "Enterprise + Atmosphere")
SERVICES = {"searchText": "Text Search", "searchNearby": "Nearby Search", "details": "Place Details"}
# US dollars for a thousand calls, before the free ones of a month.
DOLLARS = {
    "Text Search": (0, 32, 32, 35, 40),
    "Nearby Search": (32, 32, 32, 35, 40),
    "Place Details": (0, 5, 17, 20, 25),
}
_FIELDS = {
    IDS: "id name attributions movedPlace movedPlaceId nextPageToken",
    ESSENTIALS: "formattedAddress shortFormattedAddress adrFormatAddress postalAddress addressComponents location "
    "plusCode types viewport",
    PRO: "displayName primaryType primaryTypeDisplayName businessStatus googleMapsUri googleMapsLinks openingDate "
    "timeZone utcOffsetMinutes pureServiceAreaBusiness accessibilityOptions photos iconMaskBaseUri "
    "iconBackgroundColor subDestinations containingPlaces",
    ENTERPRISE: "websiteUri nationalPhoneNumber internationalPhoneNumber rating userRatingCount priceLevel priceRange "
    "regularOpeningHours currentOpeningHours regularSecondaryOpeningHours currentSecondaryOpeningHours",
}
_TIER_OF = {field: tier for tier, fields in _FIELDS.items() for field in fields.split()}


class Bill:
    """Counts the calls that were answered, by what Google calls them on its bill."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.cents = 0.0

    def add(self, method: str, mask: str) -> None:
        """Charge one call with this field mask: its most expensive field decides."""
        service, tier = SERVICES[method], max(map(_tier, _names(mask)), default=IDS)
        if service != "Place Details" and tier == ESSENTIALS:  # searches know nothing between ids and Pro
            tier = PRO
        self.calls[f"{service} {TIERS[tier]}"] += 1
        self.cents += DOLLARS[service][tier] / 10


def _names(mask: str) -> Iterable[str]:
    return (path.removeprefix("places.").partition(".")[0] for path in mask.split(","))


def _tier(field: str) -> int:
    return _TIER_OF.get(field, ATMOSPHERE)  # a star, and whatever Google thinks of next
