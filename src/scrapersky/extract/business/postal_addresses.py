"""Postal addresses: from structured data, from address elements, from lines with a postal code."""

from collections.abc import Iterator

from scrapersky.extract import regexes
from scrapersky.extract.document.context import is_authority, snippet
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, texts
from scrapersky.extract.results import PostalAddress

MAX_ADDRESSES = 30
LONG_LINE = 200
LONG_FOOTER = 400  # everything on one line
STATES = (
    " AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR"
    " PA PR RI SC SD TN TX UT VT VA WA WV WI WY "
)
COUNTRY = 3  # letters before a postal code, as in CH-8000


def find(document: Document, things: list[Thing]) -> list[PostalAddress]:
    """The addresses of the page, the same one once."""
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
            next(iter(texts(thing.get(key))), "")
            for key in ("streetAddress", "postalCode", "addressLocality", "addressCountry")
        )
        if street and (code or city):
            whole = ", ".join(part for part in (street, f"{code} {city}".strip(), country) if part)
            yield PostalAddress(whole, "structured data", snippet(whole), 0.9, street, code, city, country)
        elif whole := next((text for text in texts(thing.get("address")) if regexes.DIGIT.search(text)), ""):
            yield PostalAddress(whole, "structured data", snippet(whole), 0.7)


def _elements(document: Document) -> Iterator[PostalAddress]:
    """The text of each address element, without its numbers and addresses of other kinds."""
    lines: dict[int, list[str]] = {}
    for block in document.blocks:
        if "address" not in block.zones or "@" in block.text or regexes.PHONE.search(block.text):
            continue
        outer = next((node.index for node in document.around(block.node) if node.tag == "address"), -1)
        if outer >= 0 and len(lines.setdefault(outer, [])) < 8:
            lines[outer].append(block.text)
    for parts in lines.values():
        whole = ", ".join(part.strip(" ,") for part in parts)
        if 10 <= len(whole) <= 300 and regexes.DIGIT.search(whole):
            yield PostalAddress(whole, "address element", snippet(whole), 0.8)


def _lines(document: Document) -> Iterator[PostalAddress]:
    """A line with street and postal code, or a street line followed by one that begins with the code."""
    for block in document.numbered:
        text = block.text
        reach = LONG_FOOTER if "footer" in block.zones else LONG_LINE
        digits = regexes.POSTAL_CODE.search(text) if len(text) <= reach else None
        place = regexes.CODE_AND_CITY.search(text, max(0, digits.start() - COUNTRY)) if digits is not None else None
        if place is None:
            continue
        if place.start():
            before = text[max(0, place.start() - 70) : place.start()].rstrip(" ,–|-")
            match = regexes.STREET_BEFORE.search(before)
            street = regexes.WITHIN_LINE.split(match[0])[-1].strip(" ,") if match else ""
        else:
            before = document.blocks[block.index - 1].text if block.index else ""
            street = before if regexes.STREET.fullmatch(before[:120]) else ""
        if street and not is_authority(document, block):
            code, city = place["code"], regexes.WITHIN_LINE.split(place["city"])[0].strip(" ,")
            whole = f"{street}, {code} {city}"
            yield PostalAddress(whole, "text", snippet(text, place.start()), 0.7, street, code, city)


def _american(document: Document) -> Iterator[PostalAddress]:
    """1204 Main St, Springfield, IL 62701, on one line or with the street on the line before."""
    for block in document.numbered:
        text = block.text
        match = regexes.STATE_AND_CODE.search(text) if len(text) <= LONG_LINE else None
        if match is None or f" {match['state']} " not in STATES:
            continue
        place = regexes.CITY_BEFORE_STATE.search(text[: match.start()])
        if place is None:
            continue
        before = (
            text[: place.start()] if place.start() else document.blocks[block.index - 1].text if block.index else ""
        )
        street = regexes.AMERICAN_STREET.search(before.rstrip(" ,|•·"))
        if street is not None and not is_authority(document, block):
            city, code = place["city"].strip(" ,"), match["code"]
            whole = f"{street[0]}, {city}, {match['state']} {code}"
            yield PostalAddress(whole, "text", snippet(text, place.start()), 0.7, street[0], code, city, "US")
