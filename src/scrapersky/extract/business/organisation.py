"""The organisation that the structured data of a page describes."""

import re
from dataclasses import astuple, dataclass
from typing import Any

from scrapersky.extract.document.structured_data import Thing, property_texts, thing_types
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.text import single_line
from scrapersky.extract.word_lists import word_set

MAX_NAME = 300
# Types that also have names and addresses, but are not organisations.
OTHER_TYPES = word_set(
    """
    person website webpage article newsarticle blogposting product offer event place postaladdress contactpoint
    imageobject breadcrumblist listitem review rating service aggregaterating jobposting faqpage question answer
    searchaction itemlist videoobject geocoordinates openinghoursspecification collectionpage aboutpage contactpage
    itempage brand
    """
)
ORGANISATION_TYPES = word_set("organization localbusiness corporation ngo onlinestore professionalservice store")
YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class Organisation:
    """An organisation as its structured data describes it."""

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


def find_organisation(things: list[Thing], resolve: Resolver) -> Organisation | None:
    """Return the organisation with the most fields, the first of several equals; None if there is none."""
    described = [_build_organisation(thing, resolve) for thing in things if _is_organisation(thing)]
    named = [one for one in described if one.name or one.legal_name]
    return max(named, key=lambda one: sum(map(bool, astuple(one)))) if named else None


def _is_organisation(thing: Thing) -> bool:
    types = thing_types(thing)
    if not types or types & OTHER_TYPES:
        return False
    is_typed = bool(types & ORGANISATION_TYPES)
    return is_typed or any(key in thing for key in ("legalName", "address", "telephone", "logo"))


def _build_organisation(thing: Thing, resolve: Resolver) -> Organisation:
    address = _address(thing.get("address"))
    founded = YEAR.search(_text(thing, "foundingDate"))
    legal_name = _text(thing, "legalName")
    return Organisation(
        name=_text(thing, "name") or legal_name,
        kind=_kind(thing),
        legal_name=legal_name,
        description=_text(thing, "description", 1_000),
        url=resolve(_text(thing, "url", 2_000)),
        logo=resolve(_image_url(thing.get("logo"))),
        street=_text(address, "streetAddress") or single_line(address.get("whole", ""), MAX_NAME),
        postal_code=_text(address, "postalCode", 20),
        city=_text(address, "addressLocality", 100),
        region=_text(address, "addressRegion", 100),
        country=_text(address, "addressCountry", 100),
        founded=founded[0] if founded else "",
        vat_id=_text(thing, "vatID", 40) or _text(thing, "taxID", 40),
        employees=_employees(thing.get("numberOfEmployees")),
    )


def _text(thing: Thing, key: str, limit: int = MAX_NAME) -> str:
    found = property_texts(thing.get(key))
    return single_line(found[0], limit) if found else ""


def _kind(thing: Thing) -> str:
    given = thing.get("@type")
    first = given[0] if isinstance(given, list) and given else given
    return single_line(str(first or "").rpartition("/")[2], 100)


def _address(value: Any) -> Thing:
    """Return an address as a thing, whether it is given as a thing, a list of things, or a text."""
    if isinstance(value, list):
        value = next((one for one in value if isinstance(one, dict)), value[0] if value else None)
    if isinstance(value, dict):
        return value
    return {"whole": value} if isinstance(value, str) else {}


def _image_url(value: Any) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl") or value.get("@id")
        value = value[0] if isinstance(value, list) and value else value
    return single_line(value, 2_000) if isinstance(value, str) else ""


def _employees(value: Any) -> str:
    """Return a number, or the range of a QuantitativeValue."""
    if isinstance(value, dict):
        bounds = [value[key] for key in ("value", "minValue", "maxValue") if value.get(key) is not None]
        return "–".join(single_line(str(bound), 20) for bound in bounds)
    found = property_texts(value)
    return single_line(found[0], 40) if found else ""
