"""A business in the format of Google Places, and field masks."""

import base64
from hashlib import blake2b
from typing import Any

from scrapersky.sandbox.google.errors import invalid
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.phone_numbers import international, national
from scrapersky.sandbox.world.unlisted import Unlisted

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
TYPES = ("point_of_interest", "establishment")
BESIDE_PLACES = frozenset({"nextPageToken", "routingSummaries", "searchUri"})
# Fields that exist and that no business of the sandbox has; whatever a place shows is known anyway.
ALSO_FIELDS = frozenset(
    (
        *("attributions", "movedPlace", "movedPlaceId", "openingDate", "priceLevel", "priceRange", "editorialSummary"),
        *("currentOpeningHours", "reviews", "photos", "timeZone", "utcOffsetMinutes", "googleMapsLinks"),
        *("adrFormatAddress", "currentSecondaryOpeningHours", "regularSecondaryOpeningHours", "reviewSummary"),
        *("generativeSummary", "accessibilityOptions", "paymentOptions", "parkingOptions", "iconMaskBaseUri"),
        *("iconBackgroundColor", "takeout", "delivery", "dineIn", "subDestinations", "containingPlaces"),
    )
)


def place_id(seed: int, number: int) -> str:
    """Build an id in Google's format that encodes the number."""
    digest = blake2b(f"{seed} place {number}".encode(), digest_size=12).digest()
    return f"ChIJ{number:07x}{base64.urlsafe_b64encode(digest).decode()}"


def number_of(identity: str) -> int | None:
    """Decode the number from an id; None if it is not an id."""
    digits = identity[4:11]
    if not identity.startswith("ChIJ") or len(identity) != 27 or not all(sign in "0123456789abcdef" for sign in digits):
        return None
    return int(digits, 16)


def is_service_area(business: Business) -> bool:
    """Check for a business without an address: some plumbers only visit customers."""
    return business.trade.name == "plumber" and business.number % 4 == 0


def is_always_open(business: Business) -> bool:
    """Check for a business that is open day and night: one period without an end."""
    return business.number % 13 == 5


def is_closed_for_now(business: Business) -> bool:
    """Check for a temporarily closed business."""
    return not business.closed and business.number % 17 == 3


def is_rated(business: Business) -> bool:
    """Check for a business with ratings; new ones have none."""
    return business.number % 9 != 7


def place(seed: int, business: Business, language: str) -> dict[str, Any]:
    """Build every field of a place; unknown fields are absent."""
    shown = _everything(seed, business, language)
    unknown = set[str]()
    if business.number % 11 == 4:
        unknown |= {"nationalPhoneNumber", "internationalPhoneNumber"}
    if not is_rated(business):
        unknown |= {"rating", "userRatingCount"}
    if business.number % 7 == 2:
        unknown |= {"regularOpeningHours"}
    return {field: value for field, value in shown.items() if field not in unknown}


def _everything(seed: int, business: Business, language: str) -> dict[str, Any]:
    identity = place_id(seed, business.number)
    country = business.country
    address = f"{business.street}, {business.postcode} {business.city.name}"
    shown: dict[str, Any] = {
        "name": f"places/{identity}",
        "id": identity,
        "types": [business.trade.google, *TYPES],
        "primaryType": business.trade.google,
        "primaryTypeDisplayName": {"text": business.trade.name.capitalize(), "languageCode": "en"},
        "displayName": {"text": _name(business), "languageCode": country.language},
        "nationalPhoneNumber": national(business.phone),
        "internationalPhoneNumber": international(business.phone),
        "formattedAddress": f"{address}, {country.name}",
        "shortFormattedAddress": f"{business.street}, {business.city.name}",
        "postalAddress": {
            "regionCode": country.code,
            "languageCode": language,
            "postalCode": business.postcode,
            "locality": business.city.name,
            "addressLines": [business.street],
        },
        "addressComponents": _components(business, language),
        "rating": business.rating,
        "userRatingCount": business.rating_count,
        "googleMapsUri": f"https://maps.google.com/?cid={10**15 + business.number}&g_mp=Sandbox",
        "businessStatus": _status(business),
        "timeZone": {"id": country.timezone},
        "regularOpeningHours": _hours(business),
    }
    website = business.site_url if business.unlisted is Unlisted.RECORD else business.website
    if website:
        shown["websiteUri"] = website
    if is_service_area(business):
        return shown | {"pureServiceAreaBusiness": True}
    return shown | _location(business)


def _name(business: Business) -> str:
    """Return the name as Google has it: of some businesses that of the register, of some in capitals."""
    return {1: business.legal_name, 2: business.name.upper()}.get(business.number % 5, business.name)


def _status(business: Business) -> str:
    if business.closed:
        return "CLOSED_PERMANENTLY"
    return "CLOSED_TEMPORARILY" if is_closed_for_now(business) else "OPERATIONAL"


def _location(business: Business) -> dict[str, Any]:
    latitude, longitude = business.latitude, business.longitude
    return {
        "location": {"latitude": latitude, "longitude": longitude},
        "viewport": {
            "low": {"latitude": latitude - 0.00135, "longitude": longitude - 0.00135},
            "high": {"latitude": latitude + 0.00135, "longitude": longitude + 0.00135},
        },
        "plusCode": {"globalCode": f"9GG6{business.number % 9000 + 1000}+QX", "compoundCode": business.city.name},
    }


def _components(business: Business, language: str) -> list[dict[str, Any]]:
    parts = (
        (business.street, business.street, ["route"]),
        (business.city.name, business.city.name, ["locality", "political"]),
        (business.country.name, business.country.code, ["country", "political"]),
        (business.postcode, business.postcode, ["postal_code"]),
    )
    return [
        {"longText": long, "shortText": short, "types": types, "languageCode": language} for long, short, types in parts
    ]


def _hours(business: Business) -> dict[str, Any]:
    if is_always_open(business):
        whole_week = [f"{DAYS[day]}: Open 24 hours" for day in (1, 2, 3, 4, 5, 6, 0)]
        always = {"open": {"day": 0, "hour": 0, "minute": 0}}
        return {"openNow": True, "periods": [always], "weekdayDescriptions": whole_week}
    hours = business.hours
    until = dict.fromkeys(range(1, 6), hours.closes) | ({6: hours.saturday} if hours.saturday else {})
    periods = [
        {
            "open": {"day": day, "hour": hours.opens, "minute": 0},
            "close": {"day": day, "hour": closes, "minute": 0},
        }
        for day, closes in until.items()
    ]
    texts = [
        f"{DAYS[day]}: {hours.opens}:00\u202fAM\u2009–\u2009{until[day] - 12}:00\u202fPM"
        if day in until
        else f"{DAYS[day]}: Closed"
        for day in (1, 2, 3, 4, 5, 6, 0)
    ]
    return {"openNow": True, "periods": periods, "weekdayDescriptions": texts}


class Mask:
    """A field mask, read and checked: `Mask("id,displayName.text")` takes these parts of a place."""

    def __init__(self, text: str, known: frozenset[str], prefix: str = "") -> None:
        if not text.strip():
            raise invalid(
                "FieldMask is a required parameter. See https://cloud.google.com/apis/docs/system-parameters#definitions."
            )
        self.beside: set[str] = set()
        self._tree: dict[str, Any] = {}
        self._everything = False
        for path in text.split(","):
            self._take(path, known, prefix)

    def _take(self, path: str, known: frozenset[str], prefix: str) -> None:
        if path == "*" or path == prefix.rstrip("."):
            self._everything = True
            self.beside |= BESIDE_PLACES if path == "*" else set()
            return
        if prefix and path in BESIDE_PLACES:
            self.beside.add(path)
            return
        inner = path.removeprefix(prefix)
        if (prefix and inner == path) or inner.partition(".")[0] not in known:
            raise invalid(f"Error expanding 'fields' parameter. Cannot find matching fields for path '{path}'.")
        node = self._tree
        for name in inner.split("."):
            node = node.setdefault(name, {})

    def of(self, shown: dict[str, Any]) -> dict[str, Any]:
        """Return the requested part of a place."""
        return shown if self._everything else _cut(shown, self._tree)


def _cut(shown: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, below in tree.items():
        if name not in shown:
            continue
        value = shown[name]
        if below and isinstance(value, dict):
            kept[name] = _cut(value, below)
        elif below and isinstance(value, list):
            kept[name] = [_cut(one, below) for one in value if isinstance(one, dict)]
        else:
            kept[name] = value
    return kept
