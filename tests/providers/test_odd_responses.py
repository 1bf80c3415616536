"""Any response of a provider gives a place that the database can store, or none."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.google.errors import error_of
from scrapersky.providers.google.place import google_place
from scrapersky.providers.http_api import ApiResponse
from scrapersky.providers.osm.nominatim import _area
from scrapersky.providers.osm.place import osm_place

ODD_TEXTS = st.one_of(
    st.text(max_size=12), st.sampled_from(["a\x00b", "\ud800", "x;y", "1e999", "-0", "+358 9 1", "//"])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ODD_TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ODD_TEXTS, inner, max_size=3)),
    max_leaves=6,
)
GOOGLE = [
    "displayName",
    "postalAddress",
    "location",
    "timeZone",
    "regularOpeningHours",
    "types",
    "primaryType",
    "rating",
    "userRatingCount",
    "priceLevel",
    "internationalPhoneNumber",
    "nationalPhoneNumber",
    "websiteUri",
    "businessStatus",
    "formattedAddress",
    "pureServiceAreaBusiness",
]
TAGS = [
    "name",
    "shop",
    "amenity",
    "phone",
    "website",
    "email",
    "addr:street",
    "addr:country",
    "opening_hours",
    "end_date",
    "disused:shop",
    "brand",
]


def some(names: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), values, max_size=6)


def storable(place: PlaceDetails) -> bool:
    """Return whether PostgreSQL can store the place: no NUL, no surrogates, no NaN."""
    facts = {name: value for name, value in vars(place).items() if name not in ("fetched_at", "expires_at")}
    text = json.dumps(facts, allow_nan=False, ensure_ascii=False)
    return "\\u0000" not in text and text.encode() != b"" and bool(place.name)


@settings(max_examples=150, deadline=None)
@given(some(GOOGLE, VALUES), some(["text", "locality", "regionCode", "addressLines", "periods", "latitude"], VALUES))
def test_a_google_place(fields: dict[str, Any], inner: dict[str, Any]) -> None:
    nested = dict.fromkeys(("displayName", "postalAddress", "location", "regularOpeningHours"), inner)
    assert storable(google_place({"id": "x", **fields}))
    assert storable(google_place({"id": "x", **nested}))


@settings(max_examples=150, deadline=None)
@given(some(["type", "id", "lat", "lon", "center", "tags"], VALUES), some(TAGS, st.one_of(ODD_TEXTS, VALUES)))
def test_an_element(element: dict[str, Any], tags: dict[str, Any]) -> None:
    for one in (element, {**element, "type": "node", "id": 1, "tags": {"name": "x", "shop": "y", **tags}}):
        place = osm_place(one)
        assert place is None or storable(place)


@settings(max_examples=100, deadline=None)
@given(some(["osm_type", "osm_id", "boundingbox", "lat", "lon", "address", "display_name", "category"], VALUES))
def test_a_place_of_nominatim(place: dict[str, Any]) -> None:
    area = _area(place)
    assert area is None or -90 <= area.box.south <= area.box.north <= 90.1


@settings(max_examples=100, deadline=None)
@given(st.integers(201, 599), some(["code", "message", "status", "details"], VALUES), VALUES)
def test_an_error_of_google(status: int, inner: dict[str, Any], outer: Any) -> None:
    for body in (json.dumps({"error": inner}), json.dumps(outer), "{", ""):
        assert isinstance(error_of(ApiResponse(status, {}, body)), ScraperSkyError)
