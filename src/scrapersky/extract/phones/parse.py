"""Digits as phone numbers: which one a text stands for, and which several are written side by side."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from turbohtml.clean import PhoneNumber

from scrapersky.extract import regexes


class ParsedPhone(NamedTuple):
    """A number that exists, as libphonenumber reads it."""

    number: str
    region: str


@lru_cache(4096)
def parse_phone(text: str, region: str) -> ParsedPhone | None:
    """The number a text stands for, or nothing when no such number can exist."""
    text = text.strip()
    if text.startswith("00") and not text.startswith("000"):
        text = "+" + text[2:]
    try:
        # libphonenumber's tables in C; a test holds it against the phonenumbers package, which takes 13 times as long.
        parsed = PhoneNumber.parse(text, regions=(region,) if region else ())
    except ValueError:
        return None
    return ParsedPhone(parsed.e164, parsed.region or "") if parsed.e164 else None


def written_in(text: str, region: str) -> Iterator[tuple[str, int]]:
    """What looks like a number, with its place; where the next one begins right behind the first, each for itself."""
    if not text.isascii() and regexes.WIDE_DIGIT.search(text):
        text = text.translate(_WIDE)
    match = regexes.PHONE.search(text)
    while match is not None:
        written, end = match[0], match.end()
        following = regexes.NEXT_NUMBER.search(written)
        if following is None and regexes.GOES_ON.match(text, end):  # too long for one: it was cut within the second
            following = regexes.STROKE.search(written)
        if following is not None and parse_phone(written, region) is None:
            first = written[: following.start()]
            if parse_phone(first, region) is not None:
                written, end = first, match.start() + following.end()
        yield written, match.start()
        match = regexes.PHONE.search(text, end)


def pieces_of(written: str, at: int, region: str = "") -> Iterator[tuple[str, int]]:
    """The several numbers that are written side by side."""
    if regexes.SEVERAL.search(written) is None:
        return
    first, *others = regexes.STROKE.split(written)
    if (
        others and parse_phone(first, region) is not None
    ):  # 0253 - 255 5518 / 255 5519: a dash is within, a stroke between
        place = 0
        for piece in (first, *others):
            place = written.index(piece, place)
            yield piece, at + place
            place += len(piece)
        return
    for match in regexes.ONE_OF_SEVERAL.finditer(written):
        yield match[0], at + match.start()


def with_area(first: str, piece: str, region: str) -> ParsedPhone | None:
    """A number that leaves out the area code which the first one beside it has."""
    whole, end = regexes.NOT_DIGIT.sub("", first), regexes.NOT_DIGIT.sub("", piece)
    if end.startswith("0") or "+" in piece or "(" in piece or len(end) < 5:
        return None
    if area := regexes.AREA.match(first):  # (11) 3846-7290 / 98471-2936: one may be longer than the other
        return parse_phone(area[0] + piece, region)
    if not first.startswith(("0", "+")) or len(end) > len(whole) - 2:
        return None
    country = "+" if first.startswith("+") else ""
    return parse_phone(country + whole[: -len(end)] + end, region)


# Japanese pages write their numbers as wide as their letters; sign for sign, so that places stay what they are.
_WIDE = str.maketrans("０１２３４５６７８９＋（）－ー．／", "0123456789+()--./")
