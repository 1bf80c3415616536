"""Texts as phone numbers: which number a text is, and how to split several numbers on one line."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from turbohtml.clean import PhoneNumber

# The character before is checked after the first one, so that the search skips all characters that begin no number.
PHONE = re.compile(
    r"(?:[+(\d](?<![\w@#=&/.,:;-].)|\+(?<=[^\W\d_][:.]\+)|0(?=0[1-9])(?<=[^\W\d_]:0)|\d(?<=[\u0590-\u9fff\uac00-\ud7a3]:.))(?:(?<=\d)|(?<=\+)\s?\d|(?<=\()\s?\+?\s?\d)"
    r"(?:[\s().\-–‑/·•|\u00a0]{0,4}\d){5,17}(?![\w@]|[.,:]\d|\s?[€%])"
)
NOT_DIGIT = re.compile(r"\D")
SLASH = re.compile(r"\s?[/|•·]\s?")
_SEVERAL = re.compile(r"\s?[/|•·]\s?|\s[-–]\s|\s{2,4}")
_ONE_OF_SEVERAL = re.compile(r"(?:\+\s?|\()?\d(?:[\s().\-–]{0,2}\d){5,17}")
_MORE_DIGITS = re.compile(r"[-.\s]\d")
_NEXT_NUMBER = re.compile(r"\s(?=\+|0\d)")
_AREA_CODE = re.compile(r"\(\s?\d{1,5}\s?\)\s?")
_WIDE_DIGIT = re.compile(r"[０-９]")
# Japanese pages write numbers in full-width characters; one character replaces one, so that positions stay valid.
_WIDE = str.maketrans("０１２３４５６７８９＋（）－ー．／", "0123456789+()--./")


class ParsedPhone(NamedTuple):
    """A number that can exist: E.164 and the region of its country."""

    number: str
    region: str


@lru_cache(4096)
def parse_phone(text: str, region: str) -> ParsedPhone | None:
    """Parse the number that a text is; None when no such number can exist."""
    text = text.strip()
    if text.startswith("00") and not text.startswith("000"):
        text = "+" + text[2:]
    if region == "LT" and text.lstrip("(")[:1] == "8":
        text = text.replace("8", "0", 1)  # the trunk prefix until 2024
    try:
        # libphonenumber's tables in C; a test compares it with the phonenumbers package, which takes 13 times as long.
        parsed = PhoneNumber.parse(text, regions=(region,) if region else ())
    except ValueError:
        return None
    return ParsedPhone(parsed.e164, parsed.region or "") if parsed.e164 else None


def find_numbers(text: str, region: str) -> Iterator[tuple[str, int]]:
    """Yield texts that look like a number, with their positions; adjacent numbers are yielded one by one."""
    if not text.isascii() and _WIDE_DIGIT.search(text):
        text = text.translate(_WIDE)
    match = PHONE.search(text)
    while match is not None:
        written, end = match[0], match.end()
        breaks = list(_NEXT_NUMBER.finditer(written))
        if not breaks and _MORE_DIGITS.match(text, end):  # too long for one: the match ends inside the second
            breaks = list(SLASH.finditer(written))
        if breaks and parse_phone(written, region) is None:
            for following in breaks:
                first = written[: following.start()].rstrip(" -–/|•·")
                if parse_phone(first, region) is not None:
                    written, end = first, match.start() + following.end()
                    break
        yield written, match.start()
        match = PHONE.search(text, end)


def split_numbers(written: str, at: int, region: str = "") -> Iterator[tuple[str, int]]:
    """Yield the several numbers of a text with their positions; nothing if it cannot be several."""
    if _SEVERAL.search(written) is None:
        return
    first, *others = SLASH.split(written)
    # 0253 - 255 5518 / 255 5519: the dash is inside a number, the slash between two.
    if others and parse_phone(first, region) is not None:
        place = 0
        for piece in (first, *others):
            place = written.index(piece, place)
            yield piece, at + place
            place += len(piece)
        return
    for match in _ONE_OF_SEVERAL.finditer(written):
        yield match[0], at + match.start()


def parse_with_area_code(first: str, piece: str, region: str) -> ParsedPhone | None:
    """Parse a number that leaves out the area code of the first number beside it."""
    whole, end = NOT_DIGIT.sub("", first), NOT_DIGIT.sub("", piece)
    if end.startswith("0") or "+" in piece or "(" in piece or len(end) < 5:
        return None
    if area := _AREA_CODE.match(first):  # (11) 3846-7290 / 98471-2936: one may be longer than the other
        return parse_phone(area[0] + piece, region)
    if not first.startswith(("0", "+")) or len(end) > len(whole) - 2:
        return None
    country = "+" if first.startswith("+") else ""
    return parse_phone(country + whole[: -len(end)] + end, region)
