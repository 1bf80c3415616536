"""The proof that a site belongs to a business: its number, its street, or its name and town on the site itself."""

import re
from dataclasses import dataclass

from scrapersky.core.vocabularies import WebsiteHow
from scrapersky.extract.site_results import SiteFacts
from scrapersky.extract.site_search.names import name_words
from scrapersky.extract.text import fold

MANY_PHONES = 6  # a page with more numbers lists several businesses, or the branches of one
MANY_ADDRESSES = 3
MIN_NAME = 8  # letters of a name that can prove a site together with its town; a shorter one is a common word
MIN_WORD = 4
STREET_NUMBER = re.compile(r"\d{1,5}[a-z]?")


@dataclass(frozen=True, slots=True)
class WantedBusiness:
    """What is known about the business whose web site is looked for."""

    name: str
    phone: str | None = None  # in E.164
    street: str | None = None
    postcode: str | None = None
    city: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a site belongs to the business, and how sure that is."""

    confidence: float
    reason: str  # without the number itself, which somebody may suppress


def prove(facts: SiteFacts, wanted: WantedBusiness, domain: str, how: WebsiteHow) -> Proof | None:
    """Return the best proof, or None.

    The name in the title is needed on a page that lists many numbers: a directory has the number of everybody, a chain
    has those of its branches under its own name. The name in the text alone proves nothing: a competitor may quote it.
    """
    named, is_list = _is_named(facts, wanted), len(facts.phones) > MANY_PHONES
    is_owner = named or (not is_list and _is_labelled(domain, wanted))
    by_phone = wanted.phone is not None and wanted.phone in facts.phones
    by_street = _has_street(facts, wanted)
    if by_phone and is_owner:
        return Proof(0.98 if by_street else 0.96, f"its number and its name are on {facts.url}")
    if by_street and is_owner:
        return Proof(0.94, f"its street {wanted.street} and its name are on {facts.url}")
    if by_phone and not is_list and len(facts.addresses) <= MANY_ADDRESSES:
        return Proof(0.85, f"its number is on {facts.url}")
    if how is WebsiteHow.EMAIL and (named or _shares_word(domain, wanted)):
        return Proof(0.9, f"its email address is at {domain}, and the site has its name")
    if named and _is_distinctive(wanted) and _has_town(facts, wanted) and not _contradicts(facts, wanted):
        return Proof(0.8, f"its name and its town {wanted.city} are on {facts.url}")
    return None


def is_same_name(one: str, other: str, city: str | None) -> bool:
    """Return whether two names are the same, or one begins the other, apart from legal form, town and spaces."""
    first, second = ("".join(name_words(name, city)) for name in (one, other))
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) >= MIN_WORD and longer.startswith(shorter)


def _is_named(facts: SiteFacts, wanted: WantedBusiness) -> bool:
    """Return whether the site calls itself by the name of the business."""
    words = name_words(wanted.name, wanted.city)
    joined = "".join(words)
    if len(joined) < MIN_WORD:
        return any(re.fullmatch(rf"\W{{0,20}}{re.escape(joined)}\W{{0,20}}", title) for title in facts.titles)
    return any(
        joined in re.sub(r"[^a-z0-9]", "", title) if len(words) > 1 else joined in re.findall(r"[a-z0-9]++", title)
        for title in facts.titles
    )


def _is_labelled(domain: str, wanted: WantedBusiness) -> bool:
    """Return whether the domain is the whole name of the business."""
    label = domain.partition(".")[0].replace("-", "")
    joined = "".join(name_words(wanted.name, wanted.city))
    return len(joined) >= MIN_WORD and label.startswith(joined)


def _shares_word(domain: str, wanted: WantedBusiness) -> bool:
    label = domain.partition(".")[0].replace("-", "")
    return any(word in label for word in name_words(wanted.name, wanted.city) if len(word) >= MIN_WORD)


def _is_distinctive(wanted: WantedBusiness) -> bool:
    return len("".join(name_words(wanted.name, wanted.city))) >= MIN_NAME


def _has_street(facts: SiteFacts, wanted: WantedBusiness) -> bool:
    """Return whether the street with its house number is on the page, with the town or the postal code if known."""
    street = fold(wanted.street or "")
    number = STREET_NUMBER.search(street)
    if number is None:
        return False
    road = street.replace(number[0], " ").strip(" ,")
    forms = (rf"{_spaced(road)}\W{{0,3}}{number[0]}", rf"{number[0]}\W{{0,3}}{_spaced(road)}")
    is_written = any(re.search(rf"(?<![\w-]){form}(?![\w-]?\w)", facts.text) for form in forms)
    return is_written and (_has_town(facts, wanted) or not (wanted.city or wanted.postcode))


def _has_town(facts: SiteFacts, wanted: WantedBusiness) -> bool:
    parts = (fold(part) for part in (wanted.city, wanted.postcode) if part)
    return any(re.search(rf"(?<!\w){_spaced(part)}(?!\w)", facts.text) for part in parts)


def _contradicts(facts: SiteFacts, wanted: WantedBusiness) -> bool:
    """Return whether the page shows another number or another address than those that are known: of a namesake."""
    other_phone = wanted.phone is not None and bool(facts.phones) and wanted.phone not in facts.phones
    other_street = bool(wanted.street) and bool(facts.addresses) and not _has_street(facts, wanted)
    return other_phone or other_street or len(facts.addresses) > MANY_ADDRESSES


def _spaced(text: str) -> str:
    return r"\W{1,3}".join(re.escape(word) for word in text.split())
