"""The phone numbers of a page in E.164: from the text, from links, from structured data; fax told apart."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from scrapersky.extract import data_protection_officers, regexes
from scrapersky.extract.document.context import is_authority, is_credit, snippet
from scrapersky.extract.document.model import Block, Document, Link
from scrapersky.extract.document.structured_data import Thing, texts, types
from scrapersky.extract.phones import labels as phone_labels
from scrapersky.extract.phones.parse import ParsedPhone, parse_phone, pieces_of, with_area, written_in
from scrapersky.extract.results import Phone, PhoneKind, Rejected

MAX_CANDIDATES = 400
DOUBTFUL = 0.4


class PhoneCandidate(NamedTuple):
    """A number before it is kept or rejected."""

    number: str
    region: str
    kind: PhoneKind
    how: str
    text: str  # where it stands
    at: int
    confidence: float
    block: Block | None = None
    reason: str = ""


def find(
    document: Document, things: list[Thing], region: str = "", others: frozenset[int] = frozenset()
) -> tuple[list[Phone], list[Rejected]]:
    """The numbers of the business, and those that are not, each with its reason; `others` are blocks of others."""
    found: dict[str, Phone] = {}
    rejected: dict[str, Rejected] = {}
    for candidate, _ in zip(_candidates(document, things, region), range(MAX_CANDIDATES), strict=False):
        number = candidate.number
        if number in found:
            continue
        where = snippet(candidate.text, candidate.at)
        reason = candidate.reason or _reason_against(document, candidate, found, region)
        if not reason and candidate.block is not None and candidate.block.index in others:
            reason = data_protection_officers.REASON
        if reason:
            rejected.setdefault(number, Rejected("phone", number, reason, where))
        else:
            kind, how = candidate.kind, candidate.how
            confidence = DOUBTFUL if is_round(number) else candidate.confidence
            found[number] = Phone(number, kind, how, where, confidence, candidate.region)
    return list(found.values()), [one for number, one in rejected.items() if number not in found]


def _reason_against(document: Document, candidate: PhoneCandidate, found: dict[str, Phone], region: str) -> str:
    if is_placeholder(candidate.number) or (candidate.how == "text" and is_round(candidate.number)):
        return "placeholder"
    if candidate.block is not None and is_credit(document, candidate.block):
        return "maker of the page or theme"
    if candidate.block is not None and is_authority(document, candidate.block):
        return "authority or host named in an imprint"
    # Structured data copied from another business usually speaks of another country.
    foreign = candidate.how == "structured data" and region and candidate.region != region
    if foreign and any(phone.region == region for phone in found.values()):
        return "structured data of another country"
    return ""


def is_placeholder(number: str) -> bool:
    """Numbers nobody has: 12345678, all digits alike, the 555-01xx of films."""
    digits = number.lstrip("+")
    tail = digits[-7:]
    if len(set(tail)) == 1 or "12345678" in digits or "98765432" in digits:
        return True
    return len(digits) == 11 and digits.startswith("1") and digits[4:9] == "55501"


def is_round(number: str) -> bool:
    """Numbers that few have and every template shows: whoever links one, or gives it to machines, may mean it."""
    return "1234567" in number or number.endswith(("123456", "654321"))


def _candidates(document: Document, things: list[Thing], region: str) -> Iterator[PhoneCandidate]:
    linked = _linked(document)
    for block in document.dialable:
        yield from _in_block(document, block, region, linked.get(block.index, ()))
    for links in linked.values():
        for link in links:
            yield from _in_link(document, link, region)
    for thing in things:
        yield from _in_thing(thing, region)


def _linked(document: Document) -> dict[int, list[Link]]:
    """The links that dial, by the block they stand in."""
    linked: dict[int, list[Link]] = {}
    for link in document.dialling:
        linked.setdefault(link.block, []).append(link)
    return linked


# -- text -------------------------------------------------------------------------------------------------------------


def _in_block(document: Document, block: Block, region: str, links: list[Link] | tuple[()]) -> Iterator[PhoneCandidate]:
    text = block.text
    earlier, end = "", 0
    for written, start in written_in(text, region):
        beside = earlier if end and regexes.STROKE.fullmatch(text, end, start) else ""
        earlier, end = written, start + len(written)
        if written[0].isdigit() and regexes.NO_PHONE.fullmatch(written):
            continue
        for reading, piece, at in _readings(written, start, region, links, beside):
            label = phone_labels.label(document, block, at)
            linked = any(link.text and piece[-6:] in link.text for link in links)
            if not linked and not phone_labels.is_likely(text, at, piece, label):
                continue
            kind: PhoneKind = "fax" if label == "fax" else "phone"
            confidence = 0.95 if label == "phone" or linked else 0.85 if piece.startswith(("+", "00")) else 0.7
            reason = "a register, tax, bank or other number" if label == "other" else ""
            yield PhoneCandidate(reading.number, reading.region, kind, "text", text, at, confidence, block, reason)


def _readings(
    written: str, at: int, region: str, links: list[Link] | tuple[()], beside: str
) -> Iterator[tuple[ParsedPhone, str, int]]:
    """The number, or the several ones: 0175/234234 is one; only what is none as a whole may be several.

    One that stands behind another and a stroke (`beside`) may leave out its area code.
    """
    whole = (with_area(beside, written, region) if beside else None) or _national(written, region, links)
    if whole is not None:
        yield whole, written, at
        return
    first = ""
    for piece, place in pieces_of(written, at, region):
        reading = with_area(first, piece, region) or _national(piece, region, links)
        if reading is not None:
            first = first or piece
            yield reading, piece, place


def _national(piece: str, region: str, links: list[Link] | tuple[()]) -> ParsedPhone | None:
    """The number read with the region, else with the country that a link beside it dials."""
    reading = parse_phone(piece, region)
    if reading is not None:
        return reading
    digits = regexes.NOT_DIGIT.sub("", piece).lstrip("0")
    for link in links:
        dialled = dialled_by(link.href, region)
        if dialled is not None and len(digits) >= 6 and dialled.number.endswith(digits):
            return dialled
    return None


# -- links ------------------------------------------------------------------------------------------------------------


def _in_link(document: Document, link: Link, region: str) -> Iterator[PhoneCandidate]:
    reading = dialled_by(link.href, region)
    if reading is None:
        return
    whatsapp = regexes.WHATSAPP.match(link.href) is not None
    kind: PhoneKind = "whatsapp" if whatsapp else "phone"
    where = link.text or link.label or link.href
    block = document.blocks[link.block] if link.block < len(document.blocks) else None
    reason = ""
    if block is not None and phone_labels.label(document, block, block.text.find(link.text)) == "fax":
        kind = "fax"
    shown = _shown(link.text, region)
    if shown and reading.number not in shown:
        reason = "the visible number is another one"
    how = "wa.me" if whatsapp else "tel"
    yield PhoneCandidate(reading.number, reading.region, kind, how, where, 0, 0.9, block, reason)


def dialled_by(href: str, region: str) -> ParsedPhone | None:
    """The number that a link dials."""
    match = regexes.DIALS.match(href)
    if match is None:
        return None
    written = unquote(href[match.end() :])[:60]
    digits = regexes.DIALLED.search(written)
    if digits is None:
        return None
    if regexes.WHATSAPP.match(href):
        return parse_phone("+" + digits[0].lstrip("+0"), "")
    return parse_phone(digits[0], region) or (parse_phone("+" + digits[0], "") if len(digits[0]) > 10 else None)


def _shown(text: str, region: str) -> set[str]:
    """The numbers that can be read in the text of a link."""
    written = [match[0] for match in regexes.PHONE.finditer(text)]
    written += [piece for one in written for piece, _ in pieces_of(one, 0)]
    return {reading.number for one in written if (reading := parse_phone(one, region)) is not None}


# -- structured data --------------------------------------------------------------------------------------------------


def _in_thing(thing: Thing, region: str) -> Iterator[PhoneCandidate]:
    for key, kind in (("telephone", "phone"), ("faxNumber", "fax")):
        for written in texts(thing.get(key)):
            reading = parse_phone(written, region)
            if reading is not None:
                name = " ".join([*texts(thing.get("name")), written])
                fax: PhoneKind = "fax" if kind == "fax" or "fax" in " ".join(types(thing)) else "phone"
                yield PhoneCandidate(reading.number, reading.region, fax, "structured data", name, 0, 0.85)
