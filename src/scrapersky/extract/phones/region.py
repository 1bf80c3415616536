"""The country whose phone numbers a page writes, inferred from its addresses, host, numbers and language."""

import re
from collections import Counter

import phonenumbers

from scrapersky.extract.document.context import is_authority
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, property_texts
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.word_lists import load_table

_TLDS: dict[str, str] = load_table("phones")["tlds"]
_LANGUAGES: dict[str, str] = load_table("phones")["languages"]
# An area code begins with 2 to 9: 081-883-4402 is Thai.
NORTH_AMERICAN = re.compile(r"(?:(?<![\d(])|\()[2-9]\d{2}(?:\)\s?|[-.])[2-9]\d{2}[-.\s]\d{4}(?!\d)")
INTERNATIONAL = re.compile(r"\+\d(?:[\s().\-–/]{0,2}\d){6,15}")


def is_region(region: str) -> bool:
    """Return whether libphonenumber knows the two-letter region."""
    return region in phonenumbers.SUPPORTED_REGIONS


def infer_region(document: Document, things: list[Thing], host: str, emails: list[str]) -> str:
    """Return the region by the first of: structured address, host, +numbers, language with country, mail, language."""
    for thing in things:
        for country in property_texts(thing.get("addressCountry")):
            if is_region(country.upper()):
                return country.upper()
    if by_host := _region_of_host(host):
        return by_host
    if by_numbers := _region_of_numbers(document):
        return by_numbers
    by_language, is_exact = _region_of_language(document.language)
    if is_exact:
        return by_language
    for email in emails:
        if by_mail := _region_of_host(email.rpartition("@")[2]):
            return by_mail
    # Only North America writes (415) 324-0187; before the language, since many templates declare en-US.
    return "US" if NORTH_AMERICAN.search(_lines_with_digits(document)) else by_language


def _lines_with_digits(document: Document) -> str:
    """Return the text with the other lines emptied, so that two numbers do not become neighbours."""
    lines = [""] * len(document.blocks)
    for block in document.digit_blocks:
        lines[block.index] = block.text
    return "\n".join(lines)


def _region_of_host(host: str) -> str:
    ending = host.rpartition(".")[2].lower()
    region = _TLDS.get(ending, ending.upper())
    return region if is_region(region) else ""


def _region_of_language(language: str) -> tuple[str, bool]:
    """Return the region of de-AT (exact), or the main country of de (a guess)."""
    code, _, country = language.replace("_", "-").partition("-")
    if is_region(country.upper()):
        return country.upper(), language.lower() != "en-us"
    return _LANGUAGES.get(code.lower(), ""), False


def _region_of_numbers(document: Document) -> str:
    """Return the region of most numbers with a +, without those of hosts and authorities."""
    lines = [link.href for link in document.phone_links]
    lines += [one.text for one in document.phone_blocks if "+" in one.text and not is_authority(document, one)]
    counted: Counter[str] = Counter()
    for match in INTERNATIONAL.finditer("\n".join(lines)):
        phone = parse_phone(match[0], "")
        if phone is not None and phone.region:
            counted[phone.region] += 1
    return counted.most_common(1)[0][0] if counted else ""
