"""The score of a name candidate on its page: a role beside it, similar cards, a team page; or a review, a credit."""

import re
from collections import Counter
from functools import cached_property, lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import is_name_label
from scrapersky.extract.people.layout import MAX_LINE, SECTION_TAGS, PageLayout, Shape, Slot
from scrapersky.extract.people.names import is_credential_line, is_role
from scrapersky.extract.people.roles import (
    CLAUSE,
    first_clause,
    is_sentence,
    is_title_line,
    role_in_sentence,
    role_text,
)
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_words

TEAM_WORDS = load_words("people", "team")
REVIEW_WORDS = load_words("people", "reviews")
CREDIT_WORDS = load_words("people", "credits")
EDUCATION_WORDS = load_words("people", "education")
DUMMY_WORDS = load_words("people", "dummy")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "strong", "b", "dt", "th", "figcaption"))
MAX_ROLE_LINE = 130
MAX_ROLE_BEFORE = 80
MAX_HEADING_WORDS = 5
MAX_LIST = 40  # names under one heading

STARS = re.compile(r"[★⭐☆]|\bfa-star\b|\bstars?\b|\brating\b")
QUOTE_MARKS = re.compile(r"^\s?[\"“„«»”'‘]|^[-–—]\s")
PERSON_CLASS = re.compile(
    r"(?:^|[\s_-])(?:name|person|people|member|staff|team|doctor|attorney|lawyer|speaker|coach|trainer|employee|author|bio|profile|mitarbeiter|equipe|equipo|zespol|portrait|vcard|fn)s?(?:$|[\s_-])|(?:name|member|team|person)\b"
)
ROLE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:role|rolle|position|job|jobtitle|job-title|title|function|funktion|designation|occupation|cargo|puesto|poste|fonction|stilling|titel|ruolo|subtitle|pos|beosztas|stanowisko|tehtava|dolzhnost|profession)(?:$|[\s_-])"
)
POSTAL_CODE = re.compile(r"(?<!\d)(?:\d{4,6}|\d{3}\s\d{2}|\d{2}-\d{3}|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2})(?!\d)")

LOCAL_WORD = re.compile(r"[._+-]")

Points = list[tuple[str, float]]


class NameScorer:
    """Scores the names of one page; needs all candidates to see which are similar."""

    def __init__(self, document: Document, candidates: list[tuple[NameCandidate, Block]]) -> None:
        self.document = document
        self.blocks = document.blocks
        self.layout = PageLayout(document, candidates)
        self.phone_blocks = {block.index for block in document.phone_blocks}
        self.is_team_page = not TEAM_WORDS.isdisjoint(folded_words(document.title))
        self._roles: dict[int, str] = {}

    def score(self, candidate: NameCandidate, block: Block) -> tuple[str, Points]:
        """Return the title and the points: the name's own and those of its place."""
        name = candidate.name
        points: Points = [("words of the name", round(name.score, 2))]
        if candidate.is_whole:
            title = self._score_line(candidate, block, points)
        elif candidate.role:
            title = candidate.role
            points.append(("role in the sentence", 0.3))
        else:
            title = self._role_clause_behind(block, name)
            if title and name.title:
                points.append(("role behind the name", 0.4))  # Mr. John Roe, partner
        if "footer" in block.zones:
            points.append(("in the footer", -0.15))
        if "form" in block.zones or "hidden" in block.zones:
            points.append(("in a form or hidden", -0.1))
        return role_text(title), points

    def _score_line(self, candidate: NameCandidate, block: Block, points: Points) -> str:
        """Score a name that is a line of its own; return its title."""
        name, role = candidate.name, candidate.role
        if role and not candidate.is_known_role:
            points.append(("a label beside the name", 0.1))
            title = role
        elif role and (len(name.words) > 1 or name.title):
            # Owner: Jane Roe is stronger evidence than a role on the next line.
            points.append(("role on the line", 0.75 if f"{role}:" in block.text else 0.5))
            title = role_in_sentence(role) if is_sentence(role) else role
        elif title := self.role_beside(block):
            points.append(("role beside", 0.35))
        elif name.score >= 0 and (title := self.role_of_heading(block)):
            points.append(("heading is a role", 0.25))
        elif name.score >= 0.2 and (title := self._biography_below(block)):
            points.append(("role in the text below", 0.2))
        self._score_place(name, block, points)
        return title

    # -- evidence for a person ----------------------------------------------------------------------------------------

    def _score_place(self, name: Name, block: Block, points: Points) -> None:
        """Score the place of a block: a heading, a class for people, similar blocks, a team page, contacts below."""
        layout = self.layout
        shape = layout.shape(block)
        if block.tag in HEADINGS:
            points.append(("heading", 0.05))
        if self._has_person_class(block):
            points.append(("class for people", 0.15))
        if layout.name_shapes[shape] >= 2:
            points.append(("similar lines", 0.12))
            if shape in self.name_slots:
                points.append(("most lines of this shape are names", 0.3))
        if self.is_team_page or layout.is_under_heading(block, TEAM_WORDS):
            points.append(("team page or section", 0.15))
        if (head := layout.column_head(block)) and head != block.text and (is_name_label(head) or is_role(head)):
            points.append(("column of names", 0.45 if is_name_label(head) else 0.3))
        if self._has_own_address(name, block):
            points.append(("address with the name below", 0.35))
        elif self._has_contact_below(block):
            points.append(("contact below", 0.15))

    def _has_person_class(self, block: Block) -> bool:
        if block.node < 0:
            return False
        node = self.document.nodes[block.node]
        parent = self.document.nodes[node.parent].names if node.parent >= 0 else ""
        return _is_person_class(node.names) or _is_person_class(parent)

    @cached_property
    def name_slots(self) -> set[Shape]:
        """The shapes whose lines are mostly names: many known ones, or many with a role beside them."""
        evidence: dict[Shape, list[int]] = {}
        for index, candidate in self.layout.names.items():
            block = self.blocks[index]
            is_known = candidate.name.score >= (0.3 if candidate.name.text[0].isupper() else 0.1)
            has_role = bool(candidate.role and candidate.is_known_role) or bool(self.role_beside(block))
            counts = evidence.setdefault(self.layout.shape(block), [0, 0, 0])
            counts[0] += 1
            counts[1] += int(is_known)
            counts[2] += int(has_role)
        slots = set()
        for shape, (names, known, roles) in evidence.items():
            is_mostly_names = names >= 2 and names >= 0.6 * self.layout.line_shapes[shape]
            if is_mostly_names and (known >= max(1, names * 0.4) or roles >= max(2, names * 0.5)):
                slots.add(shape)
        return slots

    def role_beside(self, block: Block) -> str:
        """Return the role on the line after the name or before it, or ""."""
        known = self._roles.get(block.index)
        if known is None:
            known = self._roles[block.index] = self._find_role_beside(block)
        return known

    def _find_role_beside(self, block: Block) -> str:
        layout = self.layout
        before = layout.neighbour(block, -1)
        is_term = block.tag == "dd" and before is not None and before.tag == "dt"
        if before is not None and is_term and len(before.text) <= MAX_ROLE_BEFORE and is_role(before.text):
            return before.text  # in a list of terms; the line below is the role of the next person
        after = self._line_below(block)
        if block.tag == "li" and after is not None and after.tag == "li" and after.node != block.node:
            return ""  # the next item of a list is not the role of this one
        below = self._role_of(after) if after is not None else ""
        above = ""
        if before is not None and len(before.text) <= MAX_ROLE_BEFORE and layout.is_in_own_card(block, before):
            above = self._role_of(before) if len(before.text.split()) <= MAX_HEADING_WORDS + 1 else ""
        if below and after is not None and layout.is_in_own_card(block, after):
            if above and before is not None and self._roles_precede(block, before):
                return above
            if not self._begins_next(block, after):
                return below
        if not above or before is None:
            return ""
        if before.index - 1 in layout.names and layout.is_in_own_card(self.blocks[before.index - 1], before):
            return above if self._roles_precede(block, before) else ""  # else the role of the name above
        if before.tag in SECTION_TAGS and not TEAM_WORDS.isdisjoint(folded_words(before.text)):
            return ""  # Our doctors: the heading of a list of people
        return above

    def _begins_next(self, block: Block, after: Block) -> bool:
        """Return whether a heading below a name is that of the next name or of another section."""
        if after.tag not in HEADINGS or block.tag in HEADINGS:
            return False
        above = self.layout.heading_above(block)
        return after.index + 1 in self.layout.names or (above is not None and above.tag == after.tag)

    def _line_below(self, block: Block) -> Block | None:
        """Return the line below the name, or the next one if it has only degrees."""
        after = self.layout.neighbour(block, 1)
        if after is not None and is_credential_line(after.text):
            after = self.layout.neighbour(after, 1)
        return after if after is not None and len(after.text) <= MAX_ROLE_LINE else None

    def _roles_precede(self, block: Block, before: Block) -> bool:
        """Return whether a run of alternating lines begins with a role: role, name, role, name."""
        names, index = self.layout.names, block.index
        if self.layout.shape(before)[0] in SECTION_TAGS and before.index - 1 not in names:
            return False  # the heading of the section
        while index - 2 in names and index - 1 not in names:
            index -= 2
        if index < 1 or not self._role_of(self.blocks[index - 1]):
            return False
        last = block.index
        while last + 2 in names and last + 1 not in names:
            last += 2
        below = self._line_below(self.blocks[last])
        return last > index and (below is None or not self._role_of(below))

    def _role_of(self, line: Block) -> str:
        """Return the role that a line names, without the texts of its links: Director [Email James]."""
        role = role_text(line.text)
        shown = self.link_texts.get(line.index)
        if shown and len(line.parts) > 1:
            own = " ".join([part for part in line.parts if part not in shown])
            role = own if is_role(own) else role
        return role if is_role(role) and not is_sentence(role) else ""

    @cached_property
    def link_texts(self) -> dict[int, set[str]]:
        """The texts of the links by block."""
        shown: dict[int, set[str]] = {}
        for link in self.document.links:
            shown.setdefault(link.block, set()).add(link.text)
        return shown

    def role_of_heading(self, block: Block) -> str:
        """Return the role in the heading or label above a name or a list of names: Ledamöter: Erik Lund, Sara Holm."""
        if len(block.text) > MAX_LINE:
            return ""
        head = self.layout.column_head(block)
        if head and head != block.text and is_role(head) and not is_sentence(head):
            return head
        for index in range(block.index - 1, max(-1, block.index - MAX_LIST), -1):
            line = self.blocks[index]
            if index in self.layout.names or index in self.phone_blocks or "@" in line.text:
                continue
            is_label = line.tag in HEADINGS or line.text.endswith((":", "："))
            text = line.text.strip(" :：")
            words = folded_words(text)
            if not is_label or not 1 <= len(words) <= MAX_HEADING_WORDS or not is_role(text) or is_sentence(text):
                return ""
            if line.tag == "h1" or not TEAM_WORDS.isdisjoint(words) or _is_title_of_above(self.layout, line, block):
                return ""
            return text
        return ""

    def _biography_below(self, block: Block) -> str:
        """Return the role that the first sentence of a text below the name gives, or ""."""
        after = self.layout.neighbour(block, 1)
        if after is None or not (len(after.text) > MAX_ROLE_LINE or is_sentence(after.text)):
            return ""
        return first_clause(after.text)

    def _has_contact_below(self, block: Block) -> bool:
        """Return whether an address or a number is in the next two blocks."""
        return any(
            other.index in self.phone_blocks or "@" in other.text or POSTAL_CODE.search(other.text)
            for other in self.blocks[block.index + 1 : block.index + 3]
        )

    def _has_own_address(self, name: Name, block: Block) -> bool:
        """Return whether an address with a word of the name follows: Kincső Zsurzsa, zsurzsa@labor.example."""
        words = {plain for word in name.words if len(plain := fold(word)) > 2}
        if not words:
            return False
        for line in self.blocks[block.index : block.index + 6]:
            if line.index != block.index and line.index in self.layout.names:
                break
            if "@" in line.text:
                for address in EMAIL.findall(line.text.lower()):
                    if not words.isdisjoint(LOCAL_WORD.split(str(address).partition("@")[0])):
                        return True
        return False

    def _role_clause_behind(self, block: Block, name: Name) -> str:
        """Return the clause behind a name in running text, if it names a role."""
        at = block.text.find(name.text)
        if at < 0:
            return ""
        rest = block.text[at + len(name.text) :].lstrip(" ,–-(:")
        clause = CLAUSE.match(rest)
        if clause is None or not is_role(clause[0][:60]):
            return ""
        return clause[0].strip() if not is_sentence(clause[0]) else ""

    # -- titles by their place ----------------------------------------------------------------------------------------

    def learn_title_slots(self, people: list[tuple[Block, str]]) -> None:
        """Learn from the people found where titles stand on this page: how far below a name, in which shape."""
        known: Counter[Slot] = Counter()
        lines: dict[Slot, list[str]] = {}
        for block, title in people:
            for offset, line in enumerate(self.layout.card_lines(block, 3), 1):
                slot = Slot(self.layout.shape(block), offset, self.layout.shape(line))
                lines.setdefault(slot, []).append(line.text)
                known[slot] += bool(title) and title in line.text
        self.title_slots = {slot for slot, texts in lines.items() if self._is_title_slot(slot, texts, known[slot])}

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
        return is_named or (slot.offset == 1 and len(set(texts)) > max(1, len(texts) // 2) and len(texts) > 2)

    def title_by_slot(self, block: Block) -> str:
        """Return the line in a slot of titles below a name, or ""."""
        for offset, line in enumerate(self.layout.card_lines(block, 3), 1):
            slot = Slot(self.layout.shape(block), offset, self.layout.shape(line))
            if slot in self.title_slots and is_title_line(line.text) and self._is_no_link(line):
                return role_text(line.text)
        return ""

    def _is_no_link(self, line: Block) -> bool:
        return line.text not in self.link_texts.get(line.index, ())

    # -- evidence against one -----------------------------------------------------------------------------------------

    def rejection_reason(self, candidate: NameCandidate, block: Block, has_title: bool) -> str:
        """Return why a likely name is not one of the business's people, or ""."""
        if "quote" in block.zones or self.layout.is_under_heading(block, REVIEW_WORDS):
            return "a customer's voice"
        if candidate.is_whole and self._is_beside_quote(block, has_title):
            return "a customer's voice"
        near = self.blocks[max(0, block.index - 2) : block.index + 4]
        if self.has_dummy_text and any(_is_dummy(other.text) for other in near):
            return "template leftover"
        if len(block.text) < 200 and not CREDIT_WORDS.isdisjoint(folded_words(block.text)):
            return "a credit"
        if not candidate.is_whole and self._is_in_biography(candidate, block):
            return "named in the biography of another person"
        return ""

    def _is_in_biography(self, candidate: NameCandidate, block: Block) -> bool:
        """Return whether a name in running text is in a list of courses, or in the text about another person."""
        label = next(
            (
                line
                for line in reversed(self.blocks[max(0, block.index - MAX_LIST) : block.index])
                if line.tag in HEADINGS or line.text.endswith(":")
            ),
            None,
        )
        return label is not None and not EDUCATION_WORDS.isdisjoint(folded_words(label.text))

    @cached_property
    def has_dummy_text(self) -> bool:
        """Whether the page has the dummy text of a template; computed only on pages with people."""
        return _is_dummy(self.document.text)

    def _is_beside_quote(self, block: Block, has_title: bool) -> bool:
        """Return whether a quoted text or stars are beside the name."""
        if _has_stars(block.icons):
            return True
        for other in reversed(self.blocks[max(0, block.index - 2) : block.index]):
            if other.tag in SECTION_TAGS and other.index not in self.layout.names:
                break  # another section begins between them
            if not self.layout.is_in_own_card(block, other):
                break
            if _has_stars(other.text) or _has_stars(other.icons):
                return True
            if len(other.text) > 40 and QUOTE_MARKS.match(other.text):
                return not (has_title and self._is_motto_of_above(other))
        return any(
            QUOTE_MARKS.match(other.text) and other.index not in self.layout.names
            for other in self.blocks[block.index + 1 : block.index + 2]
        )

    def _is_motto_of_above(self, quote: Block) -> bool:
        """Return whether a quoted text follows the name and the role of another person."""
        return any(index in self.layout.names for index in range(max(0, quote.index - 2), quote.index))


def _is_title_of_above(layout: PageLayout, line: Block, block: Block) -> bool:
    """Return whether a heading between two names is the title of the one above it."""
    above = line.index - 1
    if line.text.endswith((":", "：")) or (line.tag in SECTION_TAGS and block.tag not in SECTION_TAGS):
        return False  # a label or a heading of what follows
    return above in layout.names and layout.shape(layout.blocks[above]) == layout.shape(block)


@lru_cache(1024)
def _is_dummy(text: str) -> bool:
    words = text.lower()
    if "lorem ipsum" in words:
        return True
    return ("dolor" in words or "tempor" in words or "vestibulum" in words) and len(
        DUMMY_WORDS.intersection(words.split())
    ) >= 3


def _has_stars(text: str) -> bool:
    # Five substring searches in C, before a pattern that would be tried at every letter.
    may_have = "star" in text or "rating" in text or "★" in text or "☆" in text or "⭐" in text
    return may_have and STARS.search(text) is not None


@lru_cache(4096)
def _is_person_class(names: str) -> bool:
    return bool(names) and PERSON_CLASS.search(names) is not None


@lru_cache(4096)
def _is_role_class(names: str) -> bool:
    return bool(names) and ROLE_CLASS.search(names) is not None
