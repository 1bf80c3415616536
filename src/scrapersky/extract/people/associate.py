"""Which address and number belong to which person: those in the same card, or with the person's name in them."""

from scrapersky.extract import regexes
from scrapersky.extract.document.model import Document
from scrapersky.extract.people.find import FoundPerson
from scrapersky.extract.phones import find as phones
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.results import Email, Person, Phone

CARD_BLOCKS = 14


def together(
    document: Document, sightings: list[FoundPerson], emails: list[Email], found_phones: list[Phone], region: str
) -> list[Person]:
    """The people, each with the address and the number of their card."""
    addresses = {email.address for email in emails}
    numbers = {phone.number for phone in found_phones if phone.kind != "fax"}
    starts = {sighting.block for sighting in sightings}
    people = []
    for sighting in sightings:
        person = sighting.person
        email = person.email or _by_name(sighting.words, emails)
        phone = person.phone
        if sighting.block >= 0 and len(sightings) > 1:
            block, end = sighting.block, _end_of_card(document, sighting.block, starts)
            email = email or _email_between(document, block, end, addresses)
            phone = phone or _phone_between(document, block, end, numbers, region)
        people.append(Person(person.name, person.title, person.how, person.snippet, person.confidence, email, phone))
    return people


def _by_name(words: tuple[str, ...], emails: list[Email]) -> str:
    """The one address that carries the person's name."""
    long = [word for word in words if len(word) > 3]
    named = [email.address for email in emails if any(word in email.address.partition("@")[0] for word in long)]
    return named[0] if len(named) == 1 else ""


def _end_of_card(document: Document, start: int, starts: set[int]) -> int:
    """The block where the next person begins, or the footer, or the card is too long to be one."""
    end = min(len(document.blocks), start + CARD_BLOCKS)
    row = _row(document, start)
    card = _card(document, start, starts) if row is None else row
    for index in range(start + 1, end):
        if index in starts or document.blocks[index].zones - document.blocks[start].zones:
            return index
        if card is not None and not _is_in(document, index, card):
            return index
    return end


def _row(document: Document, start: int) -> int | None:
    """The table row in which somebody stands beside other cells: an empty cell is not filled from below."""
    nodes = list(document.around(document.blocks[start].node))
    row = next((node for node in nodes if node.tag == "tr"), None)
    cell = next((node for node in nodes if node.tag in ("td", "th")), None)
    if row is None or cell is None:
        return None
    beside = [index for index in range(start + 1, start + 4) if _is_in(document, index, row.index)]
    return row.index if any(not _is_in(document, index, cell.index) for index in beside) else None


def _card(document: Document, start: int, starts: set[int]) -> int | None:
    """The element that holds this person and nobody else, or where that is the name alone, the one that holds all."""
    near = [index for index in starts if index >= 0 and 0 < abs(index - start) <= CARD_BLOCKS]
    others = {node.index for index in near for node in document.around(document.blocks[index].node)}
    own = None
    for node in document.around(document.blocks[start].node) if near else ():
        if node.index in others:
            return own if own is not None and _is_in(document, start + 1, own) else node.index
        own = node.index
    return None  # nobody else is near


def _is_in(document: Document, index: int, node: int) -> bool:
    if index >= len(document.blocks):
        return False
    return any(around.index == node for around in document.around(document.blocks[index].node))


def _email_between(document: Document, start: int, end: int, addresses: set[str]) -> str:
    for block in document.blocks[start:end]:
        if "@" in block.text:
            for match in regexes.EMAIL.findall(block.text.lower()):
                if match in addresses:
                    return str(match)
    for link in document.links:
        if start <= link.block < end and link.href.lower().startswith("mailto:"):
            address = link.href[7:].partition("?")[0].strip().lower()
            if address in addresses:
                return address
    return ""


def _phone_between(document: Document, start: int, end: int, numbers: set[str], region: str) -> str:
    for block in document.dialable:
        if not start <= block.index < end:
            continue
        for match in regexes.PHONE.finditer(block.text):
            reading = parse_phone(match[0], region)
            if reading is not None and reading.number in numbers:
                return reading.number
    for link in document.dialling:
        dialled = phones.dialled_by(link.href, region) if start <= link.block < end else None
        if dialled is not None and dialled.number in numbers:
            return dialled.number
    return ""
