"""The email address and the phone number of each person: those in the same card, or with the person's name in them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from scrapersky.extract.document.model import Block, Document, Link
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.phones.find import parse_phone_link
from scrapersky.extract.phones.parse import PHONE, parse_phone
from scrapersky.extract.results import Email, EmailKind, Person, Phone

MAX_CARD_BLOCKS = 14
MAX_ALONE_BLOCKS = 6  # below the only person of a page
HEADING_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class FoundPerson(NamedTuple):
    """A person with the folded words of the name and the index of its block (-1 in structured data)."""

    person: Person
    words: tuple[str, ...]
    block: int


def associate_contacts(
    document: Document, people: list[FoundPerson], emails: list[Email], phones: list[Phone], region: str
) -> list[Person]:
    """Return the people, each with the address and the number of the person's card."""
    if not people:
        return []
    kinds = {email.address: email.kind for email in emails}
    addresses = set(kinds)
    numbers = {phone.number for phone in phones if phone.kind != "fax"}
    starts = {found.block for found in people}
    named = _emails_with_names(people, emails)
    places = _contact_places(document, addresses, numbers, region)
    associated = []
    for index, (person, _, block) in enumerate(people):
        email, phone = person.email or named.get(index, ""), person.phone
        if block >= 0:
            end = _end_of_card(document, block, starts)
            if len(people) == 1:
                end = min(end, block + MAX_ALONE_BLOCKS)
            line = _line_of_several(document, people, block)
            at = max(0, document.blocks[block].text.find(person.name)) if line else 0
            own = [one for one in places if block <= one.block < end and _is_beside(one, block, at, line)]
            own = own or _above_in_card(document, block, starts, places)
            email = email or next((one.value for one in own if one.is_email and _may_own(one, kinds, people)), "")
            phone = phone or next((one.value for one in own if not one.is_email), "")
            if not own and (section := _section_of(document, block, starts)) is not None:
                inside = [place for place in places if section[0] <= place.block < section[1]]
                email = email or next((one.value for one in inside if one.is_email), "")
                phone = phone or next((one.value for one in inside if not one.is_email), "")
        associated.append(replace(person, email=email, phone=phone))
    return associated


class _Place(NamedTuple):
    """An address or a number and the block it belongs to."""

    block: int
    is_email: bool
    value: str
    at: int = 0  # position in the text of the block


def _line_of_several(document: Document, people: list[FoundPerson], block: int) -> list[int]:
    """Return where the names of several people of one line begin; nothing if there is only one."""
    names = [found.person.name for found in people if found.block == block]
    return sorted(max(0, document.blocks[block].text.find(name)) for name in names) if len(names) > 1 else []


def _is_beside(place: _Place, block: int, start: int, starts: list[int]) -> bool:
    """Return whether a contact on a line of several people stands behind this name and before the next."""
    if place.block != block or not starts or place.at < starts[0]:
        return True
    return start <= place.at < next((other for other in starts if other > start), place.at + 1)


def _above_in_card(document: Document, block: int, starts: set[int], places: list[_Place]) -> list[_Place]:
    """Return the contacts above a name in the element that has only this person."""
    card = _own_card(document, block, starts)
    if card is None:
        return []
    return [
        place
        for place in places
        if block - MAX_CARD_BLOCKS < place.block < block and document.is_inside(place.block, card)
    ]


def _may_own(place: _Place, kinds: dict[str, EmailKind], people: list[FoundPerson]) -> bool:
    """Return whether the address may be a person's: beside a single person a role address is the business's."""
    return len(people) > 1 or kinds[place.value] != "role"


def _contact_places(document: Document, addresses: set[str], numbers: set[str], region: str) -> list[_Place]:
    """Return the addresses and numbers of the page with their blocks, in the order of the page."""
    places = []
    for block in document.blocks if addresses else ():
        if "@" in block.text:
            found = [match for match in EMAIL.finditer(block.text.lower()) if match[0] in addresses]
            places.extend([_Place(block.index, True, match[0], match.start()) for match in found])
    places.extend(_places_of_hidden(document, addresses - {place.value for place in places}))
    for block in document.phone_blocks:
        for match in PHONE.finditer(block.text):
            phone = parse_phone(match[0], region)
            if phone is not None and phone.number in numbers:
                places.append(_Place(block.index, False, phone.number, match.start()))
    for link in document.links:
        if link.href[:7].lower() == "mailto:":
            address = link.href[7:].partition("?")[0].strip().lower()
            if address in addresses:
                places.append(_Place(_block_of(document, link), True, address, _position(document, link)))
    for link in document.phone_links:
        phone = parse_phone_link(link.href, region)
        if phone is not None and phone.number in numbers:
            places.append(_Place(_block_of(document, link), False, phone.number, _position(document, link)))
    return sorted(places, key=lambda place: place.block)


def _places_of_hidden(document: Document, addresses: set[str]) -> Iterator[_Place]:
    """Yield the blocks with addresses that are spelled out: both halves stand in one of them."""
    halves = [(address, *address.split("@", 1)) for address in addresses]
    for block in document.blocks if halves else ():
        lowered = block.text.lower() if "@" not in block.text else ""
        for address, local, domain in halves:
            if local in lowered and domain.partition(".")[0] in lowered:
                yield _Place(block.index, True, address)


def _position(document: Document, link: Link) -> int:
    """Return where the text of a link begins in its block."""
    return max(0, document.blocks[link.block].text.find(link.text)) if link.block < len(document.blocks) else 0


def _block_of(document: Document, link: Link) -> int:
    """Return the block of a link; an icon without text belongs to the nearer one of the blocks around it."""
    if link.text or link.block == 0:
        return link.block
    if link.block >= len(document.blocks):
        return link.block - 1
    around = [node.index for node in document.with_ancestors(link.node)]
    before = _common_depth(document, around, link.block - 1)
    after = _common_depth(document, around, link.block)
    return link.block if after > before else link.block - 1


def _common_depth(document: Document, around: list[int], block: int) -> int:
    nodes = {node.index for node in document.with_ancestors(document.blocks[block].node)}
    return next((document.nodes[index].depth for index in around if index in nodes), -1)


def _section_of(document: Document, block: int, starts: set[int]) -> tuple[int, int] | None:
    """Return the blocks between two headings, if this person is the only one in them."""
    blocks = document.blocks
    if blocks[block].tag in HEADING_TAGS:
        return None
    first = next(
        (index for index in range(block, max(-1, block - MAX_CARD_BLOCKS), -1) if _is_heading(blocks[index])), -1
    )
    if first < 0:
        return None
    end = min(len(blocks), block + MAX_CARD_BLOCKS)
    last = next((index for index in range(block + 1, end) if _is_heading(blocks[index])), end)
    return None if any(first < start < last and start != block for start in starts) else (first, last)


def _is_heading(block: Block) -> bool:
    return block.tag in HEADING_TAGS


def _emails_with_names(people: list[FoundPerson], emails: list[Email]) -> dict[int, str]:
    """Return the address with the name of each person, unless it has the name of two people."""
    named = {index: address for index, found in enumerate(people) if (address := _email_with_name(found.words, emails))}
    counts = Counter(named.values())
    return {
        index: address
        for index, address in named.items()
        if counts[address] == 1 or _has_given_name(people[index].words, address)
    }


def _has_given_name(words: tuple[str, ...], address: str) -> bool:
    local = address.partition("@")[0]
    return words[0] in local or local.startswith(words[0][:1])


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
        if _is_heading(document.blocks[index]) and _begins_section(document, start, index):
            return index
        if card is not None and not document.is_inside(index, card):
            return index
    return end


def _begins_section(document: Document, start: int, heading: int) -> bool:
    """Return whether a heading behind a name begins another section: it has the rank of the one above the name."""
    blocks = document.blocks
    if _is_heading(blocks[start]):
        return blocks[heading].tag <= blocks[start].tag
    above = next((blocks[index].tag for index in range(start - 1, -1, -1) if _is_heading(blocks[index])), "")
    return bool(above) and blocks[heading].tag <= above


def _table_row(document: Document, start: int) -> int | None:
    """Return the table row in which other cells follow the person: values of other rows are not the person's."""
    nodes = list(document.with_ancestors(document.blocks[start].node))
    row = next((node for node in nodes if node.tag == "tr"), None)
    cell = next((node for node in nodes if node.tag in ("td", "th")), None)
    if row is None or cell is None:
        return None
    beside = [index for index in range(start + 1, start + 4) if document.is_inside(index, row.index)]
    return row.index if any(not document.is_inside(index, cell.index) for index in beside) else None


def _own_card(document: Document, start: int, starts: set[int]) -> int | None:
    """Return the largest element around a person with other people near, but not in it."""
    near = [index for index in starts if index >= 0 and 0 < abs(index - start) <= MAX_CARD_BLOCKS]
    others = {node.index for index in near for node in document.with_ancestors(document.blocks[index].node)}
    own = None
    for node in document.with_ancestors(document.blocks[start].node) if near else ():
        if node.index in others:
            return own
        own = node.index
    return None


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
