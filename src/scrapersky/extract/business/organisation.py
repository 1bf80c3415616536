"""The organisation that a page's structured data describes."""

from dataclasses import dataclass, fields
from typing import Any

from scrapersky.extract import regexes
from scrapersky.extract.document.structured_data import Thing, texts, types
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.text import single_line

MAX_NAME = 300
# Things that also have names and addresses, and are no organisation.
OTHER_TYPES = frozenset(
    (
        *(
            "person",
            "website",
            "webpage",
            "article",
            "newsarticle",
            "blogposting",
            "product",
            "offer",
            "event",
            "place",
        ),
        *("postaladdress", "contactpoint", "imageobject", "breadcrumblist", "listitem", "review", "rating", "service"),
        *("aggregaterating", "jobposting", "faqpage", "question", "answer", "searchaction", "itemlist", "videoobject"),
        *(
            "geocoordinates",
            "openinghoursspecification",
            "collectionpage",
            "aboutpage",
            "contactpage",
            "itempage",
            "brand",
        ),
    )
)
PLAIN_TYPES = frozenset(
    ("organization", "localbusiness", "corporation", "ngo", "onlinestore", "professionalservice", "store")
)


@dataclass(frozen=True, slots=True)
class Organisation:
    """A business in its own structured words."""

    name: str
    kind: str = ""  # the schema.org type, as in Dentist
    legal_name: str = ""
    description: str = ""
    url: str = ""
    logo: str = ""
    street: str = ""
    postal_code: str = ""
    city: str = ""
    region: str = ""
    country: str = ""
    founded: str = ""  # a year
    vat_id: str = ""
    employees: str = ""


def organisation_of(things: list[Thing], resolve: Resolver) -> Organisation | None:
    """The best described organisation; the first of several equals."""
    described = [_read(thing, resolve) for thing in things if _is_organisation(thing)]
    named = [one for one in described if one.name or one.legal_name]
    return max(named, key=_fullness) if named else None


def _is_organisation(thing: Thing) -> bool:
    given = types(thing)
    if not given or given & OTHER_TYPES:
        return False
    return bool(given & PLAIN_TYPES) or any(key in thing for key in ("legalName", "address", "telephone", "logo"))


def _fullness(organisation: Organisation) -> int:
    return sum(bool(getattr(organisation, field.name)) for field in fields(organisation))


def _read(thing: Thing, resolve: Resolver) -> Organisation:
    address = _nested(thing.get("address"))
    founded = regexes.YEAR.search(_text(thing, "foundingDate"))
    legal_name = _text(thing, "legalName")
    return Organisation(
        name=_text(thing, "name") or legal_name,
        kind=_kind(thing),
        legal_name=legal_name,
        description=_text(thing, "description", 1_000),
        url=resolve(_text(thing, "url", 2_000)),
        logo=resolve(_picture(thing.get("logo"))),
        street=_text(address, "streetAddress")
        or (single_line(address["whole"], MAX_NAME) if "whole" in address else ""),
        postal_code=_text(address, "postalCode", 20),
        city=_text(address, "addressLocality", 100),
        region=_text(address, "addressRegion", 100),
        country=_text(address, "addressCountry", 100),
        founded=founded[0] if founded else "",
        vat_id=_text(thing, "vatID", 40) or _text(thing, "taxID", 40),
        employees=_employees(thing.get("numberOfEmployees")),
    )


def _text(thing: Thing, key: str, limit: int = MAX_NAME) -> str:
    found = texts(thing.get(key))
    return single_line(found[0], limit) if found else ""


def _kind(thing: Thing) -> str:
    given = thing.get("@type")
    first = given[0] if isinstance(given, list) and given else given
    return single_line(str(first or "").rpartition("/")[2], 100)


def _nested(value: Any) -> Thing:
    """An address as a thing, however it is given: a thing, a list of them, or one text."""
    if isinstance(value, list):
        value = next((one for one in value if isinstance(one, dict)), value[0] if value else None)
    if isinstance(value, dict):
        return value
    return {"whole": value} if isinstance(value, str) else {}


def _picture(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl") or value.get("@id")
        value = value[0] if isinstance(value, list) and value else value
    return single_line(value, 2_000) if isinstance(value, str) else ""


def _employees(value: Any) -> str:
    """A number, or the range of a QuantitativeValue."""
    if isinstance(value, dict):
        ends = [
            single_line(str(value[key]), 20) for key in ("value", "minValue", "maxValue") if value.get(key) is not None
        ]
        return "–".join(ends)
    found = texts(value)
    return single_line(found[0], 40) if found else ""
