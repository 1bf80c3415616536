"""The contact points of a business that its provider knows, in the form of extracted contacts."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from scrapersky.core.vocabularies import BY_PROVIDER
from scrapersky.extract.business.social_profiles import PLATFORMS, parse_profile
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.document.model import Document
from scrapersky.extract.emails.classify import EmailClassifier, normalise_email
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.results import Contacts, Email, Person, Phone, Social
from scrapersky.extract.text import single_line
from scrapersky.providers.base import PlaceDetails
from scrapersky.providers.registry import DECLARED

CONFIDENCE = 0.6  # less than for a page of the business itself
MAX_CONTACTS = 20  # of each kind
_HOMES = {platform.name: platform.home for platform in PLATFORMS.values()}
_PERSON = ("name", "title", "email")
_BETWEEN = re.compile(r"[\s,;|]++")


def source_of(provider: str, provider_id: str) -> str:
    """Return the URL of the place at its provider; without one, the name of the provider and the id."""
    url = DECLARED[provider].place_url if provider in DECLARED else None
    return url.format(provider_id) if url else f"{provider}:{provider_id}"


def contact_points(place: PlaceDetails) -> Contacts:
    """Return emails, phone numbers, profiles and people; invalid ones and those of others are left out."""
    evidence = (
        BY_PROVIDER,
        f"named by {place.provider}" + (f" ({place.licence})" if place.licence else ""),
        CONFIDENCE,
    )
    classifier = EmailClassifier(Document(), _host(place.website))
    addresses = (normalise_email(address) for address in _words(place.extra.get("emails")))
    emails = [
        Email(address, classifier.kind(address), *evidence) for address in addresses if _is_own(classifier, address)
    ]
    numbers = [("phone", number) for number in dict.fromkeys(_texts([place.phone, *_texts(place.extra.get("phones"))]))]
    numbers += [("fax", number) for number in _texts(place.extra.get("fax"))]
    return Contacts(
        emails=tuple(emails[:MAX_CONTACTS]),
        phones=tuple(_phones(numbers[:MAX_CONTACTS], place, evidence)),
        socials=tuple(_socials(place.extra.get("socials"), evidence)),
        people=tuple(_people(place.extra.get("people"), place, {email.address for email in emails}, evidence)),
    )


def _phones(
    numbers: Iterable[tuple[Any, str]], place: PlaceDetails, evidence: tuple[str, str, float]
) -> Iterator[Phone]:
    for kind, written in numbers:
        reading = parse_phone(written, place.country or "")
        if reading is not None:
            yield Phone(reading.number, kind, *evidence, place.country or "")


def _socials(given: Any, evidence: tuple[str, str, float]) -> Iterator[Social]:
    """Yield profiles, given by platform as URL or account name, or as a list of URLs."""
    named = given.items() if isinstance(given, Mapping) else (("", address) for address in _texts(given))
    for platform, written in [pair for pair in named if isinstance(pair[1], str)][:MAX_CONTACTS]:
        is_account = platform in _HOMES and "/" not in written
        judged = parse_profile(_HOMES[platform] + written.lstrip("@") if is_account else written)
        if judged is not None and not judged[2]:
            yield Social(judged[0], judged[1], *evidence)


def _people(
    given: Any, place: PlaceDetails, emails: Collection[str], evidence: tuple[str, str, float]
) -> Iterator[Person]:
    """Yield people, given as objects with name, title and email; an address that is not one of `emails` is left out."""
    from scrapersky.extract.people.name_parts import split_written_name  # the lists of names take 12 MB

    people = given if isinstance(given, list | tuple) else []
    for person in [each for each in people if isinstance(each, Mapping)][:MAX_CONTACTS]:
        name, title, email = (single_line(text) if isinstance(text := person.get(key), str) else "" for key in _PERSON)
        if name:
            address = normalise_email(email)
            parts = split_written_name(name, region=place.country or "")._asdict()
            yield Person(name, title, *evidence, email=address if address in emails else "", **parts)


def _is_own(classifier: EmailClassifier, address: str) -> bool:
    local, at, domain = address.rpartition("@")
    return bool(local and at and domain) and not classifier.rejection_reason(address, None)


def _host(website: str | None) -> str:
    try:
        where = parse_website(website) if website else None
    except InvalidWebsite:
        return ""
    return where.name if isinstance(where, CompanyDomain) else ""


def _words(given: Any) -> list[str]:
    return list(dict.fromkeys(word for text in _texts(given) for word in _BETWEEN.split(text) if word))


def _texts(given: Any) -> list[str]:
    values = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    return [value for value in values if isinstance(value, str)]
