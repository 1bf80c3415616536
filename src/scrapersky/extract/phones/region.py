"""Which country a page's numbers are dialled in: as given, else as its address, language and numbers suggest."""

from collections import Counter

import phonenumbers

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, texts
from scrapersky.extract.phones.parse import parse_phone

_TLDS: dict[str, str] = word_lists.table("phones")["tlds"]
_LANGUAGES: dict[str, str] = word_lists.table("phones")["languages"]


def is_region(region: str) -> bool:
    """Whether libphonenumber knows the two letters."""
    return region in phonenumbers.SUPPORTED_REGIONS


def infer(document: Document, things: list[Thing], host: str, emails: list[str]) -> str:
    """The most trusted hint: structured address, host, +numbers, language with country, mail, language."""
    for thing in things:
        for country in texts(thing.get("addressCountry")):
            if is_region(country.upper()):
                return country.upper()
    if by_host := of_ending(host):
        return by_host
    if numbers := _of_numbers(document):
        return numbers
    by_language, exact = _of_language(document.language)
    if exact:
        return by_language
    for email in emails:
        if by_mail := of_ending(email.rpartition("@")[2]):
            return by_mail
    # Nobody else writes (415) 324-0187; and en-US is what templates say, so it comes last.
    return "US" if regexes.NORTH_AMERICAN.search(_numbered_lines(document)) else by_language


def _numbered_lines(document: Document) -> str:
    """The text without its lines of words; they stay empty, so that no two numbers become neighbours."""
    lines = [""] * len(document.blocks)
    for block in document.numbered:
        lines[block.index] = block.text
    return "\n".join(lines)


def of_ending(host: str) -> str:
    """The region of a host's ending, when it belongs to one."""
    ending = host.rpartition(".")[2].lower()
    region = _TLDS.get(ending, ending.upper())
    return region if is_region(region) else ""


def _of_language(language: str) -> tuple[str, bool]:
    """The region of de-AT (exact), or the home of de (a guess)."""
    code, _, country = language.replace("_", "-").partition("-")
    if is_region(country.upper()):
        return country.upper(), language.lower() != "en-us"
    return _LANGUAGES.get(code.lower(), ""), False


def _of_numbers(document: Document) -> str:
    """The country most of the page's numbers with a + belong to."""
    hrefs = "\n".join([link.href for link in document.dialling])
    counted: Counter[str] = Counter()
    for match in regexes.INTERNATIONAL.finditer(document.text + "\n" + hrefs):
        reading = parse_phone(match[0], "")
        if reading is not None and reading.region:
            counted[reading.region] += 1
    return counted.most_common(1)[0][0] if counted else ""
