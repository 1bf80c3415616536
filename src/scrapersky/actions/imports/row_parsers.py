"""How a row of a file becomes a row of a noun: read, checked, and which columns it may write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapersky.core import clock
from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.emails.classify import normalise_email
from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.text import single_line
from scrapersky.providers.file.provider import file_place
from scrapersky.providers.registry import DECLARED
from scrapersky.store.contacts.edit import ContactWithoutIdentity, identity_of
from scrapersky.store.contacts.owner import employer_of
from scrapersky.store.line import places
from scrapersky.store.listing.resources import CONTACTS, DOMAINS, PAGES, PLACES, SITEMAPS, SUPPRESSIONS, Resource
from scrapersky.store.privacy import contact_points
from scrapersky.store.privacy.contact_points import Kind as Reachable

PROVIDER = "import"
MAX_RATING, MAX_RATINGS = 10, 2**31 - 1
Values = Mapping[str, str]


@dataclass(frozen=True)
class Ready:
    """A row that can be stored, and the web site it belongs to."""

    values: dict[str, Any]
    site: CompanyDomain | None = None
    also: tuple[dict[str, Any], ...] = ()  # other spellings of the same, stored with it


@dataclass(frozen=True)
class Kind:
    """What an import may do to the rows of a noun. Curation and the state of queues are other people's columns."""

    noun: Resource
    read: Callable[[Values], Ready]  # ValueError says why a row cannot be used
    key: tuple[str, ...]  # what makes two rows the same, besides the tenant
    refreshed: tuple[str, ...] = ()  # what the file says is taken, what it leaves out is kept
    filled: tuple[str, ...] = ()  # taken where there was nothing
    stamped: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # new with every import, told by nobody
    has_site: bool = False
    has_search: bool = True  # whether its rows belong to one

    @property
    def step(self) -> str | None:
        """The queue of its next step."""
        return self.noun.queues[0] if self.noun.queues else None


def _place(values: Values) -> Ready:
    provider = single_line(values.get("provider", PROVIDER), 60)
    declared = DECLARED.get(provider.lower())
    if declared is not None and declared.retention is not None:
        raise ValueError(f"what {provider} says is kept for as long as its terms allow; a file cannot speak for it")
    place = file_place(_checked_place(values))
    details = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(place).items()
        if name not in places.NOT_DETAILS and value not in (None, (), {})
    }
    facts = {name: getattr(place, name) for name in (*places.FACTS, "business_status")}
    return Ready(
        {
            **facts,
            "categories": list(place.categories),
            "details": details,
            "provider": provider,
            "provider_id": values.get("provider_id", place.provider_id),
        }
    )


def _checked_place(values: Values) -> dict[str, str]:
    """The values of a place whose country, addresses, position and ratings can be such."""
    checked = {**values, **({"country": _country(values)} if "country" in values else {})}
    if "email" in values:
        checked["email"] = "; ".join(_email(part.strip()) for part in values["email"].split(";") if part.strip())
    if ("latitude" in values) != ("longitude" in values):
        raise ValueError("it has a latitude or a longitude without the other")
    _at_most(values, "rating", MAX_RATING)
    if not _at_most(values, "rating_count", MAX_RATINGS).is_integer():
        raise ValueError(f"{values['rating_count'][:40]!r} is no rating_count")
    return checked


def _at_most(values: Values, name: str, most: float) -> float:
    """The number in this column, 0 if there is none; ValueError for one that is out of bounds, or no number."""
    written = values.get(name, "0")
    try:
        number = float(written.replace(",", "."))
    except ValueError:
        raise ValueError(f"{written[:40]!r} is no {name}") from None
    if not 0 <= number <= most:  # which NaN is not, either
        raise ValueError(f"{written[:40]!r} is no {name}; it lies between 0 and {most:,}")
    return number


def _domain(values: Values) -> Ready:
    site = _site(values.get("domain", ""))
    return Ready(
        {
            "name": site.name,
            "unicode_name": site.unicode_name,
            "start_url": site.url,
            "country": _country(values) or None,
        }
    )


def _sitemap(values: Values) -> Ready:
    url, site = _address(values)
    return Ready({"url": url, "discovered_by": PROVIDER}, site)


def _page(values: Values) -> Ready:
    url, site = _address(values)
    title = single_line(values.get("title", "")) or None
    guess = classify_page(url, title=title or "")
    depth = min(max(url.split("?")[0].rstrip("/").count("/") - 2, 0), 100)
    kind = {"kind": guess.kind.value, "kind_score": guess.score, "kind_reason": guess.reason}
    return Ready({"url": url, "title": title, "depth": depth, **kind}, site)


def _contact(values: Values) -> Ready:
    facts = {
        each.name: _CONTACT_PARSERS[each.kind](values, each.name) if each.name in values else None
        for each in CONTACT_FIELDS
        if each.imported
    }
    source = values.get("source_url")
    try:
        facts["identity"] = identity_of(facts)
    except ContactWithoutIdentity as error:
        raise ValueError(f"{error.title[0].lower()}{error.title[1:].rstrip('.')}") from None
    facts |= {"source_url": source, "found_by": PROVIDER}
    return Ready({**facts, "confidence": 1.0}, _employer(values, facts["email"]))


def _suppression(values: Values) -> Ready:
    given = [name for name in ("email", "phone", "value") if name in values]
    if len(given) > 1:
        raise ValueError(f"it has {' and '.join(given)}; give each a row of its own")
    column = given[0] if given else "domain"
    kinds: Mapping[str, Reachable] = {"email": "email", "phone": "phone", "domain": "domain"}  # a value may be any
    first, *others = contact_points.parse_points(values.get(column, ""), _country(values), kinds.get(column))
    reason = single_line(values.get("reason", "")) or None
    rows = [
        {"kind": way.kind, "value": way.value, "value_hash": way.digest, "reason": reason, "origin": PROVIDER}
        for way in (first, *others)
    ]
    return Ready(rows[0], also=tuple(rows[1:]))


def _employer(values: Values, email: str | None) -> CompanyDomain | None:
    """The web site of a contact: the one that is named, or that of an address which is no free-mail."""
    if "domain" in values:
        return _site(values["domain"])
    return employer_of(email)


def _address(values: Values) -> tuple[str, CompanyDomain]:
    if "url" not in values:
        raise ValueError("it has no url")
    found = parse_website(values["url"])
    url = Resolver(found.url)(found.url)
    if not url:
        raise ValueError(f"{values['url'][:80]!r} cannot be opened")
    return url, _site(values["domain"] if "domain" in values else values["url"])


def _site(written: str) -> CompanyDomain:
    if not written:
        raise ValueError("it has no domain")
    site = parse_website(written)
    if isinstance(site, CompanyDomain):
        return site
    raise ValueError(f"a page on {site.platform} is nobody's own web site")


def _email(written: str) -> str:
    address = normalise_email(written)
    local, _, host = address.rpartition("@")
    if not (0 < len(local) <= 64 and registrable_domain(host) and " " not in address):
        raise ValueError(f"{written[:80]!r} is no email address")
    return address


def _number(values: Values, name: str) -> str:
    found = parse_phone(values[name], _country(values))
    if found is None:
        raise ValueError(f"{values[name][:40]!r} is no {name} number; write it as +358 9 1234567, or give the country")
    return found.number


def _country(values: Values) -> str:
    country = values.get("country", "").upper()
    if country and not (len(country) == 2 and country.isascii() and country.isalpha()):
        raise ValueError(f"{values['country'][:40]!r} is no country of two letters")
    return country


def read(kind: Kind, values: Values) -> Ready:
    """The row, ready to be stored; ValueError if it cannot be."""
    try:
        return kind.read(values)
    except InvalidWebsite as error:
        raise ValueError(f"no web address: {str(error).rstrip('.')}") from None


_CONTACT_PARSERS: Mapping[str, Callable[[Values, str], str]] = {
    "text": lambda values, name: single_line(values[name]),
    "email": lambda values, name: _email(values[name]),
    "phone": _number,
}
DOMAIN_KIND = Kind(DOMAINS, _domain, ("name",), ("country",), ("unicode_name", "start_url", "search_id"))
KINDS = {
    "places": Kind(
        PLACES,
        _place,
        ("provider", "provider_id"),
        (*places.FACTS, "business_status", "details"),
        ("search_id",),
        {"fetched_at": clock.now},
    ),
    "domains": DOMAIN_KIND,
    "sitemaps": Kind(SITEMAPS, _sitemap, ("domain_id", "url"), filled=("discovered_by",), has_site=True),
    "pages": Kind(
        PAGES,
        _page,
        ("domain_id", "url"),
        ("title",),
        ("kind", "kind_score", "kind_reason", "depth"),
        has_site=True,
    ),
    "contacts": Kind(
        CONTACTS,
        _contact,
        ("domain_id", "identity"),
        filled=(*(each.name for each in CONTACT_FIELDS if each.imported), "source_url", "found_by", "confidence"),
        stamped={"seen_at": clock.now, "edited_at": clock.now},
        has_site=True,
    ),
    "suppressions": Kind(SUPPRESSIONS, _suppression, ("value_hash", "kind"), filled=("reason",), has_search=False),
}
