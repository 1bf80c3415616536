"""Parsers of imported rows: values by field become columns of a table; ValueError says why a row cannot be used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.extract.company_domain import CompanyDomain, parse_website
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
from scrapersky.store.privacy import contact_points

PROVIDER = "import"
MAX_RATING, MAX_RATING_COUNT = 10, 2**31 - 1
Values = Mapping[str, str]


@dataclass(frozen=True)
class ParsedRow:
    """A row that can be stored, and the web site it belongs to."""

    values: dict[str, Any]
    site: CompanyDomain | None = None
    variants: tuple[dict[str, Any], ...] = ()  # other spellings of the same value, stored with it


def parse_place(values: Values) -> ParsedRow:
    """Parse a place."""
    provider = single_line(values.get("provider", PROVIDER), 60)
    declared = DECLARED.get(provider.lower())
    if declared is not None and declared.retention is not None:
        raise ValueError(f"places of {provider} cannot be imported: its terms limit how long they may be kept")
    place = file_place(_checked_place(values))
    details = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(place).items()
        if name not in places.NOT_DETAILS and value not in (None, (), {})
    }
    return ParsedRow(
        {
            **{name: getattr(place, name) for name in (*places.FACTS, "business_status")},
            "categories": list(place.categories),
            "details": details,
            "provider": provider,
            "provider_id": values.get("provider_id", place.provider_id),
        }
    )


def parse_domain(values: Values) -> ParsedRow:
    """Parse a domain."""
    site = _site(values.get("domain", ""))
    columns = {"name": site.name, "unicode_name": site.unicode_name, "start_url": site.url}
    return ParsedRow({**columns, "country": _country(values) or None})


def parse_sitemap(values: Values) -> ParsedRow:
    """Parse a sitemap."""
    url, site = _url(values)
    return ParsedRow({"url": url, "discovered_by": PROVIDER}, site)


def parse_page(values: Values) -> ParsedRow:
    """Parse a page; its kind is guessed from the URL and the title."""
    url, site = _url(values)
    title = single_line(values.get("title", "")) or None
    guess = classify_page(url, title=title or "")
    depth = min(max(url.split("?")[0].rstrip("/").count("/") - 2, 0), 100)
    kind = {"kind": guess.kind.value, "kind_score": guess.score, "kind_reason": guess.reason}
    return ParsedRow({"url": url, "title": title, "depth": depth, **kind}, site)


def parse_contact(values: Values) -> ParsedRow:
    """Parse a contact; its web site is the named one, or that of an email address that is no free mail."""
    facts = {
        each.name: _CONTACT_PARSERS[each.kind](values, each.name) if each.name in values else None
        for each in CONTACT_FIELDS
        if each.imported
    }
    try:
        identity = identity_of(facts)
    except ContactWithoutIdentity as error:
        raise ValueError(f"{error.title[0].lower()}{error.title[1:].rstrip('.')}") from None
    evidence = {"source_url": values.get("source_url"), "found_by": PROVIDER, "confidence": 1.0}
    site = _site(values["domain"]) if "domain" in values else employer_of(facts["email"])
    return ParsedRow({**facts, "identity": identity, **evidence}, site)


def parse_suppression(values: Values) -> ParsedRow:
    """Parse a suppression; a row holds one value."""
    given = [name for name in ("email", "phone", "value") if name in values]
    if len(given) > 1:
        raise ValueError(f"it has {' and '.join(given)}; give each a row of its own")
    column = given[0] if given else "domain"
    kinds: Mapping[str, contact_points.Kind] = {"email": "email", "phone": "phone", "domain": "domain"}
    found = contact_points.parse_points(values.get(column, ""), _country(values), kinds.get(column))
    common = {"reason": single_line(values.get("reason", "")) or None, "origin": PROVIDER}
    first, *others = ({"kind": one.kind, "value": one.value, "value_hash": one.digest, **common} for one in found)
    return ParsedRow(first, variants=tuple(others))


def _checked_place(values: Values) -> dict[str, str]:
    """Return the values of a place after checking country, email addresses, position and ratings."""
    checked = {**values, **({"country": _country(values)} if "country" in values else {})}
    if "email" in values:
        checked["email"] = "; ".join(_email(part.strip()) for part in values["email"].split(";") if part.strip())
    if ("latitude" in values) != ("longitude" in values):
        raise ValueError("it has a latitude or a longitude without the other")
    _number(values, "rating", MAX_RATING)
    if not _number(values, "rating_count", MAX_RATING_COUNT).is_integer():
        raise ValueError(f"{values['rating_count'][:40]!r} is not a rating_count")
    return checked


def _number(values: Values, name: str, maximum: float) -> float:
    """Return the number in a column, 0 if there is none; raise ValueError unless it lies between 0 and the maximum."""
    written = values.get(name, "0")
    try:
        number = float(written.replace(",", "."))
    except ValueError:
        raise ValueError(f"{written[:40]!r} is not a {name}") from None
    if not 0 <= number <= maximum:  # NaN fails this, too
        raise ValueError(f"{written[:40]!r} is not a {name}; it lies between 0 and {maximum:,}")
    return number


def _url(values: Values) -> tuple[str, CompanyDomain]:
    """Return the URL of a page or sitemap and the web site it belongs to."""
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
        raise ValueError(f"{written[:80]!r} is not an email address")
    return address


def _phone(values: Values, name: str) -> str:
    found = parse_phone(values[name], _country(values))
    if found is None:
        raise ValueError(
            f"{values[name][:40]!r} is not a {name} number; write it as +358 9 1234567, or give the country"
        )
    return found.number


def _country(values: Values) -> str:
    country = values.get("country", "").upper()
    if country and not (len(country) == 2 and country.isascii() and country.isalpha()):
        raise ValueError(f"{values['country'][:40]!r} is not a country code of two letters")
    return country


_CONTACT_PARSERS: Mapping[str, Callable[[Values, str], str]] = {
    "text": lambda values, name: single_line(values[name]),
    "email": lambda values, name: _email(values[name]),
    "phone": _phone,
}
