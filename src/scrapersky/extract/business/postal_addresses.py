"""The postal addresses of a page: from structured data, address elements, and lines with a postal code."""

import re
from collections.abc import Iterator

from scrapersky.extract.document.context import is_authority, snippet
from scrapersky.extract.document.model import DIGIT, Document
from scrapersky.extract.document.structured_data import Thing, property_texts
from scrapersky.extract.phones.parse import PHONE
from scrapersky.extract.results import PostalAddress

MAX_ADDRESSES = 30
LONG_LINE = 200
LONG_FOOTER = 400  # often one line
STATES = (
    " AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR"
    " PA PR RI SC SD TN TX UT VT VA WA WV WI WY "
)
COUNTRY_PREFIX = 3  # letters before a postal code, as in CH-8000

_CODE = r"(?P<code>(?:[A-Z]{1,2}-)?(?:\d{2}-\d{3}|\d{3}\s\d{2}|\d{4,5}(?:\s[A-Z]{2}\b)?(?:-\d{3,4})?))"
# It begins with a digit, so that the search skips all other characters.
POSTAL_CODE = re.compile(r"\d\d(?:\d\d|-\d{3}|\d\s\d{2})")
_CITY = r"(?P<city>[^\W\d_][^\d,|•·()]{1,40})"
STREET = re.compile(
    r"[^\W\d_][^\d|•·@]{2,50}\s\d{1,4}(?:\s?[a-zA-Z](?:\s\d{1,3})?)?(?:\s?[-/]\s?\d{1,4}\s?[a-zA-Z]?)?,?"
    r"|\d{1,5}(?:\s?bis)?,?\s[^\W\d_][^\d|•·@]{3,50}"
)
# A street at the end of the text before the postal code on the same line.
STREET_BEFORE = re.compile(
    r"(?:[^\W\d_][^\d|•·@:,]{2,50}\s\d{1,4}(?:\s?[a-zA-Z](?:\s\d{1,3})?)?(?:\s?[-/]\s?\d{1,4})?"
    # Via Garibaldi, 22. Avda. de la Paz, 45, bajo: the number behind a comma, perhaps the floor behind another.
    r"|[^\W\d_][^\d|•·@:,]{2,50},\s(?:n[.º°]{0,2}\s?)?\d{1,4}\s?[a-zA-Z]?"
    r"(?:,\s(?:bajos?|local|piso|planta|puerta|esc|scala|int|piano|loja|andar|sala|apto?|\d{1,2}\s?[ºª°])\b[^|•·@:]{0,20})?"
    r"|(?<![\w.])(?!\d{1,5},\s[a-zà-ÿ]{1,20}$)\d{1,5},?\s[^\W\d_][^\d|•·@:]{3,50})$"
)
# IL 62701. The city before it is searched afterwards.
STATE_AND_CODE = re.compile(r"(?P<state>[A-Z]{2})\.?,?\s(?P<code>\d{5}(?:-\d{4})?)(?![\w-])")
CITY_BEFORE_STATE = re.compile(r"(?:^|[,|•·]\s?|\s{2})(?P<city>[A-Z][A-Za-z.' -]{1,30}),?\s$")
AMERICAN_STREET = re.compile(r"(?<![\w.#-])\d{1,6}[A-Z]?\s(?=[\dA-Z])[^|•·@:;]{3,60}$")
WITHIN_LINE = re.compile(r"\s[-–—]\s")
CODE_AND_CITY = re.compile(rf"(?<![\w-]){_CODE},?\s{_CITY}")


def find_postal_addresses(document: Document, things: list[Thing]) -> list[PostalAddress]:
    """Return the addresses of the page without duplicates."""
    found: dict[str, PostalAddress] = {}
    for source in (_structured(things), _elements(document), _lines(document), _american(document)):
        for address in source:
            key = "".join(character for character in address.text.casefold() if character.isalnum())
            if key and not any(key in known or known in key for known in found):
                found[key] = address
            if len(found) >= MAX_ADDRESSES:
                return list(found.values())
    return list(found.values())


def _structured(things: list[Thing]) -> Iterator[PostalAddress]:
    for thing in things:
        street, code, city, country = (
            next(iter(property_texts(thing.get(key))), "")
            for key in ("streetAddress", "postalCode", "addressLocality", "addressCountry")
        )
        if street and (code or city):
            whole = ", ".join(part for part in (street, f"{code} {city}".strip(), country) if part)
            yield PostalAddress(whole, "structured data", snippet(whole), 0.9, street, code, city, country)
        elif whole := next((text for text in property_texts(thing.get("address")) if DIGIT.search(text)), ""):
            yield PostalAddress(whole, "structured data", snippet(whole), 0.7)


def _elements(document: Document) -> Iterator[PostalAddress]:
    """Yield the text of each address element, without phone numbers and email addresses."""
    lines: dict[int, list[str]] = {}
    for block in document.blocks:
        if "address" not in block.zones or "@" in block.text or PHONE.search(block.text):
            continue
        outer = next((node.index for node in document.with_ancestors(block.node) if node.tag == "address"), -1)
        if outer >= 0 and len(lines.setdefault(outer, [])) < 8:
            lines[outer].append(block.text)
    for parts in lines.values():
        whole = ", ".join(part.strip(" ,") for part in parts)
        if 10 <= len(whole) <= 300 and DIGIT.search(whole):
            yield PostalAddress(whole, "address element", snippet(whole), 0.8)


def _lines(document: Document) -> Iterator[PostalAddress]:
    """Yield lines with street and postal code, or a street line and the next one that begins with the code."""
    for block in document.digit_blocks:
        text = block.text
        reach = LONG_FOOTER if "footer" in block.zones else LONG_LINE
        digits = POSTAL_CODE.search(text) if len(text) <= reach else None
        place = CODE_AND_CITY.search(text, max(0, digits.start() - COUNTRY_PREFIX)) if digits is not None else None
        if place is None:
            continue
        if place.start():
            before = text[max(0, place.start() - 70) : place.start()].rstrip(" ,–|-")
            match = STREET_BEFORE.search(before)
            street = WITHIN_LINE.split(match[0])[-1].strip(" ,") if match else ""
        else:
            before = document.blocks[block.index - 1].text if block.index else ""
            street = before if STREET.fullmatch(before[:120]) else ""
        if street and not is_authority(document, block):
            code, city = place["code"], WITHIN_LINE.split(place["city"])[0].strip(" ,")
            whole = f"{street}, {code} {city}"
            yield PostalAddress(whole, "text", snippet(text, place.start()), 0.7, street, code, city)


def _american(document: Document) -> Iterator[PostalAddress]:
    """Yield 1204 Main St, Springfield, IL 62701, on one line or with the street on the line before."""
    for block in document.digit_blocks:
        text = block.text
        match = STATE_AND_CODE.search(text) if len(text) <= LONG_LINE else None
        if match is None or f" {match['state']} " not in STATES:
            continue
        place = CITY_BEFORE_STATE.search(text[: match.start()])
        if place is None:
            continue
        before = (
            text[: place.start()] if place.start() else document.blocks[block.index - 1].text if block.index else ""
        )
        street = AMERICAN_STREET.search(before.rstrip(" ,|•·"))
        if street is not None and not is_authority(document, block):
            city, code = place["city"].strip(" ,"), match["code"]
            whole = f"{street[0]}, {city}, {match['state']} {code}"
            yield PostalAddress(whole, "text", snippet(text, place.start()), 0.7, street[0], code, city, "US")
