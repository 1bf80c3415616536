"""Addresses that a script puts together: sums and joins of strings, character codes, reversed strings."""

import re
from collections.abc import Iterator

from scrapersky.extract import regexes
from scrapersky.extract.emails.deobfuscate import from_base64, is_address

MAX_SOURCE = 60_000
MAX_TERMS = 100
MAX_SIGNS = 40
REACH = 600


def addresses(source: str) -> Iterator[str]:
    """Addresses that the script builds. One that stands in it as it is, is data of a program and not taken."""
    for window in _windows(source[:MAX_SOURCE]):
        for match in _some(regexes.JS_ESCAPED_AT, window):  # nobody escapes an @ but to hide it
            plain = regexes.JS_ESCAPE.sub(_character, match[0])
            yield from (address for address in regexes.EMAIL.findall(plain) if is_address(address))
        yield from _in_window(regexes.JS_ESCAPE.sub(_character, window))


def _windows(source: str) -> Iterator[str]:
    """The neighbourhoods of everything that an address can be built from; the rest of a program is not read."""
    end = 0
    for count, match in enumerate(regexes.JS_SIGN.finditer(source)):
        if count >= MAX_SIGNS:
            return
        if match.start() < end:
            continue
        start, end = max(0, match.start() - REACH), match.start() + REACH
        yield source[start:end]


def _in_window(source: str) -> Iterator[str]:
    for text in _built(source):
        yield from (match[0] for match in regexes.EMAIL.finditer(text) if is_address(match[0]))
    for match in _some(regexes.JS_REVERSED, source):
        plain = match[1][-2:0:-1]
        if is_address(plain.removeprefix("mailto:")):
            yield plain.removeprefix("mailto:")
    for match in _some(regexes.JS_ATOB, source):
        if plain := from_base64(match[1][1:-1]):
            yield plain


def _built(source: str) -> Iterator[str]:
    values = {match[1]: _sum(match[2], {}) for match in _some(regexes.JS_ASSIGNMENT, source)}
    for match in _some(regexes.JS_SUM, source):
        yield _sum(match[0], values)
    for match in _some(regexes.JS_JOIN, source):
        pieces = [term[1:-1] for term in regexes.JS_TERM.findall(match[1])]
        yield ((match[3] or '","')[1:-1]).join(reversed(pieces) if match[2] else pieces)
    for match in _some(regexes.JS_CODES, source):
        codes = (int(number) for number in regexes.NUMBER.findall(match[1]))
        yield "".join(chr(code) for code in codes)


def _sum(expression: str, values: dict[str, str]) -> str:
    """The strings of a sum one after the other; an unknown name is a gap that no address can span."""
    terms = regexes.JS_TERM.findall(expression)
    return "".join(term[1:-1] if term[0] in "\"'" else values.get(term, " ") for term in terms)


def _some(pattern: re.Pattern[str], source: str) -> Iterator[re.Match[str]]:
    for count, match in enumerate(pattern.finditer(source)):
        if count >= MAX_TERMS:
            return
        yield match


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16))
