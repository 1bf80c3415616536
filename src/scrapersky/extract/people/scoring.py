"""The score of a name candidate on its page: a role beside it, similar cards, a team page; or a review, a credit."""

import re
from bisect import bisect_left
from collections import Counter
from functools import cached_property, lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import SIX_DIGITS, Block, Document
from scrapersky.extract.people.names import Name, NameCandidate, is_role
from scrapersky.extract.word_lists import load_words

TEAM_WORDS = load_words("people", "team")
REVIEW_WORDS = load_words("people", "reviews")
CREDIT_WORDS = load_words("people", "credits")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "strong", "b", "dt", "th", "figcaption"))
SECTION_TAGS = frozenset(("h1", "h2", "h3", "h4"))
MAX_ROLE_LINE = 130
MAX_ROLE_BEFORE = 80
HIDDEN_ADDRESS = "[email"  # Cloudflare writes it in place of a hidden address
CARD_REACH = 8
SECTION_REACH = 40

CLAUSE = re.compile(r"[^.,;:!?()–|]{3,100}")
STARS = re.compile(r"[★⭐☆]|\bfa-star\b|\bstars?\b|\brating\b")
QUOTE_MARKS = re.compile(r"^\s?[\"“„«»”'‘]|^[-–—]\s")
PERSON_CLASS = re.compile(
    r"(?:^|[\s_-])(?:name|person|people|member|staff|team|doctor|attorney|lawyer|speaker|coach|trainer|employee|author|bio|profile|mitarbeiter|equipe|equipo|zespol|portrait|vcard|fn)s?(?:$|[\s_-])|(?:name|member|team|person)\b"
)
# The start of an address, a web site or a number behind a role.
CONTACT_BEHIND_ROLE = re.compile(r"\S{0,80}@|\bwww\.|[+(]?\d(?:\D{0,4}\d){5}")
# The label of a number that was cut off: …, tel. kom.
TRAILING_LABEL = re.compile(
    r"(?:[\s,;|(–-]{1,3}(?:tel|telefon|phone|mob|mobil|mobile|gsm|kom|cell|cel|puh|tlf|tfn|fax|e-?mail|mail|web)\b[.:]{0,2}){1,3}\s?$",
    re.I,
)


class NameScorer:
    """Scores the names of one page; needs the blocks of all names to see which are similar."""

    def __init__(self, document: Document, name_blocks: list[Block]) -> None:
        self.document = document
        self.blocks = document.blocks
        self.shapes = Counter(self._shape(block) for block in name_blocks)
        self.name_blocks = {block.index for block in name_blocks}
        self.phone_blocks = {block.index for block in document.phone_blocks}
        self.is_team_page = not TEAM_WORDS.isdisjoint(folded_words(document.title))
        self.headings = [
            block for block in self.blocks if block.tag in SECTION_TAGS and block.index not in self.name_blocks
        ]
        self.heading_indexes = [block.index for block in self.headings]

    def score(self, candidate: NameCandidate, block: Block) -> tuple[str, float]:
        """Return (title, score): the name's own score plus that of its place."""
        name, role = candidate.name, candidate.role
        score = name.score
        if candidate.is_whole:
            title = role or self._role_beside(block)
            if role and (len(name.words) > 1 or name.title):
                # Owner: Jane Roe is stronger evidence than a role on the next line.
                score += 0.75 if f"{role}:" in block.text else 0.5
            elif title:
                score += 0.35
            elif score < 0:
                return "", 0.0  # neither a known name nor a role
            elif title := self._biography_below(block):
                score += 0.2
            score += self._place_score(block)
        elif role:
            title = role
            score += 0.3
        else:
            title = self._role_clause_behind(block, name)
            score += 0.4 if title and name.title else 0.0  # Mr. John Roe, partner
        if "nav" in block.zones:
            score -= 0.5
        if "footer" in block.zones:
            score -= 0.15
        if "form" in block.zones or "hidden" in block.zones:
            score -= 0.1
        return _role_text(title), score

    # -- evidence for a person ----------------------------------------------------------------------------------------

    def _place_score(self, block: Block) -> float:
        """Score the place of a block: a heading, a class for people, similar blocks, a team page, contacts below."""
        score = 0.0
        if block.tag in HEADINGS:
            score += 0.05
        if block.node >= 0:
            node = self.document.nodes[block.node]
            parent = self.document.nodes[node.parent].names if node.parent >= 0 else ""
            if _is_person_class(node.names) or _is_person_class(parent):
                score += 0.15
        if self.shapes[self._shape(block)] >= 2:
            score += 0.12
        if self.is_team_page or self._is_under_heading(block, TEAM_WORDS):
            score += 0.15
        if self._has_contact_below(block):
            score += 0.15
        return score

    def _shape(self, block: Block) -> tuple[str, str, str]:
        if block.node < 0:
            return ("", "", "")
        node = self.document.nodes[block.node]
        parent = self.document.nodes[node.parent] if node.parent >= 0 else node
        return (node.tag, node.names, parent.names)

    def _role_beside(self, block: Block) -> str:
        """Return the role on the line after the name or before it, or ""."""
        before = self._neighbour(block, -1)
        is_term = block.tag == "dd" and before is not None and before.tag == "dt"
        if before is not None and is_term and len(before.text) <= MAX_ROLE_BEFORE and is_role(before.text):
            return before.text  # in a list of terms; the line below is the role of the next person
        after = self._neighbour(block, 1)
        if block.tag == "li" and after is not None and after.tag == "li" and after.node != block.node:
            return ""  # the next item of a list is not the role of this one
        role = self._role_of(after) if after is not None and len(after.text) <= MAX_ROLE_LINE else ""
        if after is not None and role and self._is_in_own_card(block, after):
            return role
        role = self._role_of(before) if before is not None and len(before.text) <= MAX_ROLE_BEFORE else ""
        if before is None or not role:
            return ""
        above = before.index - 1
        if above in self.name_blocks and self._is_in_own_card(self.blocks[above], before):
            return ""  # between two names it is the role of the one above
        if block.tag == "li" and before.tag in SECTION_TAGS and not TEAM_WORDS.isdisjoint(folded_words(before.text)):
            return ""  # Our doctors: the heading of a list of people
        return role if self._is_in_own_card(block, before) else ""

    def _role_of(self, line: Block) -> str:
        """Return the role that a line names, without the texts of its links: Director [Email James]."""
        role = _role_text(line.text)
        shown = self.link_texts.get(line.index)
        if shown and len(line.parts) > 1:
            own = " ".join([part for part in line.parts if part not in shown])
            role = own if is_role(own) else role
        return role if is_role(role) else ""

    @cached_property
    def link_texts(self) -> dict[int, set[str]]:
        """The texts of the links by block."""
        shown: dict[int, set[str]] = {}
        for link in self.document.links:
            shown.setdefault(link.block, set()).add(link.text)
        return shown

    def _is_in_own_card(self, block: Block, line: Block) -> bool:
        """Return whether a line near a name is not in the card of another name."""
        around = {node.index for node in self.document.with_ancestors(block.node)}
        branch = -1  # the outermost element around the line that is not around the name
        for node in self.document.with_ancestors(line.node):
            if node.index in around:
                break
            branch = node.index
        near = range(line.index - CARD_REACH, line.index + CARD_REACH)
        return branch < 0 or not any(
            index in self.name_blocks and self.document.is_inside(index, branch) for index in near
        )

    def _neighbour(self, block: Block, step: int) -> Block | None:
        index = block.index + step
        if not 0 <= index < len(self.blocks) or index in self.name_blocks:
            return None
        other = self.blocks[index]
        here = self.document.nodes[block.node].depth if block.node >= 0 else 0
        there = self.document.nodes[other.node].depth if other.node >= 0 else 0
        return other if abs(here - there) <= 3 else None

    def _biography_below(self, block: Block) -> str:
        """Return the first clause of a longer text below the name, if it names a role."""
        after = self._neighbour(block, 1)
        if after is None or len(after.text) <= MAX_ROLE_LINE:
            return ""
        clause = CLAUSE.match(after.text)
        return clause[0].strip() if clause is not None and is_role(clause[0]) else ""

    def _has_contact_below(self, block: Block) -> bool:
        """Return whether an address or a number is in the next two blocks."""
        return any(
            other.index in self.phone_blocks or "@" in other.text
            for other in self.blocks[block.index + 1 : block.index + 3]
        )

    def _role_clause_behind(self, block: Block, name: Name) -> str:
        """Return the clause behind a name in running text, if it names a role."""
        at = block.text.find(name.text)
        if at < 0:
            return ""
        rest = block.text[at + len(name.text) :].lstrip(" ,–-(:")
        clause = CLAUSE.match(rest)
        return clause[0].strip() if clause is not None and is_role(clause[0][:60]) else ""

    # -- evidence against one -----------------------------------------------------------------------------------------

    def rejection_reason(self, block: Block, is_whole: bool) -> str:
        """Return why a likely name is not one of the business's people, or ""."""
        is_quoted = "quote" in block.zones or self._is_under_heading(block, REVIEW_WORDS)
        if is_quoted or (is_whole and self._is_beside_quote(block)):
            return "a customer's voice"
        near = self.blocks[max(0, block.index - 2) : block.index + 4]
        if self.has_dummy_text and any("lorem ipsum" in other.text.lower() for other in near):
            return "template leftover"
        if len(block.text) < 200 and not CREDIT_WORDS.isdisjoint(folded_words(block.text)):
            return "a credit"
        return ""

    @cached_property
    def has_dummy_text(self) -> bool:
        """Whether the page has the dummy text of a template; computed only on pages with people."""
        text = self.document.text
        return ("ipsum" in text or "IPSUM" in text or "Ipsum" in text) and "lorem ipsum" in text.lower()

    def _is_beside_quote(self, block: Block) -> bool:
        """Return whether a quoted text or stars are beside the name."""
        if _has_stars(block.icons):
            return True
        for other in reversed(self.blocks[max(0, block.index - 2) : block.index]):
            if other.tag in SECTION_TAGS and other.index not in self.name_blocks:
                break  # another section begins between them
            if _has_stars(other.text) or _has_stars(other.icons):
                return True
            if len(other.text) > 40 and QUOTE_MARKS.match(other.text):
                return True
        return any(QUOTE_MARKS.match(other.text) for other in self.blocks[block.index + 1 : block.index + 2])

    def _is_under_heading(self, block: Block, listed: frozenset[str]) -> bool:
        """Return whether the nearest heading above the block has a listed word."""
        place = bisect_left(self.heading_indexes, block.index)
        for heading in reversed(self.headings[max(0, place - 4) : place]):
            if heading.index < block.index - SECTION_REACH:
                return False
            if block.tag in SECTION_TAGS and heading.tag >= block.tag:
                continue  # a heading of the same rank begins another section
            if not listed.isdisjoint(folded_words(heading.text)):
                return True
            if heading.tag in ("h1", "h2"):
                return False
        return False


def _role_text(role: str) -> str:
    """Return a role without the address or number behind it on the same line."""
    if "@" in role or "www." in role or SIX_DIGITS.search(role):
        role = TRAILING_LABEL.sub("", CONTACT_BEHIND_ROLE.split(role, maxsplit=1)[0])
    role = role.partition(HIDDEN_ADDRESS)[0]
    sentence = role.partition(". ")[0]
    if sentence != role and is_role(sentence):
        role = sentence  # Clinical director. Member no. 1234. But: Dipl. designer
    return role[:200].strip(" ,;:-–|.(")


def _has_stars(text: str) -> bool:
    # Five substring searches in C, before a pattern that would be tried at every letter.
    may_have = "star" in text or "rating" in text or "★" in text or "☆" in text or "⭐" in text
    return may_have and STARS.search(text) is not None


@lru_cache(4096)
def _is_person_class(names: str) -> bool:
    return bool(names) and PERSON_CLASS.search(names) is not None
