"""Converts an element of OpenStreetMap to PlaceDetails."""

from collections.abc import Mapping
from typing import Any

from scrapersky.core import clock
from scrapersky.extract.text import single_line
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.fields import finite, phone_numbers, postal_address, present

NAME = "openstreetmap"
LICENCE = "ODbL 1.0, © OpenStreetMap contributors"
WEBSITES = ("website", "contact:website", "url", "contact:url", "brand:website")
PHONES = ("phone", "contact:phone", "contact:mobile", "mobile", "phone:mobile")
EMAILS = ("email", "contact:email")
SOCIALS = ("facebook", "instagram", "linkedin", "twitter", "youtube", "tiktok", "whatsapp", "vk", "pinterest")
MIN_DIGITS = 3  # of a phone number
CATEGORIES = ("healthcare", "shop", "craft", "office", "tourism", "leisure", "amenity")
CITIES = ("addr:city", "addr:town", "addr:village", "addr:place", "addr:suburb")
CLOSED = ("disused:", "abandoned:", "was:", "demolished:", "razed:", "removed:")
# Named things that are not businesses.
NO_BUSINESS = {
    "bench", "parking", "parking_entrance", "parking_space", "atm", "bicycle_rental", "bicycle_parking",
    "charging_station", "drinking_water", "fountain", "grave_yard", "post_box", "recycling", "shelter", "telephone",
    "toilets", "vending_machine", "waste_basket", "artwork", "viewpoint", "information", "picnic_site",
    "picnic_table", "playground", "pitch", "park", "garden", "track",
}  # fmt: skip


def osm_place(element: Mapping[str, Any], country: str | None = None) -> PlaceDetails | None:
    """Convert an element; None if it has no name or is not a business. `country` is that of the searched area."""
    tags = _tags(element)
    name = tags.get("name") or tags.get("brand") or tags.get("operator")
    categories = _categories(tags)
    identity = _identity(element)
    if not name or identity is None or not (categories - NO_BUSINESS or _closed(tags)):
        return None
    at = element["center"] if isinstance(element.get("center"), dict) else element
    place_country = _country(tags) or country
    numbers = _numbers(tags, place_country)
    websites = _websites(tags)
    return PlaceDetails(
        provider=NAME,
        provider_id=identity,
        name=name,
        address=postal_address(
            tags.get("addr:full") or _street(tags), tags.get("addr:postcode"), _first(tags, CITIES), _country(tags)
        ),
        street=_street(tags),
        city=_first(tags, CITIES),
        region=tags.get("addr:state") or tags.get("addr:province"),
        postcode=tags.get("addr:postcode"),
        country=place_country,
        latitude=finite(at.get("lat")),
        longitude=finite(at.get("lon")),
        phone=numbers[0] if numbers else None,
        website=websites[0] if websites else None,
        categories=tuple(f"{key}={tags[key]}" for key in CATEGORIES if key in tags),
        hours={"opening_hours": tags["opening_hours"]} if tags.get("opening_hours") else None,
        business_status="CLOSED_PERMANENTLY" if _closed(tags) else "OPERATIONAL",
        licence=LICENCE,
        fetched_at=clock.now(),
        extra=_extra(tags, numbers, websites),
    )


def _tags(element: Mapping[str, Any]) -> dict[str, str]:
    tags = element.get("tags")
    return {str(key): single_line(str(value), 1000) for key, value in tags.items()} if isinstance(tags, dict) else {}


def _identity(element: Mapping[str, Any]) -> str | None:
    kind, number = element.get("type"), element.get("id")
    return f"{kind}/{number}" if kind in ("node", "way", "relation") and isinstance(number, int) else None


def _categories(tags: Mapping[str, str]) -> set[str]:
    return {value for key in CATEGORIES if key in tags for value in _values(tags[key])}


def _closed(tags: Mapping[str, str]) -> bool:
    """Return whether the business is closed: its category has a prefix such as disused, or it has an end date."""
    gone = any(key.startswith(CLOSED) and key.split(":")[1] in CATEGORIES for key in tags)
    return (gone and not any(key in tags for key in CATEGORIES)) or "end_date" in tags or tags.get("disused") == "yes"


def _numbers(tags: Mapping[str, str], country: str | None) -> list[str]:
    """Return every phone number; texts without digits are left out."""
    values = [number for key in PHONES if key in tags for number in _values(tags[key])]
    written = [value for value in values if "://" not in value and sum(map(str.isdigit, value)) >= MIN_DIGITS]
    return phone_numbers(written, country)


def _websites(tags: Mapping[str, str]) -> list[str]:
    written = [site for key in WEBSITES if key in tags for site in _values(tags[key])]
    return list(dict.fromkeys(site if "://" in site else f"https://{site.removeprefix('//')}" for site in written))


def _street(tags: Mapping[str, str]) -> str | None:
    parts = (tags.get("addr:street") or tags.get("addr:place"), tags.get("addr:housenumber"), tags.get("addr:unit"))
    return " ".join(part for part in parts if part) or None


def _country(tags: Mapping[str, str]) -> str | None:
    country = tags.get("addr:country", "").upper()
    return country if len(country) == 2 and country.isalpha() else None


def _extra(tags: Mapping[str, str], numbers: list[str], websites: list[str]) -> dict[str, Any]:
    return present(
        {
            "emails": list(dict.fromkeys(email for key in EMAILS if key in tags for email in _values(tags[key]))),
            "phones": numbers[1:],
            "websites": websites[1:],
            "fax": tags.get("fax") or tags.get("contact:fax"),
            "socials": {name: tags[f"contact:{name}"] for name in SOCIALS if f"contact:{name}" in tags},
            "brand": tags.get("brand"),
            "brand_wikidata": tags.get("brand:wikidata"),
            "operator": tags.get("operator"),
        }
    )


def _values(text: str) -> list[str]:
    return [part for value in text.split(";") if (part := value.strip())]


def _first(tags: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((tags[key] for key in keys if tags.get(key)), None)
