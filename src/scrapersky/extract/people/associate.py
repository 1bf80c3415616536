"""The email address and the phone number of each person: those in the same card, or with the person's name in them."""

from dataclasses import replace
from typing import NamedTuple

from scrapersky.extract.document.model import Document
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.phones.find import parse_phone_link
from scrapersky.extract.phones.parse import PHONE, parse_phone
from scrapersky.extract.results import Email, Person, Phone

MAX_CARD_BLOCKS = 14


class FoundPerson(NamedTuple):
    """A person with the folded words of the name and the index of its block (-1 in structured data)."""

    person: Person
    words: tuple[str, ...]
    block: int


def associate_contacts(
    document: Document, people: list[FoundPerson], emails: list[Email], phones: list[Phone], region: str
) -> list[Person]:
    """Return the people, each with the address and the number of the person's card."""
    addresses = {email.address for email in emails}
    numbers = {phone.number for phone in phones if phone.kind != "fax"}
    starts = {found.block for found in people}
    associated = []
    for person, words, block in people:
        email = person.email or _email_with_name(words, emails)
        phone = person.phone
        if block >= 0 and len(people) > 1:
            end = _end_of_card(document, block, starts)
            email = email or _email_between(document, block, end, addresses)
            phone = phone or _phone_between(document, block, end, numbers, region)
        associated.append(replace(person, email=email, phone=phone))
    return associated


def _email_with_name(words: tuple[str, ...], emails: list[Email]) -> str:
    """Return the address that contains the person's name, if there is exactly one."""
    long = [word for word in words if len(word) > 3]
    named = [email.address for email in emails if any(word in email.address.partition("@")[0] for word in long)]
    return named[0] if len(named) == 1 else ""


def _end_of_card(document: Document, start: int, starts: set[int]) -> int:
    """Return the index of the block behind the card: the next person, another zone, another element, or the limit."""
    end = min(len(document.blocks), start + MAX_CARD_BLOCKS)
    row = _table_row(document, start)
    card = _card(document, start, starts) if row is None else row
    for index in range(start + 1, end):
        if index in starts or document.blocks[index].zones - document.blocks[start].zones:
            return index
        if card is not None and not document.is_inside(index, card):
            return index
    return end


def _table_row(document: Document, start: int) -> int | None:
    """Return the table row in which other cells follow the person: values of other rows are not the person's."""
    nodes = list(document.with_ancestors(document.blocks[start].node))
    row = next((node for node in nodes if node.tag == "tr"), None)
    cell = next((node for node in nodes if node.tag in ("td", "th")), None)
    if row is None or cell is None:
        return None
    beside = [index for index in range(start + 1, start + 4) if document.is_inside(index, row.index)]
    return row.index if any(not document.is_inside(index, cell.index) for index in beside) else None


def _card(document: Document, start: int, starts: set[int]) -> int | None:
    """Return the element with this person only; where that is only the name, the element with all people."""
    near = [index for index in starts if index >= 0 and 0 < abs(index - start) <= MAX_CARD_BLOCKS]
    others = {node.index for index in near for node in document.with_ancestors(document.blocks[index].node)}
    own = None
    for node in document.with_ancestors(document.blocks[start].node) if near else ():
        if node.index in others:
            return own if own is not None and document.is_inside(start + 1, own) else node.index
        own = node.index
    return None  # no other person is near


def _email_between(document: Document, start: int, end: int, addresses: set[str]) -> str:
    for block in document.blocks[start:end]:
        if "@" in block.text:
            for match in EMAIL.findall(block.text.lower()):
                if match in addresses:
                    return str(match)
    for link in document.links:
        if start <= link.block < end and link.href.lower().startswith("mailto:"):
            address = link.href[7:].partition("?")[0].strip().lower()
            if address in addresses:
                return address
    return ""


def _phone_between(document: Document, start: int, end: int, numbers: set[str], region: str) -> str:
    for block in document.phone_blocks:
        if not start <= block.index < end:
            continue
        for match in PHONE.finditer(block.text):
            phone = parse_phone(match[0], region)
            if phone is not None and phone.number in numbers:
                return phone.number
    for link in document.phone_links:
        phone = parse_phone_link(link.href, region) if start <= link.block < end else None
        if phone is not None and phone.number in numbers:
            return phone.number
    return ""
