"""What the page says about a name: a role beside it, a card among cards, a team page; or a review, a credit."""

from bisect import bisect_left
from collections import Counter
from functools import cached_property, lru_cache

from scrapersky.extract import regexes, word_lists
from scrapersky.extract.document.context import words
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.people import names
from scrapersky.extract.people.names import Name

TEAM_WORDS = word_lists.words("people", "team")
REVIEW_WORDS = word_lists.words("people", "reviews")
CREDIT_WORDS = word_lists.words("people", "credits")
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "strong", "b", "dt", "th", "figcaption"))
SECTION_TAGS = frozenset(("h1", "h2", "h3", "h4"))
ROLE_LINE = 130
HIDDEN_ADDRESS = "[email"  # what Cloudflare writes where it hides one
CARD_REACH = 8
SECTION_REACH = 40


class NameScorer:
    """Weighs the names of one page; the places of all names are needed to see what repeats."""

    def __init__(self, document: Document, places: list[Block]) -> None:
        self.document = document
        self.blocks = document.blocks
        self.shapes = Counter(self._shape(block) for block in places)
        self.name_blocks = {block.index for block in places}
        self.dialable = {block.index for block in document.dialable}
        self.team_page = not TEAM_WORDS.isdisjoint(words(document.title))
        self.headings = [
            block for block in self.blocks if block.tag in SECTION_TAGS and block.index not in self.name_blocks
        ]
        self.heading_places = [block.index for block in self.headings]

    def weigh(self, name: Name, block: Block, whole: bool, title: str) -> tuple[str, float]:
        """(title, score): the score is the name's own and what its place adds."""
        score = name.score
        if whole:
            found = title or self._role_beside(block)
            if title and (len(name.words) > 1 or name.title):
                # Owner: Jane Roe says more than a role on the next line.
                score += 0.75 if f"{title}:" in block.text else 0.5
            elif found:
                score += 0.35
            elif score < 0:
                return "", 0.0  # neither a known name nor a role
            elif bio := self._bio_below(block):
                score += 0.2
                found = bio
            title = found
            score += self._place(block)
        elif title:
            score += 0.3
        else:
            title = self._clause_behind(block, name)
            score += 0.4 if title and name.title else 0.0  # Mr. John Roe, partner
        if "nav" in block.zones:
            score -= 0.5
        if "footer" in block.zones:
            score -= 0.15
        if "form" in block.zones or "hidden" in block.zones:
            score -= 0.1
        return _words_of(title), score

    # -- for ----------------------------------------------------------------------------------------------------------

    def _place(self, block: Block) -> float:
        """What the place of a line says: a heading, a class that speaks of people, one of many alike, a team page."""
        score = 0.0
        node = self.document.nodes[block.node] if block.node >= 0 else None
        if block.tag in HEADINGS:
            score += 0.05
        if node is not None:
            parent = self.document.nodes[node.parent].names if node.parent >= 0 else ""
            if _speaks_of_people(node.names) or _speaks_of_people(parent):
                score += 0.15
        if self.shapes[self._shape(block)] >= 2:
            score += 0.12
        if self.team_page or self._under(block, TEAM_WORDS):
            score += 0.15
        if self._reachable(block):
            score += 0.15
        return score

    def _shape(self, block: Block) -> tuple[str, str, str]:
        node = self.document.nodes[block.node] if block.node >= 0 else None
        if node is None:
            return ("", "", "")
        parent = self.document.nodes[node.parent] if node.parent >= 0 else node
        return (node.tag, node.names, parent.names)

    def _role_beside(self, block: Block) -> str:
        """The line after the name, or the label before it, when it says what somebody does."""
        if term := self._term_above(block):
            return term
        after = self._neighbour(block, 1)
        if block.tag == "li" and after is not None and after.tag == "li" and after.node != block.node:
            return ""  # items of one list are alike: a name and its role share an item
        role = self._role_of(after) if after is not None and len(after.text) <= ROLE_LINE else ""
        if after is not None and role and self._is_of_card(block, after):
            return role
        before = self._neighbour(block, -1)
        role = self._role_of(before) if before is not None and len(before.text) <= 80 else ""
        if before is None or not role:
            return ""
        above = before.index - 1
        if above in self.name_blocks and self._is_of_card(self.blocks[above], before):
            return ""  # between two names it is the role of the one above
        if block.tag == "li" and before.tag in SECTION_TAGS and not TEAM_WORDS.isdisjoint(words(before.text)):
            return ""  # Our doctors: the heading of a list of them
        return role if self._is_of_card(block, before) else ""

    def _role_of(self, line: Block) -> str:
        """What a line says somebody does, without the links beside it: Director [Email James]."""
        role = _words_of(line.text)
        shown = self.link_texts.get(line.index)
        if shown and len(line.parts) > 1:
            own = " ".join([part for part in line.parts if part not in shown])
            role = own if names.is_role(own) else role
        return role if names.is_role(role) else ""

    @cached_property
    def link_texts(self) -> dict[int, set[str]]:
        """What the links say, by the block they stand in."""
        shown: dict[int, set[str]] = {}
        for link in self.document.links:
            shown.setdefault(link.block, set()).add(link.text)
        return shown

    def _is_of_card(self, block: Block, line: Block) -> bool:
        """Whether a line does not stand in the card of somebody else."""
        around = {node.index for node in self.document.around(block.node)}
        branch = -1  # the outermost element around the line that is not around the name
        for node in self.document.around(line.node):
            if node.index in around:
                break
            branch = node.index
        near = range(line.index - CARD_REACH, line.index + CARD_REACH)
        return branch < 0 or not any(index in self.name_blocks and self._is_in(index, branch) for index in near)

    def _is_in(self, index: int, branch: int) -> bool:
        return any(node.index == branch for node in self.document.around(self.blocks[index].node))

    def _term_above(self, block: Block) -> str:
        """In a list of terms the role stands above: what follows is the role of the next one."""
        before = self._neighbour(block, -1) if block.tag == "dd" else None
        is_role = before is not None and before.tag == "dt" and len(before.text) <= 80 and names.is_role(before.text)
        return before.text if before is not None and is_role else ""

    def _neighbour(self, block: Block, step: int) -> Block | None:
        index = block.index + step
        if not 0 <= index < len(self.blocks) or index in self.name_blocks:
            return None
        other = self.blocks[index]
        here = self.document.nodes[block.node].depth if block.node >= 0 else 0
        there = self.document.nodes[other.node].depth if other.node >= 0 else 0
        return other if abs(here - there) <= 3 else None

    def _bio_below(self, block: Block) -> str:
        """The beginning of a longer text below the name, when its first words name a role."""
        after = self._neighbour(block, 1)
        if after is None or len(after.text) <= ROLE_LINE:
            return ""
        clause = regexes.CLAUSE.match(after.text)
        return clause[0].strip() if clause is not None and names.is_role(clause[0]) else ""

    def _reachable(self, block: Block) -> bool:
        """Whether an address or a number follows directly."""
        for other in self.blocks[block.index + 1 : block.index + 3]:
            if other.index in self.dialable or "@" in other.text:
                return True
        return False

    def _clause_behind(self, block: Block, name: Name) -> str:
        """In running text, the words after the name up to the next comma, when they name a role."""
        at = block.text.find(name.text)
        if at < 0:
            return ""
        rest = block.text[at + len(name.text) :].lstrip(" ,–-(:")
        clause = regexes.CLAUSE.match(rest)
        return clause[0].strip() if clause is not None and names.is_role(clause[0][:60]) else ""

    # -- against ------------------------------------------------------------------------------------------------------

    def reason_against(self, block: Block, whole: bool) -> str:
        """Why a likely name is not one of the business's people, or nothing."""
        if "quote" in block.zones or self._under(block, REVIEW_WORDS):
            return "a customer's voice"
        if whole and self._follows_quote(block):
            return "a customer's voice"
        if self.has_dummy_text and self._beside_dummy_text(block):
            return "template leftover"
        if len(block.text) < 200 and not CREDIT_WORDS.isdisjoint(words(block.text)):
            return "a credit"
        return ""

    @cached_property
    def has_dummy_text(self) -> bool:
        """Whether any text of the page is the filling of a template; asked only where somebody was found."""
        text = self.document.text
        return ("ipsum" in text or "IPSUM" in text or "Ipsum" in text) and "lorem ipsum" in text.lower()

    def _beside_dummy_text(self, block: Block) -> bool:
        return any(
            "lorem ipsum" in other.text.lower() for other in self.blocks[max(0, block.index - 2) : block.index + 4]
        )

    def _follows_quote(self, block: Block) -> bool:
        """A quoted text or stars beside the name."""
        if _has_stars(block.icons):
            return True
        for other in reversed(self.blocks[max(0, block.index - 2) : block.index]):
            if other.tag in SECTION_TAGS and other.index not in self.name_blocks:
                break  # another section has begun since
            if _has_stars(other.text) or _has_stars(other.icons):
                return True
            if len(other.text) > 40 and regexes.QUOTE_MARKS.match(other.text):
                return True
        return any(regexes.QUOTE_MARKS.match(other.text) for other in self.blocks[block.index + 1 : block.index + 2])

    def _under(self, block: Block, listed: frozenset[str]) -> bool:
        """Whether the nearest real heading above belongs to the list."""
        place = bisect_left(self.heading_places, block.index)
        for heading in reversed(self.headings[max(0, place - 4) : place]):
            if heading.index < block.index - SECTION_REACH:
                return False
            if block.tag in SECTION_TAGS and heading.tag >= block.tag:
                continue  # a heading of the same rank is a neighbour, not the section
            if not listed.isdisjoint(words(heading.text)):
                return True
            if heading.tag in ("h1", "h2"):
                return False
        return False


def _words_of(role: str) -> str:
    """A role without the address or the number that stands behind it on the same line."""
    if "@" in role or "www." in role or regexes.MANY_DIGITS.search(role):
        role = regexes.LABEL_LEFT.sub("", regexes.BEHIND_ROLE.split(role, maxsplit=1)[0])
    role = role.partition(HIDDEN_ADDRESS)[0]
    sentence = role.partition(". ")[0]
    if sentence != role and names.is_role(sentence):
        role = sentence  # Clinical director. Member no. 1234. But: Dipl. designer
    return role[:200].strip(" ,;:-–|.(")


def _has_stars(text: str) -> bool:
    # Five words found in C before a pattern that would try every letter.
    may_have = "star" in text or "rating" in text or "★" in text or "☆" in text or "⭐" in text
    return may_have and regexes.STARS.search(text) is not None


@lru_cache(4096)
def _speaks_of_people(names: str) -> bool:
    return bool(names) and regexes.PERSON_NAMES.search(names) is not None
