"""Parsers of imported rows: values by field become columns of a table; ValueError says why a row cannot be used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from scrapersky.core.contact_fields import CONTACT_FIELDS, NAME_PARTS
from scrapersky.extract.business.social_profiles import parse_profile
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.countries import country_code
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.emails.classify import normalise_email
from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.tabular.headers import MAX_VALUE_LENGTH
from scrapersky.extract.text import single_line
from scrapersky.providers.fields import postal_address
from scrapersky.providers.file.provider import file_place
from scrapersky.providers.file.rows import PROFILES
from scrapersky.providers.registry import DECLARED
from scrapersky.store.contacts.edit import ContactWithoutIdentity, identity_of
from scrapersky.store.contacts.owner import employer_of
from scrapersky.store.line import places
from scrapersky.store.privacy import contact_points

Parsed = TypeVar("Parsed")
PROVIDER = "import"
MAX_RATING, MAX_RATING_COUNT = 10, 2**31 - 1
MIN_PHONE_DIGITS = 5  # of a national number whose country is unknown
_SEPARATOR = ":::"  # between several values of one cell, in exports of Google Contacts


class RowValues(dict[str, str]):
    """The values of a row by field. Wrong values that it does not need are left out; `problems` says why, by field."""

    def __init__(self, values: Mapping[str, str], country: str = "") -> None:
        super().__init__({field: text for field, text in values.items() if len(text) <= MAX_VALUE_LENGTH})
        self.default_country = country
        self.problems = {
            field: f"it has more than {MAX_VALUE_LENGTH:,} characters" for field in values if field not in self
        }

    def optional(self, name: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        """Return a parsed value; None if there is none or if it is wrong."""
        if name not in self:
            return None
        try:
            return parse(self[name])
        except InvalidWebsite as error:
            self.problems[name] = f"no web address: {str(error).rstrip('.')}"
        except ValueError as error:
            self.problems[name] = str(error)
        return None

    @property
    def country(self) -> str:
        """The code of the country; the default one, or an empty text, if the row has none that is known."""
        return self.optional("country", _country) or self.default_country


@dataclass(frozen=True)
class ParsedRow:
    """A row that can be stored, and the web site it belongs to."""

    values: dict[str, Any]
    site: CompanyDomain | None = None
    variants: tuple[dict[str, Any], ...] = ()  # other spellings of the same value, stored with it


def parse_place(values: RowValues) -> ParsedRow:
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


def parse_domain(values: RowValues) -> ParsedRow:
    """Parse a domain."""
    site = _site(values.get("domain", ""))
    columns = {"name": site.name, "unicode_name": site.unicode_name, "start_url": site.start_url}
    return ParsedRow({**columns, "country": values.country or None})


def parse_sitemap(values: RowValues) -> ParsedRow:
    """Parse a sitemap."""
    url, site = _url(values)
    return ParsedRow({"url": url, "discovered_by": PROVIDER}, site)


def parse_page(values: RowValues) -> ParsedRow:
    """Parse a page; its kind is guessed from the URL and the title."""
    url, site = _url(values)
    title = single_line(values.get("title", "")) or None
    guess = classify_page(url, title=title or "")
    depth = min(max(url.split("?")[0].rstrip("/").count("/") - 2, 0), 100)
    kind = {"kind": guess.kind.value, "kind_score": guess.score, "kind_reason": guess.reason}
    return ParsedRow({"url": url, "title": title, "depth": depth, **kind}, site)


def parse_contact(values: RowValues) -> ParsedRow:
    """Parse a contact; its web site is the named one, or that of an email address whose service is not free mail."""
    country = values.country
    parsers: Mapping[str, Callable[[str], str]] = {
        "text": single_line,
        "email": lambda text: _first(text, _email),
        "phone": lambda text: _first(text, lambda part: _phone(part, country)),
    }
    facts: dict[str, Any] = {
        each.name: values.optional(each.name, parsers[each.kind]) for each in CONTACT_FIELDS if each.imported
    }
    if facts["name"] and not any(facts[part] for part in NAME_PARTS):
        from scrapersky.extract.people.name_parts import split_written_name  # the lists of names take 12 MB

        facts |= split_written_name(facts["name"], region=country)._asdict()
    facts["name"] = facts["name"] or " ".join(facts[part] for part in NAME_PARTS if facts[part])
    try:
        identity = identity_of(facts)
    except ContactWithoutIdentity as error:
        raise ValueError(f"{error.title[0].lower()}{error.title[1:].rstrip('.')}") from None
    # Not part of the identity: a city alone makes no contact.
    where = postal_address(values.get("street"), values.get("postcode"), values.get("city"), None)
    facts["address"] = facts["address"] or where
    found = (profile for name in PROFILES if (profile := values.optional(name, partial(_profile, name))))
    evidence = {"source_url": values.get("source_url"), "found_by": PROVIDER, "confidence": 1.0}
    site = values.optional("domain", _site) or employer_of(facts["email"])
    facts = {name: value or None for name, value in facts.items()}
    return ParsedRow({**facts, "profiles": dict(found) or None, "identity": identity, **evidence}, site)


def parse_suppression(values: RowValues) -> ParsedRow:
    """Parse a suppression; a row holds one value."""
    given = [name for name in ("email", "phone", "value") if name in values]
    if len(given) > 1:
        raise ValueError(f"it has {' and '.join(given)}; give each a row of its own")
    column = given[0] if given else "domain"
    kinds: Mapping[str, contact_points.Kind] = {"email": "email", "phone": "phone", "domain": "domain"}
    found = contact_points.parse_points(values.get(column, ""), values.country, kinds.get(column))
    common = {"reason": single_line(values.get("reason", "")) or None, "origin": PROVIDER}
    first, *others = ({"kind": one.kind, "value": one.value, "value_hash": one.digest, **common} for one in found)
    return ParsedRow(first, variants=tuple(others))


def _checked_place(values: RowValues) -> dict[str, str]:
    """Return the values of a place without those that are wrong."""
    country = values.country
    parsers: Mapping[str, Callable[[str], str]] = {
        "phone": lambda text: _local_phone(text, country),
        "email": _emails(values),
        "latitude": lambda text: _number(text, "latitude", -90, 90),
        "longitude": lambda text: _number(text, "longitude", -180, 180),
        "rating": lambda text: _number(text, "rating", 0, MAX_RATING),
        "rating_count": lambda text: _number(text, "rating_count", 0, MAX_RATING_COUNT, is_whole=True),
        **{name: partial(_profile_url, name) for name in PROFILES},
    }
    checked = {name: text for name, text in values.items() if name not in parsers and name != "country"}
    parsed = {name: values.optional(name, parse) for name, parse in parsers.items()}
    checked |= {name: text for name, text in parsed.items() if text} | ({"country": country} if country else {})
    for name, other in (("latitude", "longitude"), ("longitude", "latitude")):
        if name in checked and other not in checked:
            values.problems.setdefault(name, f"there is no {other} beside it")
    return checked


def _emails(values: RowValues) -> Callable[[str], str]:
    """Return a parser of several addresses, which leaves out and notes the wrong ones."""

    def parse(text: str) -> str:
        good, wrong = list[str](), list[ValueError]()
        for part in filter(None, map(str.strip, text.replace(_SEPARATOR, ";").split(";"))):
            try:
                good.append(_email(part))
            except ValueError as error:
                wrong.append(error)
        if wrong:
            values.problems["email"] = str(wrong[0])
        return "; ".join(dict.fromkeys(good))

    return parse


def _number(text: str, name: str, minimum: float, maximum: float, is_whole: bool = False) -> str:
    """Return the text of a number between two limits, or raise ValueError."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a {name}") from None
    if not minimum <= number <= maximum:  # NaN fails this, too
        raise ValueError(f"{text[:40]!r} is not a {name}; it lies between {minimum:,} and {maximum:,}")
    if is_whole and not number.is_integer():
        raise ValueError(f"{text[:40]!r} is not a {name}")
    return text


def _url(values: RowValues) -> tuple[str, CompanyDomain]:
    """Return the URL of a page or sitemap and the web site it belongs to."""
    if "url" not in values:
        raise ValueError("it has no url")
    found = parse_website(values["url"])
    url = Resolver(found.url)(found.url)
    if not url:
        raise ValueError(f"{values['url'][:80]!r} cannot be opened")
    return url, values.optional("domain", _site) or _site(values["url"])


def _site(written: str) -> CompanyDomain:
    if not written:
        raise ValueError("it has no domain")
    site = parse_website(written)
    if isinstance(site, CompanyDomain):
        return site
    raise ValueError(f"a page on {site.platform} is not a web site of its own")


def _email(written: str) -> str:
    address = normalise_email(written)
    local, _, host = address.rpartition("@")
    if not (0 < len(local) <= 64 and registrable_domain(host) and " " not in address):
        raise ValueError(f"{written[:80]!r} is not an email address")
    return address


def _phone(text: str, country: str) -> str:
    found = parse_phone(text, country)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a phone number; write it as +358 9 1234567, or give the country")
    return found.number


def _local_phone(text: str, country: str) -> str:
    """Return the number of a place as the file writes it: without a country it can be right, but not be parsed."""
    if sum(map(str.isdigit, text)) < MIN_PHONE_DIGITS:
        return _phone(text, country)
    return text


def _country(text: str) -> str:
    code = country_code(text)
    if code is None:
        raise ValueError(f"{text[:40]!r} is not a country; write its name, or its code of two letters")
    return code


def _profile(name: str, text: str) -> tuple[str, str]:
    """Return the network and the URL of a profile, or raise ValueError."""
    judged = parse_profile(text)
    if judged is None or judged[2]:
        raise ValueError(f"{text[:80]!r} is not a profile at {name}")
    return judged[0], judged[1]


def _profile_url(name: str, text: str) -> str:
    return _profile(name, text)[1]


def _first(text: str, parse: Callable[[str], str]) -> str:
    """Parse the first value of a cell that holds several."""
    return parse(text.partition(_SEPARATOR)[0].strip())
