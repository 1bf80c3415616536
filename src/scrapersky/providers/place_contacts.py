"""The ways to reach a business that its provider knows, in the shape of what a page says."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scrapersky.extract.business.social_profiles import PLATFORMS, parse_profile
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.document.model import Document
from scrapersky.extract.emails.classify import EmailClassifier, normalise_email
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.results import Contacts, Email, Phone, Social
from scrapersky.providers.base import PlaceDetails

PROVIDER = "provider"  # how such a contact was found
CONFIDENCE = 0.6  # a page of the business itself is surer
MOST = 20  # of each sort
_HOMES = {platform.name: platform.home for platform in PLATFORMS.values()}
_PAGES = {
    "openstreetmap": "https://www.openstreetmap.org/{}",
    "google_places": "https://www.google.com/maps/place/?q=place_id:{}",
}
_BETWEEN = re.compile(r"[\s,;|]++")


def source_of(provider: str, provider_id: str) -> str:
    """The provider's page about the place; its name and id where it has none."""
    return _PAGES[provider].format(provider_id) if provider in _PAGES else f"{provider}:{provider_id}"


def contact_points(place: PlaceDetails) -> Contacts:
    """Addresses, numbers beyond the first and profiles; what cannot be read or cannot be its own is left out."""
    evidence = (PROVIDER, f"named by {place.provider}" + (f" ({place.licence})" if place.licence else ""), CONFIDENCE)
    classifier = EmailClassifier(Document(), _host(place.website))
    addresses = (normalise_email(address) for address in _words(place.extra.get("emails")))
    emails = [
        Email(address, classifier.kind(address), *evidence) for address in addresses if _is_own(classifier, address)
    ]
    numbers = [("phone", number) for number in _texts(place.extra.get("phones"))]
    numbers += [("fax", number) for number in _texts(place.extra.get("fax"))]
    return Contacts(
        emails=tuple(emails[:MOST]),
        phones=tuple(_phones(numbers[:MOST], place, evidence)),
        socials=tuple(_socials(place.extra.get("socials"), evidence)),
    )


def _phones(
    numbers: Iterable[tuple[Any, str]], place: PlaceDetails, evidence: tuple[str, str, float]
) -> Iterator[Phone]:
    for kind, written in numbers:
        reading = parse_phone(written, place.country or "")
        if reading is not None and reading.number != place.phone:
            yield Phone(reading.number, kind, *evidence, place.country or "")


def _socials(told: Any, evidence: tuple[str, str, float]) -> Iterator[Social]:
    """Profiles by platform, as addresses or names of accounts; or addresses only."""
    named = told.items() if isinstance(told, Mapping) else (("", address) for address in _texts(told))
    for platform, written in [pair for pair in named if isinstance(pair[1], str)][:MOST]:
        is_account = platform in _HOMES and "/" not in written
        judged = parse_profile(_HOMES[platform] + written.lstrip("@") if is_account else written)
        if judged is not None and not judged[2]:
            yield Social(judged[0], judged[1], *evidence)


def _is_own(classifier: EmailClassifier, address: str) -> bool:
    local, at, domain = address.rpartition("@")
    return bool(local and at and domain) and not classifier.rejection_reason(address, None)


def _host(website: str | None) -> str:
    try:
        where = parse_website(website) if website else None
    except InvalidWebsite:
        return ""
    return where.name if isinstance(where, CompanyDomain) else ""


def _words(told: Any) -> list[str]:
    return list(dict.fromkeys(word for text in _texts(told) for word in _BETWEEN.split(text) if word))


def _texts(told: Any) -> list[str]:
    values = [told] if isinstance(told, str) else told if isinstance(told, list | tuple) else []
    return [value for value in values if isinstance(value, str)]
