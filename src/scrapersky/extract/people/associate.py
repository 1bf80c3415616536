"""The email address and the phone number of each person: those in the same card, or with the person's name in them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block, Document, Link
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.emails.mailboxes import MailboxUse, mailbox_use
from scrapersky.extract.people.address_names import AddressMatch, find_owners, find_owners_by_initials
from scrapersky.extract.people.cards import MAX_CARD_BLOCKS, Cards, table_row
from scrapersky.extract.people.labels import LEGAL_FORM, is_department, is_label_of_contact
from scrapersky.extract.people.scoring.table_columns import cells_below
from scrapersky.extract.people.sentences.running_text import introduces_self
from scrapersky.extract.phones.find import parse_phone_link
from scrapersky.extract.phones.parse import PHONE, parse_phone
from scrapersky.extract.results import Email, Person, Phone

IN_TEXT = "title in text"  # how a person of running text was found
MAX_ALONE_BLOCKS = 6  # below the only person of a page
MIN_FAMILY = 4  # letters of a family name in a domain
MIN_POST = 5  # letters of a post that has a mailbox
MAX_LABEL_WORDS = 4  # Tel.; write to us at
LABEL = re.compile(r"([^\W\d_][^:：@\d]{1,40}?)\s?[:：]")
LABEL_SIGN = re.compile(r"[:：]|\s[–—-]\s|[役長]\s")
# A mailbox for registered mail, which a firm has under its name.
CERTIFIED = re.compile(r"[@.-](?:pec|legalmail|postacert|arubapec)\b|[@.-]pec-")
MAX_SENTENCE = 60  # characters between a given name and a contact in a sentence
NAME_IN_SENTENCE = re.compile(r"[^\W\d_][\w'’-]++")
SENTENCE_END = re.compile(r"[.!?](?=\s[^\W\d_a-z])")
# Behind the number of a switchboard or a person: ext. 12, wew. 12, int. 12, доб. 12.
EXTENSION = re.compile(
    r"[\s,;(]{0,3}(?:ext(?:ension)?|wew|int(?:erno)?|poste|klapka|kl|mellék|доб|вн|dahili|anexo|ramal|x(?=[.\d\s]))"
    r"[.:\s#]{0,3}\d{1,5}\b",
    re.I,
)
FIELD_SEPARATOR = re.compile(r"\s[|·•]\s|\s[–—-]\s[^–—]{2,40}[:：]\s|[^\W\d_]{2}\.\s[^.:]{2,40}[:：]\s")


class FoundPerson(NamedTuple):
    """A person with the folded words of the name and the index of its block (-1 in structured data)."""

    person: Person
    words: tuple[str, ...]
    block: int
    cards: tuple[int, ...] = ()  # other blocks with this person's name


def associate_contacts(
    document: Document, people: list[FoundPerson], emails: list[Email], phones: list[Phone], region: str
) -> list[Person]:
    """Return the people, each with the address and the number of the person's card."""
    if not people:
        return []
    addresses = {email.address for email in emails}
    numbers = {phone.number for phone in phones if phone.kind != "fax"}
    starts = {block for found in people for block in (found.block, *found.cards)}
    named = _emails_with_names(people, emails)
    places = _contact_places(document, addresses, numbers, region)
    page = _Page(document, people, Cards(document, starts), places)
    associated = []
    for index, found in enumerate(people):
        person = found.person
        email, phone = person.email or named.get(index, ""), person.phone
        if not (email and phone):
            others = {address for owner, address in named.items() if owner != index}
            cards = [page.contacts_at(person, block) for block in (found.block, *found.cards) if block >= 0]
            cards = [[one for one in card if one.value not in others] for card in cards]
            email = email or next((one.value for card in cards for one in card if _may_own(one, people)), "")
            cards.sort(key=lambda card: all(one.value != email for one in card))  # the card with the address first
            phone = phone or next((one.value for card in cards for one in card if not one.is_email), "")
        is_new = email != person.email or phone != person.phone
        associated.append(replace(person, email=email, phone=phone) if is_new else person)
    return _with_initials(_with_posts(page.with_contacts_in_sentences(associated), emails), emails)


class _Place(NamedTuple):
    """An address or a number and the block it belongs to."""

    block: int
    is_email: bool
    value: str
    at: int = 0  # position in the text of the block


class _Page(NamedTuple):
    """The people of a page and the places of its contacts."""

    document: Document
    people: list[FoundPerson]
    cards: Cards
    places: list[_Place]

    def contacts_at(self, person: Person, block: int) -> list[_Place]:
        """Return the contacts of a person around one of the blocks with the name."""
        document = self.document
        if _is_in_line_of_business(document.blocks[block], person.name):
            return []
        if person.how == IN_TEXT:
            return self._in_sentences(person, block)
        if not document.columns and not any(abs(one.block - block) < MAX_CARD_BLOCKS for one in self.places):
            return self._far_below(block)
        if column := cells_below(document, block, self.cards.starts):
            return [one for one in self.places if one.block == block or one.block in column]
        end = self.cards.end(block)
        if is_alone := len(self.people) == 1:
            end = min(end, block + MAX_ALONE_BLOCKS)
        if is_alone or _is_labelled(document, block, person.name):
            end = self._first_of_others(block, end)
        end = self._first_department(person, block, end)
        line = _line_of_several(document, self.people, block)
        at = max(0, document.blocks[block].text.find(person.name)) if line else 0
        if line and table_row(document, block) is not None:
            own = [one for one in self.places if block < one.block < end]  # the number in the next cell is of all
        else:
            own = [one for one in self.places if block <= one.block < end and _is_beside(one, block, at, line)]
        if any(one.block > block for one in own):
            own = self._without_those_of_the_business(block, own)
        if own or line:
            return own
        return self._above(block) or self._in_section(block) or self._far_below(block)

    def _above(self, block: int) -> list[_Place]:
        """Return the contacts above a name in the element that has only this person."""
        card = self.cards.own(block)
        if card is None:
            return []
        return [
            place
            for place in self.places
            if block - MAX_CARD_BLOCKS < place.block < block and self.document.is_inside(place.block, card)
        ]

    def _in_section(self, block: int) -> list[_Place]:
        """Return the contacts between two headings with this person only."""
        section = self.cards.section(block) if len(self.people) > 1 else None
        return [one for one in self.places if section[0] <= one.block < section[1]] if section is not None else []

    def _far_below(self, block: int) -> list[_Place]:
        """Return the contacts behind a biography: in a long card, or on the page about this person."""
        if not any(block < one.block for one in self.places):
            return []
        end = self.cards.end_of_long(block)
        if any(block < one.block < end for one in self.places):
            return [one for one in self.places if block < one.block < end]
        if self.document.blocks[block].tag != "h1":
            return []
        end = self.cards.end_of_main(block)
        own = [one for one in self.places if block < one.block < end]
        addresses = {one.block for one in own if one.is_email and mailbox_use(one.value) is MailboxUse.UNKNOWN}
        return [one for one in own if not addresses.isdisjoint(range(one.block - 1, one.block + 2))]

    def _without_those_of_the_business(self, block: int, own: list[_Place]) -> list[_Place]:
        """Return the contacts of a card without those behind a list of people, or behind a line that has its own."""
        on_line = [one for one in own if one.block == block]
        alike = sorted([block, *(start for start in self.cards.starts if start >= 0 and self._is_alike(start, block))])
        is_last = len(alike) > 2 and alike[-1] == block
        if is_last and not any(alike[0] <= one.block < block for one in self.places):
            return on_line  # none of the others in the list has a contact
        others = [start for start in alike if start != block and any(one.block == start for one in self.places)]
        if (others or on_line) and self.document.blocks[block].tag != "dd":
            return [one for one in own if one.block == block or not self._is_alike(one.block, block)]
        return own

    def _is_alike(self, one: int, other: int) -> bool:
        """Return whether two lines are elements of the same name and classes side by side."""
        nodes, blocks = self.document.nodes, self.document.blocks
        here, there = blocks[one].node, blocks[other].node
        if min(here, there) < 0 or here == there:
            return False
        first, second = nodes[here], nodes[there]
        return first.tag == second.tag and first.names == second.names and first.parent == second.parent

    def _first_department(self, person: Person, block: int, end: int) -> int:
        """Return the first line behind a person with a title that names a department, whose contacts follow."""
        own = {one.block for one in self.places if block < one.block < end} if person.title else ()
        for index in range(block + 1, max(own, default=block)):
            text = self.document.blocks[index].text
            if index not in own and text not in person.title and is_department(text) and index + 1 in own:
                return index
        return end

    def _first_of_others(self, block: int, end: int) -> int:
        """Return the first contact behind a name that has the label or the name of something else, or the end."""
        blocks = self.document.blocks
        own = {one.block for one in self.places if block < one.block < end}
        for index in range(block + 1, end if own else block):
            if LEGAL_FORM.search(blocks[index].text) is not None:
                return index
            if blocks[index].tag in ("dt", "th") and not is_label_of_contact(blocks[index].text):
                return index  # 役員, 設立: the facts of a business
            if index in own and (label := _label_of(self.document, index)) and not is_label_of_contact(label):
                return index
        return end

    def _in_sentences(self, person: Person, block: int) -> list[_Place]:
        """Return the contacts of the paragraph, if it names nobody else, or of sentences that name this person last."""
        line = _line_of_several(self.document, self.people, block)
        text = self.document.blocks[block].text
        if len(self.people) == 1 and introduces_self(text, text.find(person.name)):
            return [one for one in self.places if block <= one.block < block + MAX_ALONE_BLOCKS]
        return [
            one
            for one in self.places
            if one.block == block and self._is_named_before(person, text[: one.at], bool(line))
        ]

    def with_contacts_in_sentences(self, people: list[Person]) -> list[Person]:
        """Add what nobody has, behind the given name of a person in a sentence: ring Jane on 01234 56789."""
        taken = {value for one in people for value in (one.email, one.phone)}
        free = [one for one in self.places if one.value not in taken and one.block not in self.cards.starts and one.at]
        for place in free:
            sentence = SENTENCE_END.split(self.document.blocks[place.block].text[: place.at])[-1][-MAX_SENTENCE:]
            words = set(NAME_IN_SENTENCE.findall(sentence))
            named = [index for index, one in enumerate(people) if one.name.partition(" ")[0] in words]
            if not named or len({people[index].name.partition(" ")[0] for index in named}) < len(named):
                continue
            last = max(named, key=lambda index: sentence.rfind(people[index].name.partition(" ")[0]))
            found = people[last]
            if place.is_email:
                people[last] = replace(found, email=found.email or place.value)
            else:
                people[last] = replace(found, phone=found.phone or place.value)
        return people

    def _is_named_before(self, person: Person, text: str, is_one_of_several: bool) -> bool:
        """Return whether the sentence before a contact names the person last, or is a label behind the only one."""
        sentence = SENTENCE_END.split(text)[-1]
        if not is_one_of_several and len(sentence.split()) <= MAX_LABEL_WORDS:
            return True
        return _last_named(sentence, [found.person for found in self.people]) == person.name


def _is_labelled(document: Document, block: int, name: str) -> bool:
    """Return whether a label stands before a name, so that other facts with labels follow: <dt>Owner<dd>Jane Roe."""
    line = document.blocks[block]
    if line.tag in ("dd", "td") and block and document.blocks[block - 1].tag in ("dt", "th"):
        return True
    return LABEL_SIGN.search(line.text, 0, max(0, line.text.find(name))) is not None


def _label_of(document: Document, index: int) -> str:
    """Return the label of a line: the text before its colon, or the term or the head of the row before it."""
    blocks = document.blocks
    if (label := LABEL.match(blocks[index].text)) is not None:
        return label[1]
    if blocks[index].tag in ("dd", "td") and blocks[index - 1].tag in ("dt", "th"):
        return blocks[index - 1].text
    return ""


def _is_in_line_of_business(block: Block, name: str) -> bool:
    """Return whether a line of the footer gives the facts of the business, one of them this name."""
    return "footer" in block.zones and FIELD_SEPARATOR.search(block.text, 0, max(0, block.text.find(name))) is not None


def _last_named(sentence: str, people: list[Person]) -> str:
    """Return who is named last in a sentence, in full or by the given name; or ""."""
    places = [(max(sentence.rfind(one.name), sentence.rfind(one.name.split()[0])), one.name) for one in people]
    at, name = max(places)
    return name if at >= 0 else ""


def _line_of_several(document: Document, people: list[FoundPerson], block: int) -> list[int]:
    """Return where the names of several people of one line begin; nothing if there is only one."""
    names = [found.person.name for found in people if found.block == block]
    return sorted(max(0, document.blocks[block].text.find(name)) for name in names) if len(names) > 1 else []


def _is_beside(place: _Place, block: int, start: int, starts: list[int]) -> bool:
    """Return whether a contact on a line of several people stands behind this name and before the next."""
    if not starts:
        return True
    if place.block != block or place.at < starts[0]:
        return False
    return start <= place.at < next((other for other in starts if other > start), place.at + 1)


def _may_own(place: _Place, people: list[FoundPerson]) -> bool:
    """Return whether this is an address and may be a person's.

    A general mailbox is not a single person's, unless the domain has the family name.
    """
    if not place.is_email:
        return False
    if len(people) > 1 or mailbox_use(place.value) is not MailboxUse.GENERAL:
        return True
    domain = place.value.partition("@")[2]
    return any(len(part) >= MIN_FAMILY and part in domain for part in people[0].words[-1].split("-"))


def _contact_places(document: Document, addresses: set[str], numbers: set[str], region: str) -> list[_Place]:
    """Return the addresses and numbers of the page with their blocks, in the order of the page."""
    places = []
    for block in document.blocks_with("@") if addresses else ():
        found = [match for match in EMAIL.finditer(block.text.lower()) if match[0] in addresses]
        places.extend([_Place(block.index, True, match[0], match.start()) for match in found])
    places.extend(_places_of_hidden(document, addresses - {place.value for place in places}))
    with_extension: list[_Place] = []
    for block in document.phone_blocks if numbers else ():
        for match in PHONE.finditer(block.text):
            phone = parse_phone(match[0], region)
            if phone is not None and phone.number in numbers:
                found_in = with_extension if EXTENSION.match(block.text, match.end()) else places
                found_in.append(_Place(block.index, False, phone.number, match.start()))
    # A number that stands only once is not that of a switchboard, though an extension follows.
    counts = Counter([place.value for place in (*places, *with_extension)])
    places.extend([place for place in with_extension if counts[place.value] == 1])
    for link in document.links if addresses else ():
        if link.href[:7].lower() == "mailto:":
            address = link.href[7:].partition("?")[0].strip().lower()
            if address in addresses:
                places.append(_Place(_block_of(document, link), True, address, _position(document, link)))
    for link in document.phone_links if numbers else ():
        phone = parse_phone_link(link.href, region)
        if phone is not None and phone.number in numbers:
            places.append(_Place(_block_of(document, link), False, phone.number, _position(document, link)))
    return sorted(places, key=lambda place: place.block)


def _places_of_hidden(document: Document, addresses: set[str]) -> Iterator[_Place]:
    """Yield the blocks with addresses that are spelled out: both halves stand in one of them."""
    page = document.text.lower() if addresses else ""
    halves = [(address, *parts) for address in addresses if (parts := address.split("@", 1))[0] in page]
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


def _emails_with_names(people: list[FoundPerson], emails: list[Email]) -> dict[int, str]:
    """Return the address with the name of each person."""
    names = [found.person.name_latin or found.person.name for found in people]
    owners = find_owners(names, [email.address for email in emails if email.kind != "role"])
    return {
        owner: address
        for owner, (match, address) in owners.items()
        if match > AddressMatch.WORD or CERTIFIED.search(address) is None
    }


def _with_posts(people: list[Person], emails: list[Email]) -> list[Person]:
    """Add the addresses that nobody has and that are named as the post of one person: treasurer@."""
    taken = {person.email for person in people}
    posts = [frozenset(folded_words(person.title)) if person.title else frozenset[str]() for person in people]
    for email in emails:
        post = email.address.partition("@")[0]
        if email.address in taken or len(post) < MIN_POST or not post.isalpha():
            continue
        if mailbox_use(email.address) in (MailboxUse.GENERAL, MailboxUse.CUSTOMERS):
            continue  # office@ is not the office manager's alone
        holders = [index for index, words in enumerate(posts) if post in words]
        if len(holders) == 1 and not people[holders[0]].email:
            people[holders[0]] = replace(people[holders[0]], email=email.address)
    return people


def _with_initials(people: list[Person], emails: list[Email]) -> list[Person]:
    """Add the addresses that nobody has and that are somebody's initials: jr@ for Jane Roe."""
    taken = {person.email for person in people}
    free = [email.address for email in emails if email.kind == "personal" and email.address not in taken]
    free = [address for address in free if mailbox_use(address) is MailboxUse.UNKNOWN]
    names = [person.name_latin or person.name for person in people]
    for owner, address in find_owners_by_initials(names, free).items():
        people[owner] = replace(people[owner], email=people[owner].email or address)
    return people
