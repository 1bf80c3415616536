"""Why a likely name is nobody of the business: a customer, a credit, a teacher, template filling, a dead person."""

import re
from functools import cached_property, lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block
from scrapersky.extract.people.candidate import NameCandidate
from scrapersky.extract.people.labels import (
    LEGAL_FORM,
    is_guest,
    is_heading_of_others,
    is_heading_of_partners,
    is_imprint_title,
    is_review_heading,
    is_team_heading,
)
from scrapersky.extract.people.names import is_role
from scrapersky.extract.people.roles import is_customer, is_sentence
from scrapersky.extract.people.scoring.layout import HEADINGS, NAME_TAGS, SECTION_TAGS, PageLayout
from scrapersky.extract.people.scoring.name_slots import KNOWN, NameSlots
from scrapersky.extract.people.scoring.nearby_contacts import POSTAL_CODE, has_contact_on_line
from scrapersky.extract.word_lists import load_table, load_words

CREDIT_WORDS = load_words("people", "credits")
MAKER_WORDS = load_words("people", "credits", "makers")
EDUCATION_WORDS = load_words("people", "education")
LEARNED_WORDS = EDUCATION_WORDS | load_words("people", "education", "learned")
THANKS = load_words("people", "others", "thanks")
READERS = load_words("people", "others", "readers")
SENTENCE_END = re.compile(r"[.!?…]\s")
PAST_WORDS = load_words("people", "past")
DUMMY_WORDS = load_words("people", "dummy")
DUMMY_PHRASES = tuple(load_table("people")["dummy"]["phrases"])
STARS = re.compile(r"[★⭐☆]|\bfa-star\b|\bstars?\b|\brating\b")
QUOTE_MARKS = re.compile(r"^\s?[\"“„«»”'‘]|^[-–—]\s")
QUOTE_BEFORE = re.compile(r"[”“»\"’」』›][\s.]{0,2}[-–—―~(,]?\s{0,2}(?:[^\W\d_]{1,5}\.\s)?$")
CREDIT_LABEL = re.compile(r"(?<!\w)(?:text|texte|story|\w{2,20}(?:fotos?|fotografie|photos?|bilder))\s?:", re.I)
# (1931–2009), (q.e.p.d.)
LIFE = re.compile(
    r"\((?:dec(?:\.|'?d\b|eased)|verst\.|zm\.|fall\.)|\(\s?[*°]?\s?1[5-9]\d\d\s?[–—-]\s?[†+]?\s?(?:1[5-9]|20)\d\d\s?\)|†|\(?(?:q\.\s?e\.\s?p\.\s?d|R\.\s?I\.\s?P)\b"
)
# The day or the hour of an event before a name: Oct 4 – Jane Roe: Quilting; 12.3. Jane Roe.
EVENT_BEFORE = re.compile(
    r"(?!(?i:gro[eu]p|gruppe|grupp?[aeo]|klass?e?|class|classe|grade|year|form|room|t[rř]ída|razred|luokka|osztály|team)\w{0,2}\s)(?:[^\W\d_]{2,9}[.,]?\s)?(?:\d{1,2}[:.h]\d{2}|\d{1,2}[./]\s?\d{1,2}[./]?(?:\d{2,4})?|\d{1,2}\.?\s[^\W\d_]{3,10}"
    r"|[^\W\d_]{3,9}\.?\s\d{1,2})(?:\s?(?:Uhr|h|am|pm))?(?:\s?[–—:|,-]\s|\s)"
)
ASSOCIATES = re.compile(r"\s[&+]\s[^\W\d_]{2,20}")
TITLE_AT_END = re.compile(r"(?:[^\W\d_]{1,5}\.\s?){1,3}$")
# A line or a cell of a chronicle; a birth and a death; the day of an event.
YEAR_BEFORE = re.compile(r"(?:1[5-9]|20)\d\d(?:\s?[–-]\s?(?:1[5-9]|20)\d\d)?\s?(?:年|년|г\.)?(?:\s?[:–-]|\s|$)")
YEARS = re.compile(r"(?<!\d)(1[89]\d\d)(?!\d).{1,24}(?<!\d)((?:19|20)\d\d)(?!\d)")
DAY = re.compile(r"[^\W\d_]{2,12}[.,]?\s\d{1,2}\.?\s[^\W\d_]{3,10}.{0,30}")
STREET_NUMBER = re.compile(r"[^\W\d_].{0,40}\s\d{1,4}[a-z]?(?=$|[,\s])")
ADDRESS_BEHIND = re.compile(r"[\s,(:–-]{1,3}[\w.+-]{1,64}@")
TITLE_SIGN = re.compile(r"\s[|–—·-]\s")
MAX_TITLE_OF_OTHERS = 3  # words
MIN_LIFE = 30  # years
HOUR = re.compile(r"\d{1,2}[:.h]\d{2}(?:\s?[–-]\s?\d{1,2}[:.h]\d{2})?(?:\s?(?:Uhr|h|am|pm))?")
# Other people the business works with.
WORKS_WITH = re.compile(
    r"(?:works?|working|collaborates?|cooperates?|partnered|together|arbeiten?|Zusammenarbeit|kooperieren|travaill\w{2,5}|collabor\w{2,5}"
    r"|colabor\w{2,5}|lavoriamo|werken|samen|współprac\w{1,7}|samarbet\w{1,4}|samarbeid\w{0,4}|spolupracuj\w{1,4})\s(?:[a-zà-ÿ]{2,12}\s)?"
    r"(?:with|mit|avec|con|com|met|z|ze|s|so|med)\s(?:[^\W\d_]{1,5}\.?\s)?$",
    re.I,
)
NUMBER_IN_STREET = re.compile(r",?\s\d{1,4}[a-z]?(?=$|,|\s[-–·|/]|\s?/)")  # Av. Getúlio Vargas, 540 - Belo Horizonte
ADDRESS_LABEL = re.compile(
    r"(?:địa chỉ|address|adresse|dirección|direccion|endereço|indirizzo|adres[sa]?|адреса?|cím|osoite|alamat)\s?[:：]",
    re.I,
)
DUMMY_WORD = re.compile(r"[a-z]{4,30}")
STREET_BEFORE = re.compile(
    r"(?:^|[\s,|(])(?:c/|calle|avda\.?|avenida|plaza|pza\.|rua|via|viale|rue|bd\.?|boulevard)\s?$", re.I
)
MIN_DUMMY_WORDS = 3
MIN_DUMMY = 20  # characters of a dummy text
MAX_BEFORE_TEACHER = 90
MIN_REVIEW = 40
MIN_TEXT_ABOVE = 25
MAX_LIFE = 20  # characters behind a name that may say that the person is dead
SENTENCE_ENDS = (".", "!", "?", "…")
MAX_LINE_OF_LIFE = 120  # characters; a longer line may speak of others, too
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
        name_at = block.text.find(candidate.name.text)
        at = max(0, name_at)
        if (
            "quote" in block.zones
            or _is_behind_quote(candidate, block)
            or (not self._is_of_footer(block, title) and self.layout.is_under_heading(block, is_review_heading))
        ):
            return "a customer's voice"
        if self._page_of_others and not has_contact_on_line(self.layout, block):
            return self._page_of_others
        if candidate.is_whole and self._is_customer(candidate, block, has_title):
            return "a customer's voice"
        if candidate.is_whole and (NUMBER_IN_STREET.match(block.text, name_at + len(candidate.name.text))):
            return "a street"
        if candidate.is_whole and not has_title and self._is_place(block):
            return "a town"
        if _is_firm(candidate, block):
            return "a firm"
        if at and STREET_BEFORE.search(block.text[max(0, at - 12) : at]) is not None:
            return "a street"
        if not candidate.role and ADDRESS_LABEL.match(block.text) is not None and "@" not in block.text:
            return "a street"
        label, colon, _ = block.text[:at].rpartition(":")
        label = label.rpartition(". ")[2]
        is_of_others = is_heading_of_others(label) and not has_contact_on_line(self.layout, block)
        if (colon and (is_of_others or is_guest(label))) or self._is_of_event(block, at, has_title):
            return "below a heading of other people"
        if _is_thanked(block.text[max(0, at - MAX_BEFORE_TEACHER) : at]):
            return "below a heading of other people"
        if not candidate.is_whole and WORKS_WITH.search(block.text, max(0, at - MAX_BEFORE_TEACHER), at) is not None:
            return "below a heading of other people"
        if candidate.role and (
            is_guest(candidate.role) or (not candidate.is_known_role and is_heading_of_others(candidate.role))
        ):
            return "below a heading of other people"
        if title and is_heading_of_others(title) and not is_role(title):
            return "below a heading of other people"
        if any(len(other.text) > MIN_DUMMY and _is_dummy(other.text) for other in self._texts_beside(block)):
            return "template leftover"
        sentence = _sentence_of(candidate, block)
        if len(sentence) < 200 and (
            (":" in sentence and CREDIT_LABEL.search(sentence) is not None)
            or not CREDIT_WORDS.isdisjoint(folded_words(sentence))
            or _is_credit(title)
        ):
            return "a credit"
        if is_imprint_title(self.layout.document.title) and self.layout.is_under_heading(block, _is_of_maker):
            return "a credit"
        is_line = candidate.is_whole and len(block.text) <= MAX_LINE_OF_LIFE
        behind = block.text if is_line else block.text[at : at + len(candidate.name.text) + MAX_LIFE]
        if _has_died(behind) or (is_line and self._has_lived(block)):
            return "a person of the past"
        if not has_contact_on_line(self.layout, block) and self._is_among_others(block, has_title):
            return "below a heading of other people"
        if self._is_of_the_past(candidate, block, title):
            return "a person of the past"
        return "named in the biography of another person" if self._is_of_biography(candidate, block, title) else ""

    def _is_of_biography(self, candidate: NameCandidate, block: Block, title: str) -> bool:
        """Return whether a name is that of a teacher, or of somebody else in the section of another person."""
        if not candidate.is_whole and _is_teacher(candidate, block):
            return True
        is_asked = not candidate.is_whole and self._is_contact_behind(candidate, block)
        is_heading = candidate.is_whole and block.tag in HEADINGS
        return not is_asked and not is_heading and self._is_in_biography(candidate, block, title)

    def _is_of_footer(self, block: Block, title: str) -> bool:
        """Return whether a person with a title stands in the footer, to which no heading of the page belongs."""
        if "footer" not in block.zones or not is_role(title):
            return False
        heading = self.layout.heading_above(block)
        return heading is None or "footer" not in heading.zones

    def _is_contact_behind(self, candidate: NameCandidate, block: Block) -> bool:
        """Return whether an address follows a name in running text: please write to Jane Roe, office@roe.example."""
        at = block.text.find(candidate.name.text) if block.index in self.layout.address_blocks else -1
        return at >= 0 and ADDRESS_BEHIND.match(block.text, at + len(candidate.name.text)) is not None

    def _is_place(self, block: Block) -> bool:
        """Return whether a line stands between a street and a postal code: 8 High Street, Roeville, 33999."""
        below, above = self.layout.neighbour(block, 1), self.layout.neighbour(block, -1)
        if below is None or above is None or below.index not in self.layout.digit_blocks:
            return False
        is_code = POSTAL_CODE.match(below.text) is not None
        return is_code and above.index in self.layout.digit_blocks and STREET_NUMBER.search(above.text) is not None

    @cached_property
    def _page_of_others(self) -> str:
        """The reason against all names of a page with such a short title: Reviews, Speakers."""
        title = TITLE_SIGN.split(self.layout.document.title, maxsplit=1)[0]
        if len(title.split()) > MAX_TITLE_OF_OTHERS or is_team_heading(title):
            return ""
        if is_review_heading(title):
            return "a customer's voice"
        return "below a heading of other people" if is_heading_of_others(title) else ""

    def _is_of_event(self, block: Block, at: int, has_title: bool) -> bool:
        """Return whether the day or the hour of an event stands before a name or below it, or in the row of a table."""
        if at and EVENT_BEFORE.match(block.text, 0, at) is not None:
            return True
        below = self.layout.neighbour(block, 1)
        if below is not None and not has_title and DAY.fullmatch(below.text) is not None:
            return True
        before = self.layout.neighbour(block, -1) if block.tag == "td" else None
        return before is not None and before.tag in ("td", "th") and HOUR.fullmatch(before.text) is not None

    def _is_among_others(self, block: Block, has_title: bool) -> bool:
        """Return whether a heading announces donors, winners or partners of the firm who are no people of it."""
        if self.layout.is_under_heading(block, is_heading_of_others):
            return True
        is_firm = self.layout.is_under_heading(block, is_heading_of_partners)
        return is_firm and not (has_title and self.layout.is_in_team(block))

    def _texts_beside(self, block: Block) -> list[Block]:
        """Return the lines that belong to a name: its own, those below in its card, those above up to another name."""
        lines = [block, *self.layout.card_lines(block, 3)]
        above = range(max(0, block.index - 3), block.index)
        if not any(index in self.layout.names for index in above):
            lines.extend(self.blocks[max(0, block.index - 2) : block.index])
        return lines

    def _is_of_the_past(self, candidate: NameCandidate, block: Block, title: str) -> bool:
        """Return whether the title, the words before the name or the heading speak of the dead or of former staff."""
        before = block.text[: max(0, block.text.find(candidate.name.text))][-MAX_BEFORE_TEACHER:]
        if "." in before:
            before = TITLE_AT_END.sub("", before).rpartition(". ")[2]
        heading = self.layout.heading_above(block)
        page = folded_words(self.layout.document.title)
        words = [*folded_words(title)[:2], *folded_words(before)[-MAX_WORDS_BEFORE:], *page[:1]]
        words += folded_words(heading.text) if heading is not None else ()
        return not PAST_WORDS.isdisjoint(words)

    def _has_lived(self, block: Block) -> bool:
        """Return whether a cross, a birth and a death, or the year of a chronicle stand around a name."""
        heading = self.layout.heading_above(block)
        if (heading is not None and "†" in heading.text) or YEAR_BEFORE.match(block.text) is not None:
            return True
        before = self.layout.neighbour(block, -1) if block.tag in ("td", "dd") else None
        if before is not None and YEAR_BEFORE.fullmatch(before.text) is not None:
            return True
        for line in self.layout.card_lines(block, 2):
            life = YEARS.search(line.text) if line.index in self.layout.digit_blocks else None
            if "†" in line.text or (life is not None and int(life[2]) - int(life[1]) >= MIN_LIFE):
                return True
        return False

    def _is_in_biography(self, candidate: NameCandidate, block: Block, title: str) -> bool:
        """Return whether a name is in a list of courses or, in running text, in the section of another person."""
        nearest = ""  # the highest heading between
        for line in reversed(self.blocks[max(0, block.index - MAX_LIST) : block.index]):
            is_text = len(line.text) > MAX_LINE_OF_LIFE or line.text.endswith(SENTENCE_ENDS)
            other = self.layout.names.get(line.index) if not is_text else None
            if other is not None and other.name.score >= KNOWN and other.name.text != candidate.name.text:
                if not self._is_likely_person(other, line):
                    continue  # the name of the business above its pages
                if other.role and f"{other.role}:" in line.text:
                    continue  # Treasurer: John Roe; below it, for flowers contact Jane Doe
                rank = line.tag if line.tag in NAME_TAGS else "h2"  # a name of a list is none of the next section
                is_above = not nearest or rank < nearest
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

    def _is_likely_person(self, candidate: NameCandidate, line: Block) -> bool:
        """Return whether something beside its words says that a name is a person's."""
        is_marked = bool(candidate.role or candidate.name.title) or line.tag in HEADINGS
        return is_marked or line.index in self.slots.names or bool(self.slots.roles.beside(line))

    def _is_customer(self, candidate: NameCandidate, block: Block, has_title: bool) -> bool:
        """Return whether a name is that of a customer: called one, below a text, beside a quoted text or stars."""
        if is_customer(candidate.role) or any(is_customer(line.text) for line in self.layout.card_lines(block, 2)):
            return True
        is_in_slot = block.index in self.slots.names
        above = self.blocks[block.index - 1] if block.index else block
        if "quote" in above.zones and not is_in_slot and not self._is_motto_of_above(above):
            return True
        if self.layout.is_in_team(block) and (has_title or is_in_slot):
            return False
        return self._is_beside_quote(block, has_title) or self._is_below_text(block)

    def _is_below_text(self, block: Block) -> bool:
        """Return whether a text stands above the name in a card: in reviews the text is first."""
        if self.layout.name_shapes[self.layout.shape(block)] < 2:
            return False
        above = self.layout.lines_above_in_card(block)
        return any(len(line.text) >= MIN_TEXT_ABOVE and is_sentence(line.text) for line in above)

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


def _is_thanked(before: str) -> bool:
    """Return whether the sentence before a name thanks somebody who is not the reader."""
    words = folded_words(SENTENCE_END.split(before)[-1])
    return not THANKS.isdisjoint(words) and READERS.isdisjoint(words)


def _is_firm(candidate: NameCandidate, block: Block) -> bool:
    """Return whether a legal form stands behind the name, or the text beside it is a firm: ROE HOMES, S.L."""
    if candidate.role and not candidate.is_known_role and LEGAL_FORM.search(candidate.role) is not None:
        return True
    at = block.text.find(candidate.name.text)
    behind = block.text[at + len(candidate.name.text) :] if at >= 0 else ""
    if behind[:3] in (" & ", " + "):
        behind = ASSOCIATES.sub("", behind)  # Roe Doe & Partners LLP
    form = LEGAL_FORM.match(behind.lstrip(" ,")) if behind[:1] in (" ", ",") else None
    return form is not None and not form[0].startswith("e")  # e. K.: a merchant under the own name


def _sentence_of(candidate: NameCandidate, block: Block) -> str:
    """Return the sentence with the name; a short line is one."""
    if len(block.text) < MIN_REVIEW or ". " not in block.text:
        return block.text
    before, name, behind = block.text.partition(candidate.name.text)
    return before.rpartition(". ")[2] + name + behind.partition(". ")[0]


@lru_cache(2048)
def _is_credit(title: str) -> bool:
    """Return whether the label of a name is that of a credit: Fotos."""
    words = folded_words(title)
    return len(words) == 1 and words[0] in CREDIT_WORDS


def _is_teacher(candidate: NameCandidate, block: Block) -> bool:
    """Return whether the words before a name in running text say that somebody has learned from it."""
    before = block.text[: max(0, block.text.find(candidate.name.text))][-MAX_BEFORE_TEACHER:]
    if candidate.role and before.rstrip(" ,:").endswith(candidate.role):
        return False  # Our master cooper, Jane Roe
    return not LEARNED_WORDS.isdisjoint(folded_words(before.rpartition(". ")[2] or before))


def _is_behind_quote(candidate: NameCandidate, block: Block) -> bool:
    """Return whether a quoted text stands before the name on its line: “A fine place” – Jane Roe."""
    at = block.text.find(candidate.name.text)
    return at > MIN_QUOTE and QUOTE_BEFORE.search(block.text, max(0, at - 12), at) is not None


@lru_cache(1024)
def _is_dummy(text: str) -> bool:
    lowered = text.lower()
    for phrase in DUMMY_PHRASES:  # a generator takes twice as long
        if phrase in lowered:
            return True
    return len(DUMMY_WORDS.intersection(DUMMY_WORD.findall(lowered))) >= MIN_DUMMY_WORDS


@lru_cache(1024)
def _is_of_maker(heading: str) -> bool:
    """Return whether a heading of an imprint announces whoever made the page."""
    words = folded_words(heading)
    return 0 < len(words) <= MAX_WORDS_BEFORE and not MAKER_WORDS.isdisjoint(words)


def _has_died(text: str) -> bool:
    # Substring searches in C, before the pattern.
    return ("(" in text or "†" in text or "q." in text or "R." in text) and LIFE.search(text) is not None


def _has_stars(text: str) -> bool:
    # Five substring searches in C, before a pattern that would be tried at every letter.
    may_have = "star" in text or "rating" in text or "★" in text or "☆" in text or "⭐" in text
    return may_have and STARS.search(text) is not None
