"""Why a likely name is nobody of the business: a customer, a credit, a teacher, template filling, a dead person."""

import re
from functools import lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block
from scrapersky.extract.people.candidate import NameCandidate
from scrapersky.extract.people.labels import is_guest, is_heading_of_others, is_review_heading
from scrapersky.extract.people.roles import is_customer, is_sentence
from scrapersky.extract.people.scoring.layout import HEADINGS, NAME_TAGS, SECTION_TAGS, PageLayout
from scrapersky.extract.people.scoring.name_slots import KNOWN, NameSlots
from scrapersky.extract.people.scoring.nearby_contacts import has_contact_on_line
from scrapersky.extract.word_lists import load_table, load_words

CREDIT_WORDS = load_words("people", "credits")
EDUCATION_WORDS = load_words("people", "education")
LEARNED_WORDS = EDUCATION_WORDS | load_words("people", "education", "learned")
PAST_WORDS = load_words("people", "past")
DUMMY_WORDS = load_words("people", "dummy")
DUMMY_PHRASES = tuple(load_table("people")["dummy"]["phrases"])
STARS = re.compile(r"[★⭐☆]|\bfa-star\b|\bstars?\b|\brating\b")
QUOTE_MARKS = re.compile(r"^\s?[\"“„«»”'‘]|^[-–—]\s")
QUOTE_BEFORE = re.compile(r"[”“»\"’」』›][\s.]{0,2}[-–—―~(,]?\s{0,2}(?:[^\W\d_]{1,5}\.\s)?$")
CREDIT_LABEL = re.compile(r"(?<!\w)(?:text|texte|story)\s?:", re.I)
LIFE = re.compile(r"\(\s?[*°]?\s?1[5-9]\d\d\s?[–—-]\s?[†+]?\s?(?:1[5-9]|20)\d\d\s?\)|†")  # (1931–2009)
NUMBER_IN_STREET = re.compile(r",?\s\d{1,4}[a-z]?(?=$|,|\s[-–·|/]|\s?/)")  # Av. Getúlio Vargas, 540 - Belo Horizonte
ADDRESS_LABEL = re.compile(
    r"(?:địa chỉ|address|adresse|dirección|direccion|endereço|indirizzo|adres[sa]?|адреса?|cím|osoite|alamat)\s?[:：]",
    re.I,
)
DUMMY_WORD = re.compile(r"[a-z]{4,30}")
MIN_DUMMY_WORDS = 3
MIN_DUMMY = 20  # characters of a dummy text
MAX_BEFORE_TEACHER = 90
MIN_REVIEW = 40
MIN_QUOTE = 8  # characters before a name behind a quoted text
MAX_WORDS_BEFORE = 4
MAX_LIST = 40  # lines between a name and the heading of a list of courses


class Rejection:
    """Finds the reasons against the names of one page."""

    def __init__(self, layout: PageLayout, slots: NameSlots) -> None:
        self.layout = layout
        self.slots = slots
        self.blocks = layout.blocks

    def reason(self, candidate: NameCandidate, block: Block, title: str) -> str:
        """Return why a likely name is not one of the business's people, or ""."""
        has_title = bool(title)
        if (
            "quote" in block.zones
            or _is_behind_quote(candidate, block)
            or self.layout.is_under_heading(block, is_review_heading)
        ):
            return "a customer's voice"
        if candidate.is_whole and self._is_customer(candidate, block, has_title):
            return "a customer's voice"
        if candidate.is_whole and (
            NUMBER_IN_STREET.match(block.text, block.text.find(candidate.name.text) + len(candidate.name.text))
        ):
            return "a street"
        if not candidate.role and ADDRESS_LABEL.match(block.text) is not None and "@" not in block.text:
            return "a street"
        if candidate.role and (
            is_guest(candidate.role) or (not candidate.is_known_role and is_heading_of_others(candidate.role))
        ):
            return "below a heading of other people"
        if any(len(other.text) > MIN_DUMMY and _is_dummy(other.text) for other in self._texts_beside(block)):
            return "template leftover"
        sentence = _sentence_of(candidate, block)
        if len(sentence) < 200 and (
            not CREDIT_WORDS.isdisjoint(folded_words(sentence)) or CREDIT_LABEL.search(sentence) is not None
        ):
            return "a credit"
        if candidate.is_whole and (LIFE.search(block.text) is not None or self._is_under_cross(block)):
            return "a person of the past"
        if not has_contact_on_line(self.layout, block) and self.layout.is_under_heading(block, is_heading_of_others):
            return "below a heading of other people"
        if self._is_of_the_past(candidate, block, title):
            return "a person of the past"
        if not candidate.is_whole and _is_teacher(candidate, block):
            return "named in the biography of another person"
        if (not candidate.is_whole or block.tag not in HEADINGS) and self._is_in_biography(candidate, block, title):
            return "named in the biography of another person"
        return ""

    def _texts_beside(self, block: Block) -> list[Block]:
        """Return the lines that belong to a name: its own, those below in its card, those above up to another name."""
        lines = [block, *self.layout.card_lines(block, 3)]
        above = range(max(0, block.index - 3), block.index)
        if not any(index in self.layout.names for index in above):
            lines.extend(self.blocks[max(0, block.index - 2) : block.index])
        return lines

    def _is_of_the_past(self, candidate: NameCandidate, block: Block, title: str) -> bool:
        """Return whether the title, the words before the name or the heading speak of the dead or of former staff."""
        before = block.text[: max(0, block.text.find(candidate.name.text))][-MAX_BEFORE_TEACHER:].rpartition(". ")[2]
        heading = self.layout.heading_above(block)
        words = [*folded_words(title)[:2], *folded_words(before)[-MAX_WORDS_BEFORE:]]
        words += folded_words(heading.text) if heading is not None else ()
        return not PAST_WORDS.isdisjoint(words)

    def _is_under_cross(self, block: Block) -> bool:
        heading = self.layout.heading_above(block)
        return heading is not None and "†" in heading.text

    def _is_in_biography(self, candidate: NameCandidate, block: Block, title: str) -> bool:
        """Return whether a name is in a list of courses or, in running text, in the section of another person."""
        nearest = ""  # the highest heading between
        for line in reversed(self.blocks[max(0, block.index - MAX_LIST) : block.index]):
            other = self.layout.names.get(line.index)
            if other is not None and other.name.score >= KNOWN and other.name.text != candidate.name.text:
                is_above = line.tag not in NAME_TAGS or not nearest or line.tag < nearest
                return is_above and not candidate.is_whole
            if line.tag in HEADINGS or line.text.endswith(":"):
                if title and title in line.text:
                    continue  # the label of this person: Jefe de Estudios
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
        if self.layout.is_in_team(block) and (has_title or block.index in self.slots.names):
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


def _sentence_of(candidate: NameCandidate, block: Block) -> str:
    """Return the sentence with the name; a short line is one."""
    if len(block.text) < MIN_REVIEW or ". " not in block.text:
        return block.text
    before, name, behind = block.text.partition(candidate.name.text)
    return before.rpartition(". ")[2] + name + behind.partition(". ")[0]


def _is_teacher(candidate: NameCandidate, block: Block) -> bool:
    """Return whether the words before a name in running text say that somebody has learned from it."""
    before = block.text[: max(0, block.text.find(candidate.name.text))][-MAX_BEFORE_TEACHER:]
    return not LEARNED_WORDS.isdisjoint(folded_words(before.rpartition(". ")[2] or before))


def _is_behind_quote(candidate: NameCandidate, block: Block) -> bool:
    """Return whether a quoted text stands before the name on its line: “A fine place” – Jane Roe."""
    at = block.text.find(candidate.name.text)
    return at > MIN_QUOTE and QUOTE_BEFORE.search(block.text, max(0, at - 12), at) is not None


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
