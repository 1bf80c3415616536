"""Slots of titles: where the title of one person stands, the others of the page have theirs, whatever the word."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from scrapersky.extract.document.model import Block
from scrapersky.extract.people.roles import is_education_line, is_title_line, role_text
from scrapersky.extract.people.scoring.layout import SECTION_TAGS, PageLayout, Slot
from scrapersky.extract.people.scoring.nearby_roles import NearbyRoles

ROLE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:role|rolle|position|job|jobtitle|job-title|title|function|funktion|designation|occupation|cargo|puesto|poste|fonction|stilling|titel|ruolo|subtitle|pos|beosztas|stanowisko|tehtava|dolzhnost|profession)(?:$|[\s_-])"
)

MAX_OFFSET = 3  # lines below a name in which its title may stand


class TitleSlots:
    """Learns from the people found where titles stand on a page."""

    def __init__(self, layout: PageLayout, roles: NearbyRoles) -> None:
        self.layout = layout
        self.roles = roles
        self.slots: set[Slot] = set()
        self.known: set[Slot] = set()  # those with two known titles or more
        self.is_team = False  # whether the page or a section is about people

    def learn(self, people: list[tuple[Block, str]]) -> None:
        """Learn from the people found where titles stand on this page: how far below a name, in which shape."""
        self.is_team = any(self.layout.is_in_team(block) for block, _ in people[:MAX_OFFSET])
        known: Counter[Slot] = Counter()
        lines: dict[Slot, list[str]] = {}
        for block, title in people:
            for slot, line in self._slots(block):
                lines.setdefault(slot, []).append(line.text)
                known[slot] += bool(title) and title in line.text
        self.slots = {slot for slot, texts in lines.items() if self._is_title_slot(slot, texts, known[slot])}
        self.known = {slot for slot in self.slots if known[slot] > 1}

    def _is_title_slot(self, slot: Slot, texts: list[str], known: int) -> bool:
        """Return whether the lines of a slot are titles: one is known, or all are short and most differ."""
        if slot.shape == slot.name_shape and not known:
            return False
        titles = [text for text in texts if is_title_line(text)]
        if known:
            return len(titles) >= 0.5 * len(texts)
        is_named = _is_role_class(slot.shape[1])
        if len(titles) < len(texts) or (len(texts) < 2 and not is_named):
            return False
        least = 2 if self.is_team else 3
        is_below = slot.offset == 1 and slot.shape[0] not in ("dt", "th")
        return is_named or (is_below and len(set(texts)) > max(1, len(texts) // 2) and len(texts) >= least)

    def has_role_below(self, block: Block, role: str) -> bool:
        """Return whether this role stands above the name only, and lines below names are known titles."""
        if any(role in line.text for line in self.layout.card_lines(block, MAX_OFFSET + 1)):
            return False
        return any(slot.offset > 0 for slot in self.known)

    def title_of(self, block: Block) -> str:
        """Return the line in a slot of titles below a name, or ""."""
        for slot, line in self._slots(block):
            if line.tag in SECTION_TAGS and block.tag not in SECTION_TAGS:
                continue  # the heading of another section
            if slot in self.slots and is_title_line(line.text) and self._is_no_link(line):
                return role_text(line.text)
        return ""

    def _slots(self, block: Block) -> Iterator[tuple[Slot, Block]]:
        """Yield the lines around a name in which its title may stand: three below it, one above it."""
        shape, layout = self.layout.shape(block), self.layout
        lines = (line for line in layout.card_lines(block, MAX_OFFSET + 1) if not is_education_line(line.text))
        for offset, line in enumerate(islice(lines, MAX_OFFSET), 1):
            yield Slot(shape, offset, layout.shape(line)), line
        above = layout.neighbour(block, -1)
        if above is not None and layout.is_in_own_card(block, above):
            yield Slot(shape, -1, layout.shape(above)), above

    def _is_no_link(self, line: Block) -> bool:
        return line.text not in self.roles.link_texts.get(line.index, ())


@lru_cache(4096)
def _is_role_class(names: str) -> bool:
    return bool(names) and ROLE_CLASS.search(names) is not None
