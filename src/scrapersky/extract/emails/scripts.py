"""Email addresses that a script builds: sums and joins of strings, character codes, reversed strings, base64."""

import re
from collections.abc import Iterator
from itertools import islice

from scrapersky.extract.emails.deobfuscate import EMAIL, decode_base64, is_email_address

MAX_SOURCE = 60_000
MAX_TERMS = 100
MAX_SIGNS = 40
WINDOW = 600  # characters before and after a sign

_STRING = r"(?:\"[^\"\\\n]{0,120}\"|'[^'\\\n]{0,120}')"
_NAME = r"[A-Za-z_$][\w$]{0,40}"
ASSIGNMENT = re.compile(rf"\b({_NAME})\s{{0,4}}=\s{{0,4}}({_STRING}(?:\s{{0,4}}\+\s{{0,4}}{_STRING}){{0,12}})")
SUM = re.compile(rf"(?:{_STRING}|\b{_NAME})(?:\s{{0,4}}\+\s{{0,4}}(?:{_STRING}|{_NAME})){{1,16}}")
TERM = re.compile(rf"{_STRING}|{_NAME}")
JOIN = re.compile(
    rf"\[\s{{0,4}}({_STRING}(?:\s{{0,4}},\s{{0,4}}{_STRING}){{1,16}})\s{{0,4}}\]"
    rf"\s{{0,4}}(\.reverse\(\))?\s{{0,4}}\.join\(\s{{0,4}}({_STRING})?\s{{0,4}}\)"
)
CHARACTER_CODES = re.compile(r"fromCharCode\(\s{0,4}(\d{1,5}(?:\s{0,4},\s{0,4}\d{1,5}){4,120})\s{0,4}\)")
NUMBER = re.compile(r"\d{1,5}")
REVERSED = re.compile(rf"({_STRING})\s{{0,4}}\.split\(\s{{0,2}}(?:''|\"\")\s{{0,2}}\)\s{{0,4}}\.reverse\(\)")
ATOB = re.compile(rf"\batob\(\s{{0,4}}({_STRING})")
SIGN = re.compile(r"@|\\x40|\\u0040|&#64;|fromCharCode|atob\(|\.reverse\(")
ESCAPED_AT = re.compile(r"(?<![\w.+\\-])(?:[\w.+-]|\\[xu]){1,400}\\(?:x40|u0040)(?:[\w.-]|\\[xu]){3,400}", re.I)
ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})")


def find_script_emails(source: str) -> Iterator[str]:
    """Yield the addresses that the script builds; one that is written plainly is program data and left out."""
    for window in _windows(source[:MAX_SOURCE]):
        for match in _some(ESCAPED_AT, window):  # an @ is escaped only to hide it
            yield from _addresses(ESCAPE.sub(_character, match[0]))
        yield from _built_addresses(ESCAPE.sub(_character, window))


def _windows(source: str) -> Iterator[str]:
    """Yield the surroundings of each sign of an address; the rest of the program is not read."""
    end = 0
    for match in islice(SIGN.finditer(source), MAX_SIGNS):
        if match.start() < end:
            continue
        start, end = max(0, match.start() - WINDOW), match.start() + WINDOW
        yield source[start:end]


def _built_addresses(source: str) -> Iterator[str]:
    for text in _built_strings(source):
        yield from _addresses(text)
    for match in _some(REVERSED, source):
        plain = match[1][-2:0:-1].removeprefix("mailto:")
        if is_email_address(plain):
            yield plain
    for match in _some(ATOB, source):
        if plain := decode_base64(match[1][1:-1]):
            yield plain


def _built_strings(source: str) -> Iterator[str]:
    values = {match[1]: _add_strings(match[2], {}) for match in _some(ASSIGNMENT, source)}
    for match in _some(SUM, source):
        yield _add_strings(match[0], values)
    for match in _some(JOIN, source):
        pieces = [term[1:-1] for term in TERM.findall(match[1])]
        yield ((match[3] or '","')[1:-1]).join(reversed(pieces) if match[2] else pieces)
    for match in _some(CHARACTER_CODES, source):
        yield "".join(chr(int(number)) for number in NUMBER.findall(match[1]))


def _add_strings(expression: str, values: dict[str, str]) -> str:
    """Join the strings of a sum; an unknown name becomes a space, which no address contains."""
    terms = TERM.findall(expression)
    return "".join(term[1:-1] if term[0] in "\"'" else values.get(term, " ") for term in terms)


def _addresses(text: str) -> Iterator[str]:
    return (address for address in EMAIL.findall(text) if is_email_address(address))


def _some(pattern: re.Pattern[str], source: str) -> Iterator[re.Match[str]]:
    return islice(pattern.finditer(source), MAX_TERMS)


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16))
