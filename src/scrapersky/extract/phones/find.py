"""The phone numbers of a page in E.164, from text, links and structured data, with the rejected ones."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from scrapersky.extract.document.context import is_authority, is_credit, snippet
from scrapersky.extract.document.model import PHONE_LINK, Block, Document, Link
from scrapersky.extract.document.structured_data import Thing, property_texts, thing_types
from scrapersky.extract.emails.data_protection_officers import EXTERNAL_OFFICER
from scrapersky.extract.phones.labels import is_likely_phone, is_of_others, label_before
from scrapersky.extract.phones.parse import (
    NOT_DIGIT,
    PHONE,
    SLASH,
    ParsedPhone,
    find_numbers,
    parse_phone,
    parse_with_area_code,
    split_numbers,
)
from scrapersky.extract.results import Phone, PhoneKind, Rejected

MAX_CANDIDATES = 400
DOUBTFUL = 0.4
MIN_TWO_NUMBERS = 12
# Dates, times, years, opening hours, coordinates, versions, postal codes with a house number.
NO_PHONE = re.compile(
    r"\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:19|20)?\d{2}(?:\s?[-–]\s?\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:19|20)?\d{2})?"
    r"|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2}(?:\s\d{0,6})?"
    r"|(?:19|20)\d{2}\s?[-–/]\s?(?:19|20)\d{2}(?:\s?[-–/]\s?(?:19|20)\d{2})?"
    r"|\d{1,2}[.:]\d{2}\s?[-–]\s?\d{1,2}[.:]\d{2}(?:[\s/|]{1,3}\d{1,2}[.:]\d{2}\s?[-–]\s?\d{1,2}[.:]\d{2})?"
    r"|\d{1,2}\.\s?\d{1,2}\.\s?[-–]\s?\d{1,2}\.\s?\d{1,2}\.?\s?(?:\d{4})?"
    r"|(?!0\d)\d{1,3}\.\d{4,12}"
    r"|\d{1,3}(?:[.\s]000){1,4}"
    r"|(?!0\d)\d{1,3}(?:\.\d{1,3}){3}"
)
FOUR_GROUPS = re.compile(r"\d{2,3}(?:\.\d{2,3}){3}")  # 612.59.76.23 behind a label: no address of a computer
# Another practice during the holidays: Vertretung: Praxis Dr. Roe, Tel. …
STAND_IN = re.compile(
    r"(?:\bvertretung\b|\bvertritt\b|vertreten (?:uns|mich|wird)|\bz[aá]stup\w{0,8}|zast[eę]puj\w{0,4}"
    r"|helyettes[ií]t\w{0,6}|remplac(?:ée?|ement)\b|substituído|sostituit[oa])"
    r"[^.!?]{0,60}?\b(?:praxis|d(?:re?|ott)\.|mudr|mvdr|lek\.|docteur|m[eé]decin|arzt|ärzt|ordin)",
    re.I,
)
MAX_STAND_IN = 140
WHATSAPP = re.compile(r"whatsapp:|https?://(?:www\.)?(?:wa\.me|[a-z.]{0,5}whatsapp\.com)", re.I)
DIALLED = re.compile(r"\+?\s?\(?\d(?:[\s().\-–/]{0,3}\d){4,19}")


class PhoneCandidate(NamedTuple):
    """A number as found, before it is accepted or rejected."""

    number: str
    region: str
    kind: PhoneKind
    how: str
    text: str  # the text around it
    at: int
    confidence: float
    block: Block | None = None
    reason: str = ""


def find_phones(
    document: Document, things: list[Thing], region: str = "", excluded: frozenset[int] = frozenset()
) -> tuple[list[Phone], list[Rejected]]:
    """Return the numbers of the business, and the rejected ones; numbers in `excluded` blocks are rejected."""
    found: dict[str, Phone] = {}
    rejected: dict[str, Rejected] = {}
    for candidate in islice(_candidates(document, things, region), MAX_CANDIDATES):
        number = candidate.number
        if number in found:
            continue
        where = snippet(candidate.text, candidate.at)
        reason = candidate.reason or _rejection_reason(document, candidate, found, region)
        if not reason and candidate.block is not None and candidate.block.index in excluded:
            reason = EXTERNAL_OFFICER
        if reason:
            rejected.setdefault(number, Rejected("phone", number, reason, where))
        else:
            confidence = DOUBTFUL if _is_sequence(number) else candidate.confidence
            found[number] = Phone(number, candidate.kind, candidate.how, where, confidence, candidate.region)
    return list(found.values()), [one for number, one in rejected.items() if number not in found]


def _rejection_reason(document: Document, candidate: PhoneCandidate, found: dict[str, Phone], region: str) -> str:
    if _is_placeholder(candidate.number) or (candidate.how == "text" and _is_sequence(candidate.number)):
        return "placeholder"
    if candidate.block is not None and is_credit(document, candidate.block):
        return "maker of the page or theme"
    if candidate.block is not None and is_authority(document, candidate.block):
        return "authority or host named in an imprint"
    if candidate.how == "text" and is_of_others(candidate.text, candidate.at):
        return "of an authority, a chamber or a helpline"
    if STAND_IN.search(candidate.text[max(0, candidate.at - MAX_STAND_IN) : candidate.at]) is not None:
        return "of a stand-in"
    # Structured data copied from another business usually has numbers of another country.
    foreign = candidate.how == "structured data" and region and candidate.region != region
    if foreign and any(phone.region == region for phone in found.values()):
        return "structured data of another country"
    return ""


def _is_placeholder(number: str) -> bool:
    """Return whether the number is never assigned: 12345678, seven equal digits, 555-01xx."""
    digits = number.lstrip("+")
    if len(set(digits[-7:])) == 1 or "12345678" in digits or "98765432" in digits:
        return True
    return len(digits) == 11 and digits.startswith("1") and digits[4:9] == "55501"


def _is_sequence(number: str) -> bool:
    """Return whether the number has a sequence, as in templates; in a link or structured data it may be real."""
    return "1234567" in number or number.endswith(("123456", "654321"))


def _candidates(document: Document, things: list[Thing], region: str) -> Iterator[PhoneCandidate]:
    links_by_block: dict[int, list[Link]] = {}
    for link in document.phone_links:
        links_by_block.setdefault(link.block, []).append(link)
    for block in document.phone_blocks:
        yield from _in_block(document, block, region, links_by_block.get(block.index, ()))
    for links in links_by_block.values():
        for link in links:
            yield from _in_link(document, link, region)
    for thing in things:
        yield from _in_thing(thing, region)


def _in_block(document: Document, block: Block, region: str, links: Sequence[Link]) -> Iterator[PhoneCandidate]:
    text = block.text
    earlier, end = "", 0
    for written, start in find_numbers(text, region):
        beside = earlier if end and SLASH.fullmatch(text, end, start) else ""
        earlier, end = written, start + len(written)
        if NO_PHONE.fullmatch(written.lstrip("(")) and not (
            FOUR_GROUPS.fullmatch(written) and label_before(document, block, start) == "phone"
        ):
            continue
        pieces = _split_at_elements(block, written, start, region) or ((written, start),)
        numbers = (one for text_, place in pieces for one in _parse_numbers(text_, place, region, links, beside))
        for phone, piece, at in numbers:
            label = label_before(document, block, at)
            is_linked = any(link.text and piece[-6:] in link.text for link in links)
            if not is_linked and not is_likely_phone(text, at, piece, label):
                continue
            kind: PhoneKind = "fax" if label == "fax" else "phone"
            confidence = 0.95 if label == "phone" or is_linked else 0.85 if piece.startswith(("+", "00")) else 0.7
            reason = "a register, tax, bank or other number" if label == "other" else ""
            yield PhoneCandidate(phone.number, phone.region, kind, "text", text, at, confidence, block, reason)


def _split_at_elements(block: Block, written: str, start: int, region: str) -> list[tuple[str, int]]:
    """Return the numbers that two elements hold, where their texts look like one: <b>04242 55719</b> <b>0676 …</b>."""
    if len(block.parts) < 2 or len(written) < MIN_TWO_NUMBERS:
        return []
    pieces, place, end = [], 0, start + len(written)
    for part in block.parts:
        place = block.text.find(part, place)
        if place < 0:
            return []
        if start < place + len(part) and place < end and any(map(str.isdigit, part)):
            number = PHONE.search(part)
            if number is None or parse_phone(number[0], region) is None:
                return []
            pieces.append((number[0], place + number.start()))
        place += len(part)
    return pieces if len(pieces) > 1 else []


def _parse_numbers(
    written: str, at: int, region: str, links: Sequence[Link], beside: str
) -> Iterator[tuple[ParsedPhone, str, int]]:
    """Yield the number, or several where the whole is none: 0175/234234 is one number.

    A number behind another and a slash (`beside`) may leave out its area code.
    """
    whole = (parse_with_area_code(beside, written, region) if beside else None) or _parse_or_link(
        written, region, links
    )
    if whole is not None:
        yield whole, written, at
        return
    first = ""
    for piece, place in split_numbers(written, at, region):
        phone = parse_with_area_code(first, piece, region) or _parse_or_link(piece, region, links)
        if phone is not None:
            first = first or piece
            yield phone, piece, place


def _parse_or_link(piece: str, region: str, links: Sequence[Link]) -> ParsedPhone | None:
    """Parse the number with the region; else return the number of a link beside it that ends with its digits."""
    phone = parse_phone(piece, region)
    if phone is not None:
        return phone
    digits = NOT_DIGIT.sub("", piece).lstrip("0")
    for link in links:
        dialled = parse_phone_link(link.href, region)
        if dialled is not None and len(digits) >= 6 and dialled.number.endswith(digits):
            return dialled
    return None


def _in_link(document: Document, link: Link, region: str) -> Iterator[PhoneCandidate]:
    phone = parse_phone_link(link.href, region)
    if phone is None:
        return
    is_whatsapp = WHATSAPP.match(link.href) is not None
    kind: PhoneKind = "whatsapp" if is_whatsapp else "phone"
    block = document.blocks[link.block] if link.block < len(document.blocks) else None
    if block is not None and label_before(document, block, block.text.find(link.text)) == "fax":
        kind = "fax"
    shown = _numbers_shown(link.text, region)
    reason = "the visible number is another one" if shown and phone.number not in shown else ""
    how, where = "wa.me" if is_whatsapp else "tel", link.text or link.label or link.href
    yield PhoneCandidate(phone.number, phone.region, kind, how, where, 0, 0.9, block, reason)


@lru_cache(4096)  # the pages of a site share header and footer
def parse_phone_link(href: str, region: str) -> ParsedPhone | None:
    """Parse the number that a link dials."""
    match = PHONE_LINK.match(href)
    if match is None:
        return None
    dialled = DIALLED.search(unquote(href[match.end() :])[:60])
    if dialled is None:
        return None
    digits = dialled[0]
    if WHATSAPP.match(href):
        return parse_phone("+" + digits.lstrip("+0"), "")
    return parse_phone(digits, region) or (parse_phone("+" + digits, "") if len(digits) > 10 else None)


def _numbers_shown(text: str, region: str) -> set[str]:
    """Return the numbers in the text of a link."""
    written = [match[0] for match in PHONE.finditer(text)]
    written += [piece for one in written for piece, _ in split_numbers(one, 0)]
    return {phone.number for one in written if (phone := parse_phone(one, region)) is not None}


def _in_thing(thing: Thing, region: str) -> Iterator[PhoneCandidate]:
    for key in ("telephone", "faxNumber"):
        for written in property_texts(thing.get(key)):
            phone = parse_phone(written, region)
            if phone is not None:
                name = " ".join([*property_texts(thing.get("name")), written])
                is_fax = key == "faxNumber" or "fax" in " ".join(thing_types(thing))
                kind: PhoneKind = "fax" if is_fax else "phone"
                yield PhoneCandidate(phone.number, phone.region, kind, "structured data", name, 0, 0.85)
