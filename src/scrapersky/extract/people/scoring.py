"""The score of a name candidate on its page: a role beside it, similar cards, a team page; or a review, a credit."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.emails.deobfuscate import EMAIL
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import (
    is_group_heading,
    is_name_label,
    is_offer_heading,
    is_review_heading,
    is_team_heading,
)
from scrapersky.extract.people.layout import MAX_LINE, NAME_TAGS, SECTION_TAGS, PageLayout, Shape, Slot
from scrapersky.extract.people.names import is_credential_line, is_role
from scrapersky.extract.people.roles import (
    CLAUSE,
    first_clause,
    is_customer,
    is_education_line,
    is_role_label,
    is_sentence,
    is_title_line,
    labelled_role,
    role_in_sentence,
    role_text,
)
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import load_table, load_words

CREDIT_WORDS = load_words("people", "credits")
EDUCATION_WORDS = load_words("people", "education")
LEARNED_WORDS = EDUCATION_WORDS | load_words("people", "education", "learned")
DUMMY_WORDS = load_words("people", "dummy")
DUMMY_PHRASES = tuple(load_table("people")["dummy"]["phrases"])
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

PRICE = re.compile(r"\d\s?(?:[€£$₽₹¥₺₴]|zł|Kč|kr|Ft|lei|руб|eur|usd|chf)(?!\w)|[€£$₹¥]\s?\d|R\$\s?\d", re.I)
HIDDEN_AT = re.compile(r"[\[({]\s?(?:at|ät)\s?[\])}]", re.I)
LOCAL_WORD = re.compile(r"[._+-]")
LIFE = re.compile(r"\(\s?[*°]?\s?1[5-9]\d\d\s?[–—-]\s?[†+]?\s?(?:1[5-9]|20)\d\d\s?\)|†")  # (1931–2009)
DUMMY_WORD = re.compile(r"[a-z]{4,30}")
MIN_DUMMY_WORDS = 3
MIN_DUMMY = 20  # characters of a dummy text
MIN_PART = 4  # letters of a name inside an address
MAX_BEFORE_TEACHER = 90
MIN_REVIEW = 40
MAX_GAP = 2  # lines between two names of a list
LABEL_SIGNS = (":", " :", "：", " ：")
KNOWN = 0.3  # the score of a known given name

Points = list[tuple[str, float]]


class NameScorer:
    """Scores the names of one page; needs all candidates to see which are similar."""

    def __init__(self, document: Document, candidates: list[tuple[NameCandidate, Block]]) -> None:
        self.document = document
        self.blocks = document.blocks
        self.layout = PageLayout(document, candidates)
        self.phone_blocks = self.layout.phone_blocks
        self.is_team_page = is_team_heading(document.title)
        self._roles: dict[int, str] = {}
        self._preceding: dict[Shape, bool] = {}

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
        if role and candidate.is_known_role and (len(name.words) > 1 or name.title):
            # Owner: Jane Roe is stronger evidence than a role on the next line.
            is_label = any(f"{role}{sign}" in block.text for sign in LABEL_SIGNS)
            points.append(("role on the line", 0.75 if is_label else 0.5))
            title = role_in_sentence(role) if is_sentence(role) else role
        elif title := self.role_beside(block):
            is_label = self._is_behind_label(block, title)
            points.append(("role as label", 0.55) if is_label else ("role beside", 0.35))
        elif role and self._is_unknown_role(candidate, block):
            points.append(("a label beside the name", 0.1))
            title = role
        elif title := self.role_of_heading(block):
            points.append(("heading is a role", 0.4 if is_role(title) else 0.0))
        elif name.score >= 0.2 and (title := self._biography_below(block)):
            points.append(("role in the text below", 0.2))
        self._score_place(name, block, points)
        return title

    def _is_unknown_role(self, candidate: NameCandidate, block: Block) -> bool:
        """Return whether a text of no list is a role: it labels the name, or stands where others have theirs."""
        is_label = block.text.find(candidate.role) < block.text.find(candidate.name.text)
        return is_label or self.layout.shape(block) in self.shapes_with_roles

    def roles_among_names(self) -> set[int]:
        """Return the lines taken for names that are roles: of no known word, below a name of a slot, in no slot."""
        names = self.layout.names
        unknown = [i for i, one in names.items() if one.name.score < 0 and not one.role and i - 1 in names]
        slots = self.slot_names if unknown else ()
        return {
            index
            for index in unknown
            if index not in slots
            and index - 1 in slots
            and self.layout.shape(self.blocks[index]) != self.layout.shape(self.blocks[index - 1])
            and self.layout.is_in_own_card(self.blocks[index - 1], self.blocks[index])
        }

    # -- evidence for a person ----------------------------------------------------------------------------------------

    def _score_place(self, name: Name, block: Block, points: Points) -> None:
        """Score the place of a block: a heading, a class for people, similar blocks, a team page, contacts below."""
        layout = self.layout
        shape = layout.shape(block)
        if block.tag in HEADINGS:
            points.append(("heading", 0.1 if block.tag in NAME_TAGS else 0.05))
        if self._has_person_class(block):
            points.append(("class for people", 0.15))
        if layout.name_shapes[shape] >= 2:
            points.append(("similar lines", 0.12))
            if block.index in self.slot_names:
                points.append(("most lines of this shape are names", 0.3))
        if layout.is_under_heading(block, is_team_heading):
            points.append(("team section", 0.25 if block.index in self.slot_names else 0.15))
        elif self.is_team_page:
            points.append(("team page", 0.15))
        if self._is_told_below(name, block):
            points.append(("text about the given name below", 0.2))
        if name.score < KNOWN and layout.is_under_heading(block, is_offer_heading):
            points.append(("section of services", -0.3))
        if name.score < KNOWN and (below := layout.neighbour(block, 1)) is not None and PRICE.search(below.text):
            points.append(("price below", -0.3))
        if (head := layout.column_head(block)) and head != block.text and (is_name_label(head) or is_role(head)):
            points.append(("column of names", 0.45 if is_name_label(head) else 0.3))
        elif (label := layout.neighbour(block, -1)) is not None and _is_label(label) and is_name_label(label.text):
            points.append(("label of names", 0.45))
        if self._has_own_address(name, block):
            points.append(("address with the name below", 0.35))
        elif self._has_contact_below(block):
            points.append(("contact below", 0.2))

    def is_in_team(self, block: Block) -> bool:
        """Return whether the page or the section of the block is about people of the business."""
        return self.is_team_page or self.layout.is_under_heading(block, is_team_heading)

    def _is_told_below(self, name: Name, block: Block) -> bool:
        """Return whether the text below calls the person by the given name: Jane Roe, Jane trained in Leeds."""
        after = self.layout.neighbour(block, 1) if len(name.words) > 1 and name.score >= KNOWN else None
        if after is None or len(after.text) < MIN_REVIEW:
            return False
        given, _, family = name.text.partition(" ")
        return f"{given} " in after.text[:MAX_BEFORE_TEACHER] and family not in after.text[:MAX_BEFORE_TEACHER]

    def _has_person_class(self, block: Block) -> bool:
        if block.node < 0:
            return False
        node = self.document.nodes[block.node]
        parent = self.document.nodes[node.parent].names if node.parent >= 0 else ""
        return _is_person_class(node.names) or _is_person_class(parent)

    @cached_property
    def slot_names(self) -> set[int]:
        """The names in slots of names: lines of one shape that are mostly names, lists of names in a team section."""
        groups: dict[Shape, list[int]] = {}
        for index in self.layout.name_indexes:
            groups.setdefault(self.layout.shape(self.blocks[index]), []).append(index)
        found: set[int] = set()
        for shape, indexes in groups.items():
            if len(indexes) > 1 and self._are_mostly_names(shape, indexes):
                found.update(indexes)
            elif len(indexes) > 2:
                listed = self._names_in_team_list(indexes)
                known = sum(_is_known(self.layout.names[index].name) for index in listed)
                found.update(listed if known * 3 >= len(listed) else ())
        return found

    def _are_mostly_names(self, shape: Shape, indexes: list[int]) -> bool:
        """Return whether most lines of a shape are names, and most of these are known or have a role or an address."""
        count = len(indexes)
        if count < 0.6 * self.layout.line_shapes[shape]:
            return False
        known = [index for index in indexes if _is_known(self.layout.names[index].name)]
        if len(known) >= max(1, 0.4 * count):
            return True
        if not known and not self.is_in_team(self.blocks[indexes[0]]):
            return False
        if len(set(known).union(filter(self._has_role_or_address, indexes))) >= max(2, 0.5 * count):
            return True
        is_list = count == self.layout.line_shapes[shape] and self._names_in_team_list(indexes) == indexes
        return is_list and (count > 2 or all(self._has_contact_below(self.blocks[index]) for index in indexes))

    def _names_in_team_list(self, indexes: list[int]) -> list[int]:
        """Return the names below a team heading, if each follows the one before after a few lines."""
        found = [i for i in indexes if self.layout.is_under_heading(self.blocks[i], is_team_heading)]
        gaps = [
            sum(line not in self.phone_blocks and "@" not in self.blocks[line].text for line in range(one + 1, other))
            for one, other in pairwise(found)
        ]
        return found if all(gap <= MAX_GAP for gap in gaps) else []

    def _has_role_or_address(self, index: int) -> bool:
        candidate, block = self.layout.names[index], self.blocks[index]
        if candidate.role and candidate.is_known_role:
            return True
        return bool(self.role_beside(block)) or self._has_own_address(candidate.name, block)

    @cached_property
    def shapes_with_roles(self) -> set[Shape]:
        """The shapes of lines in which a known role stands behind a name."""
        return {
            self.layout.shape(self.blocks[index])
            for index, candidate in self.layout.names.items()
            if candidate.role and candidate.is_known_role
        }

    def _has_role(self, index: int) -> bool:
        candidate = self.layout.names[index]
        return bool(candidate.role and candidate.is_known_role) or bool(self.role_beside(self.blocks[index]))

    def _is_in_team_section(self, indexes: list[int]) -> bool:
        return all(self.layout.is_under_heading(self.blocks[index], is_team_heading) for index in indexes)

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
        if labelled := next(filter(None, (labelled_role(line.text) for line in layout.card_lines(block, 4))), ""):
            return labelled
        after = self._line_below(block)
        if block.tag == "li" and after is not None and after.tag == "li" and after.node != block.node:
            return ""  # the next item of a list is not the role of this one
        if after is not None and is_role_label(self.blocks[after.index - 1].text):
            return role_text(after.text)
        below = self._role_of(after) if after is not None else ""
        above = ""
        if before is not None and len(before.text) <= MAX_ROLE_BEFORE and layout.is_in_own_card(block, before):
            above = self._role_of(before) if len(before.text.split()) <= MAX_HEADING_WORDS + 1 else ""
        if below and after is not None and layout.is_in_own_card(block, after):
            is_heading = before is not None and before.tag in HEADINGS and block.tag not in HEADINGS
            if above and not is_heading and self._roles_precede(block):
                return above
            if not self._begins_next(block, after):
                return below
        if not above or before is None:
            return ""
        if before.index - 1 in layout.names and layout.is_in_own_card(self.blocks[before.index - 1], before):
            return above if self._roles_precede(block) else ""  # else the role of the name above
        if before.tag == "h1" or (before.tag in HEADINGS and is_group_heading(before.text)):
            return ""  # Our doctors: the heading of a list of people
        return above

    def _is_behind_label(self, block: Block, title: str) -> bool:
        """Return whether the role labels the name: <dt> or <th> before it, or a line that ends with a colon."""
        before = self.layout.neighbour(block, -1)
        return before is not None and title in before.text and _is_label(before)

    def _begins_next(self, block: Block, after: Block) -> bool:
        """Return whether a heading below a name is that of the next name or of another section."""
        if after.tag not in HEADINGS or (block.tag in HEADINGS and not _is_higher(after.tag, block.tag)):
            return False
        if block.tag in HEADINGS:
            return True
        above = self.layout.heading_above(block)
        return after.index + 1 in self.layout.names or (above is not None and above.tag == after.tag)

    def _line_below(self, block: Block) -> Block | None:
        """Return the line below the name, behind a line of degrees or studies and behind a label of roles."""
        after = self.layout.neighbour(block, 1)
        if after is not None and is_education_line(after.text):
            after = self.layout.neighbour(after, 1)
        if after is not None and is_role_label(after.text):
            after = self.layout.neighbour(after, 1)
        return after if after is not None and len(after.text) <= MAX_ROLE_LINE else None

    def _roles_precede(self, block: Block) -> bool:
        """Return whether more names of this shape have a role above them than below them: role, name, role, name."""
        shape = self.layout.shape(block)
        known = self._preceding.get(shape)
        if known is None:
            same = [self.blocks[index] for index in self.layout.names if self.layout.shape(self.blocks[index]) == shape]
            above = sum(self._has_role_at(one, -1) for one in same)
            known = self._preceding[shape] = above > sum(self._has_role_at(one, 1) for one in same)
        return known

    def _has_role_at(self, block: Block, step: int) -> bool:
        line = self._line_below(block) if step > 0 else self.layout.neighbour(block, -1)
        if line is None or len(line.text) > MAX_ROLE_BEFORE or not self._role_of(line):
            return False
        is_of_list = line.tag in SECTION_TAGS and (
            block.tag not in SECTION_TAGS or line.tag == "h1" or is_group_heading(line.text)
        )
        return not is_of_list and self.layout.is_in_own_card(block, line)

    def _role_of(self, line: Block) -> str:
        """Return the role that a line names, without its degrees and the texts of its links: Director [Email James]."""
        if HIDDEN_AT.search(line.text) is not None:
            return ""  # kontakt(at)maler.example is no painter
        role = role_text(line.text)
        if len(line.parts) > 1:
            shown = self.link_texts.get(line.index, ())
            own = " ".join([part for part in line.parts if part not in shown and not is_credential_line(part)])
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
            is_label = line.tag in HEADINGS or line.text.endswith((":", "：")) or self._is_role_of_first(line)
            text = line.text.strip(" :：")
            words = folded_words(text)
            if not is_label or not 1 <= len(words) <= MAX_HEADING_WORDS or is_sentence(text):
                return ""
            if not is_role(text) and line.tag not in self.tags_of_role_headings:
                return ""
            if block.tag in NAME_TAGS and not _is_higher(line.tag, block.tag):
                return ""  # the heading of another section
            if line.tag == "h1" or is_group_heading(text):
                return ""
            if _is_title_of_above(self.layout, line, block) and not self._roles_precede(block):
                return ""
            return text
        return ""

    @cached_property
    def tags_of_role_headings(self) -> set[str]:
        """The ranks of headings that are mostly roles where a name follows: Notaires, Clercs, Comptabilité."""
        above = [self.blocks[index - 1] for index in self.layout.names if index]
        found: dict[str, list[bool]] = {}
        for line in above:
            if line.tag in NAME_TAGS and line.tag != "h1" and line.index not in self.layout.names:
                found.setdefault(line.tag, []).append(is_role(line.text) and not is_group_heading(line.text))
        return {tag for tag, roles in found.items() if len(roles) > 1 and sum(roles) * 2 >= len(roles)}

    def _is_role_of_first(self, line: Block) -> bool:
        """Return whether a plain line is the role of the name below it: Members, Jane Roe, John Doe."""
        return line.index + 1 in self.layout.names and (
            self.role_beside(self.blocks[line.index + 1]) == role_text(line.text)
        )

    def _biography_below(self, block: Block) -> str:
        """Return the role that the first sentence of a text below the name gives, or ""."""
        after = self.layout.neighbour(block, 1)
        if after is None or not (len(after.text) > MAX_ROLE_LINE or is_sentence(after.text)):
            return ""
        return first_clause(after.text)

    def _has_contact_below(self, block: Block) -> bool:
        """Return whether an address or a number is on the line or in the next two."""
        return any(
            other.index in self.phone_blocks
            or "@" in other.text
            or (POSTAL_CODE.search(other.text) and "©" not in other.text)
            for other in self.blocks[block.index : block.index + 3]
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
                    local = str(address).partition("@")[0]
                    if not words.isdisjoint(LOCAL_WORD.split(local)) or any(
                        len(word) > MIN_PART and word in local for word in words
                    ):
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
            for slot, line in self._slots(block):
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
        for slot, line in self._slots(block):
            if line.tag in SECTION_TAGS and block.tag not in SECTION_TAGS:
                continue  # the heading of another section
            if slot in self.title_slots and is_title_line(line.text) and self._is_no_link(line):
                return role_text(line.text)
        return ""

    def _slots(self, block: Block) -> Iterator[tuple[Slot, Block]]:
        """Yield the lines around a name in which its title may stand: three below it, one above it."""
        shape, layout = self.layout.shape(block), self.layout
        for offset, line in enumerate(layout.card_lines(block, 3), 1):
            yield Slot(shape, offset, layout.shape(line)), line
        above = layout.neighbour(block, -1)
        if above is not None and layout.is_in_own_card(block, above):
            yield Slot(shape, -1, layout.shape(above)), above

    def _is_no_link(self, line: Block) -> bool:
        return line.text not in self.link_texts.get(line.index, ())

    # -- evidence against one -----------------------------------------------------------------------------------------

    def rejection_reason(self, candidate: NameCandidate, block: Block, has_title: bool) -> str:
        """Return why a likely name is not one of the business's people, or ""."""
        if "quote" in block.zones or self.layout.is_under_heading(block, is_review_heading):
            return "a customer's voice"
        if candidate.is_whole and self._is_customer(candidate, block, has_title):
            return "a customer's voice"
        near = self.blocks[max(0, block.index - 2) : block.index + 4]
        if any(len(other.text) > MIN_DUMMY and _is_dummy(other.text) for other in near):
            return "template leftover"
        if len(block.text) < 200 and not CREDIT_WORDS.isdisjoint(folded_words(block.text)):
            return "a credit"
        if candidate.is_whole and (LIFE.search(block.text) is not None or self._is_under_cross(block)):
            return "a person of the past"
        if not candidate.is_whole and _is_teacher(candidate, block):
            return "named in the biography of another person"
        if (not candidate.is_whole or block.tag not in HEADINGS) and self._is_in_biography(candidate, block):
            return "named in the biography of another person"
        return ""

    def _is_under_cross(self, block: Block) -> bool:
        heading = self.layout.heading_above(block)
        return heading is not None and "†" in heading.text

    def _is_in_biography(self, candidate: NameCandidate, block: Block) -> bool:
        """Return whether a name is in a list of courses or, in running text, in the section of another person."""
        nearest = ""  # the highest heading between
        for line in reversed(self.blocks[max(0, block.index - MAX_LIST) : block.index]):
            other = self.layout.names.get(line.index)
            if other is not None and other.name.score >= KNOWN and other.name.text != candidate.name.text:
                is_above = line.tag not in NAME_TAGS or not nearest or line.tag < nearest
                return is_above and not candidate.is_whole
            if line.tag in HEADINGS or line.text.endswith(":"):
                if not EDUCATION_WORDS.isdisjoint(folded_words(line.text)):
                    return True
                if candidate.is_whole or line.tag == "h1":
                    return False
                nearest = min(nearest, line.tag) if nearest else line.tag
        return False

    def _is_customer(self, candidate: NameCandidate, block: Block, has_title: bool) -> bool:
        """Return whether a name is that of a customer: called one, below a text, beside a quoted text or stars."""
        if is_customer(candidate.role) or any(is_customer(line.text) for line in self.layout.card_lines(block, 2)):
            return True
        if self.is_in_team(block) and (has_title or block.index in self.slot_names):
            return False
        return self._is_beside_quote(block, has_title) or self._is_below_text(block)

    def _is_below_text(self, block: Block) -> bool:
        """Return whether a text stands above the name in a card: in reviews the text is first."""
        if self.layout.name_shapes[self.layout.shape(block)] < 2:
            return False
        above = self.layout.lines_above_in_card(block)
        return any(len(line.text) >= MIN_REVIEW and is_sentence(line.text) for line in above)

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


def _is_teacher(candidate: NameCandidate, block: Block) -> bool:
    """Return whether the words before a name in running text say that somebody has learned from it."""
    before = block.text[: max(0, block.text.find(candidate.name.text))][-MAX_BEFORE_TEACHER:]
    return not LEARNED_WORDS.isdisjoint(folded_words(before.rpartition(". ")[2] or before))


@lru_cache(1024)
def _is_dummy(text: str) -> bool:
    lowered = text.lower()
    if any(phrase in lowered for phrase in DUMMY_PHRASES):
        return True
    return len(DUMMY_WORDS.intersection(DUMMY_WORD.findall(lowered))) >= MIN_DUMMY_WORDS


def _has_stars(text: str) -> bool:
    # Five substring searches in C, before a pattern that would be tried at every letter.
    may_have = "star" in text or "rating" in text or "★" in text or "☆" in text or "⭐" in text
    return may_have and STARS.search(text) is not None


def _is_label(line: Block) -> bool:
    return line.tag in ("dt", "th") or line.text.endswith((":", "："))


def _is_higher(tag: str, other: str) -> bool:
    """Return whether a heading has a higher rank than another: <h2> than <h4>."""
    return tag in SECTION_TAGS and other in NAME_TAGS and tag < other


def _is_known(name: Name) -> bool:
    return name.score >= (KNOWN if name.text[0].isupper() else 0.1)


@lru_cache(4096)
def _is_person_class(names: str) -> bool:
    return bool(names) and PERSON_CLASS.search(names) is not None


@lru_cache(4096)
def _is_role_class(names: str) -> bool:
    return bool(names) and ROLE_CLASS.search(names) is not None
