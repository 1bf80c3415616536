"""The score of a name candidate on its page: the points of its words, and those of its place."""

import re
from functools import lru_cache

from scrapersky.extract.document.model import DIGIT, Block, Document
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import (
    is_imprint_title,
    is_name_label,
    is_no_title,
    is_offer_heading,
    is_sign_off,
    is_team_heading,
)
from scrapersky.extract.people.names import is_role, is_title
from scrapersky.extract.people.roles import is_sentence, role_in_sentence, role_text
from scrapersky.extract.people.scoring.layout import HEADINGS, NAME_TAGS, PageLayout
from scrapersky.extract.people.scoring.name_slots import KNOWN, NameSlots
from scrapersky.extract.people.scoring.nearby_contacts import (
    has_contact_below,
    has_contact_on_line,
    has_own_address,
    has_postal_code,
)
from scrapersky.extract.people.scoring.nearby_roles import NearbyRoles, is_label, role_clause_behind
from scrapersky.extract.people.scoring.rejection import Rejection
from scrapersky.extract.people.scoring.title_slots import TitleSlots
from scrapersky.extract.text import fold

PERSON_CLASS = re.compile(
    r"(?:^|[\s_-])(?:name|person|people|member|staff|team|doctor|attorney|lawyer|speaker|coach|trainer|employee|author|bio|profile|mitarbeiter|equipe|equipo|zespol|portrait|vcard|fn)s?(?:$|[\s_-])|(?:name|member|team|person)\b"
)
PRICE = re.compile(
    r"\d\s?(?:[€£$₽₹¥₺₴₪₫฿₩₾]|บาท|円|元|원|đ|zł|Kč|kr|Ft|lei|руб|eur|usd|chf)(?!\w)|[€£$₹¥₪₺₩]\s?\d|R\$\s?\d", re.I
)
# A list of names with no other points may be one of products, winners or streets.
WITHOUT_CONTEXT = frozenset(("words of the name", "heading", "similar lines", "most lines of this shape are names"))
LABEL_SIGNS = (":", " :", "：", " ：")
WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]{0,30})\s$")
MAX_WORD = 32
OTHER_SIGN = re.compile(r"[\W_]++")
UNKNOWN = -0.1  # the score of words of no list
MAX_TITLE = 200
MIN_FAMILY = 4  # letters of a family name in the name of a business
MIN_TEXT = 40  # characters of a text about a person
MAX_AROUND = 20  # titles and signs around a name and a role
MAX_BEGINNING = 90  # of that text

Points = list[tuple[str, float]]


class NameScorer:
    """Scores the names of one page; needs all candidates to see which are similar."""

    def __init__(self, document: Document, candidates: list[tuple[NameCandidate, Block]], host: str = "") -> None:
        self.document = document
        self.blocks = document.blocks
        self.layout = PageLayout(document, candidates)
        self.roles = NearbyRoles(self.layout)
        self.slots = NameSlots(self.layout, self.roles)
        self.titles = TitleSlots(self.layout, self.roles)
        self.rejection = Rejection(self.layout, self.slots)
        self.business = OTHER_SIGN.sub("", fold(f"{document.title[:MAX_TITLE]} {host}"))

    def score(self, candidate: NameCandidate, block: Block) -> tuple[str, Points]:
        """Return the title and the points: the name's own and those of its place."""
        name = candidate.name
        points: Points = [("words of the name", round(name.score, 2))]
        if candidate.is_whole:
            title = self._score_line(candidate, block, points)
        elif candidate.role:
            title = candidate.role
            if candidate.is_known_role or not candidate.does_work:
                points.append(("role in the sentence", 0.3))
        else:
            title = role_clause_behind(block, name) if name.title else ""
            if title:
                points.append(("role behind the name", 0.4))  # Mr. John Roe, partner
        if candidate.does_work:
            points.append(("what the person does", 0.3))
        if not candidate.is_whole and self._is_name_of_business(name, block):
            points.append(("name of the business", -0.3))
        elif not candidate.is_whole and self._has_name_of_business(name):
            points.append(("family name of the business", 0.3))
        if "footer" in block.zones:
            points.append(("in the footer", -0.1 if candidate.role and candidate.is_known_role else -0.15))
        if "form" in block.zones or "hidden" in block.zones:
            points.append(("in a form or hidden", -0.1))
        title = role_text(title)
        return "" if is_no_title(title) or self._is_business(title) else title, points

    def _is_business(self, title: str) -> bool:
        """Return whether two or more words are the name of the business: Dental practice at the mill."""
        return title.count(" ") > 1 and OTHER_SIGN.sub("", fold(title)) in self.business

    def _is_name_of_business(self, name: Name, block: Block) -> bool:
        """Return whether the words are those of the business, with the word before: Bengkel Jaya Motor."""
        at = max(0, block.text.find(name.text))
        before = WORD_BEFORE.search(block.text[max(0, at - MAX_WORD) : at])
        if before is None or len(before[1]) < MIN_FAMILY:
            return False
        return OTHER_SIGN.sub("", fold(f"{before[1]}{name.text}")) in self.business

    def _has_name_of_business(self, name: Name) -> bool:
        """Return whether the business has the family name, and not the given name: Ann Roe of Roe's Garage."""
        first, last = name.words[0], OTHER_SIGN.sub("", name.words[-1])
        return len(name.words) > 1 and len(last) >= MIN_FAMILY and last in self.business and first not in self.business

    def _score_line(self, candidate: NameCandidate, block: Block, points: Points) -> str:
        """Score a name that is a line of its own; return its title."""
        name, role = candidate.name, candidate.role
        is_label = bool(role) and candidate.is_known_role and _is_label_on_line(role, block)
        if (
            role
            and candidate.is_known_role
            and (len(name.words) > 1 or name.title or (is_label and not is_title(name.text)))
        ):
            # Owner: Jane Roe is stronger evidence than a role on the next line.
            points.append(("role on the line", 0.75 if is_label and len(name.words) > 1 else 0.55 if is_label else 0.5))
            title = role_in_sentence(role) if is_sentence(role) else role
            is_alone = len(block.text) <= len(name.text) + len(role) + MAX_AROUND
            if title and is_alone and not is_label:
                title = self.roles.senior_to(title, block) or self._fuller_role(title, block)
        elif (title := self.roles.beside(block)) and not (role and _is_label_on_line(role, block)):
            is_label = self.roles.is_behind_label(block, title)
            points.append(("role as label", 0.55) if is_label else ("role beside", 0.35))
        elif role and self._is_unknown_role(candidate, block):
            is_slot = self.layout.shape(block) in self.slots.shapes_with_roles
            weak = 0.15 if self.layout.is_in_team(block) else 0.1
            points.append(("a label where others have roles", 0.35) if is_slot else ("a label beside the name", weak))
            heading = self.roles.of_heading(block) if not is_role(role) and DIGIT.search(role) is not None else ""
            title = heading if is_role(heading) else role  # Teachers, below it Group 3: Jane Roe
            if has_contact_on_line(self.layout, block):
                points.append(("contact behind label and name", 0.2))
        elif title := self.roles.of_heading(block):
            points.append(("heading is a role", 0.4 if is_role(title) else 0.1))
        elif name.score >= 0.2 and (title := self.roles.role_in_text_below(block)):
            points.append(("role in the text below", 0.2))
        if title and UNKNOWN <= name.score < 0 and self._may_be_in_no_list(name, title):
            points.append(("a role beside words of no list", -name.score))
        self._score_place(name, block, points)
        if block.index and is_sign_off(self.blocks[block.index - 1].text):
            points.append(("signature", 0.4))
        elif not title:
            self._score_without_title(name, block, points)
        return title

    def _fuller_role(self, role: str, block: Block) -> str:
        """Return the heading above if it is a longer word for the role: 담임목사 above 표은혜 목사; else the role."""
        heading = self.roles.of_heading(block) if " " not in role else ""
        return heading if heading.endswith(role) and " " not in heading else role

    def _may_be_in_no_list(self, name: Name, title: str) -> bool:
        """Return whether a role says that capitalised words of no list are a name, and no heading of people."""
        if not name.text[0].isupper() or is_team_heading(name.text):
            return False
        return is_role(title) and not is_sentence(title)

    def _score_without_title(self, name: Name, block: Block, points: Points) -> None:
        """Score a name without a role: a signature, the owner in an imprint; or a product, a room, a service."""
        below = self.layout.neighbour(block, 1)
        if name.score >= KNOWN and len(name.words) > 1 and self._is_owner_in_imprint(block):
            points.append(("first line of the address in an imprint", 0.3))
        is_bare = {label for label, _ in points} <= WITHOUT_CONTEXT and not (
            block.index in self.slots.names and self.layout.shape(block) in self.slots.shapes_beside_roles
        )
        if is_bare:
            points.append(("nothing about people around", -0.3))
        if self._is_offer(block):
            points.append(("a room or a product", -0.2))
        is_doubtful = (is_bare or name.score < KNOWN) and not self._is_offer(block)
        if is_doubtful and self.layout.is_under_heading(block, is_offer_heading):
            points.append(("section of services", -0.3))
        if (below is not None and self._has_price(below)) or self._has_price(block):
            points.append(("price below", -0.5))

    def _has_price(self, line: Block) -> bool:
        return line.index in self.layout.digit_blocks and PRICE.search(line.text) is not None

    def _is_offer(self, block: Block) -> bool:
        """Return whether the nearest heading announces rooms, products or services, and no people."""
        heading = self.layout.heading_above(block) if block.tag not in HEADINGS else None
        return heading is not None and is_offer_heading(heading.text) and not is_team_heading(heading.text)

    def _is_owner_in_imprint(self, block: Block) -> bool:
        """Return whether a postal code follows a name within a few lines of an imprint."""
        if not is_imprint_title(self.document.title):
            return False
        lines = range(block.index + 1, min(block.index + 5, len(self.blocks)))
        return any(has_postal_code(self.layout, index) for index in lines)

    def _is_unknown_role(self, candidate: NameCandidate, block: Block) -> bool:
        """Return whether a text of no list is a role: it labels the name, or stands where others have theirs."""
        is_label = block.text.find(candidate.role) < block.text.find(candidate.name.text)
        is_bracket = f"({candidate.role})" in block.text or f"（{candidate.role}）" in block.text
        return (
            is_label
            or ((is_bracket or self._is_among_functions(block)) and self.layout.is_in_team(block))
            or self.layout.shape(block) in self.slots.shapes_with_roles
        )

    def _is_among_functions(self, block: Block) -> bool:
        """Return whether most lines of this shape are a name and a text of no list: Jane Roe: drawings and offers."""
        return block.index in self.slots.names and self.layout.shape(block) in self.slots.shapes_with_functions

    def _score_place(self, name: Name, block: Block, points: Points) -> None:
        """Score the place of a block: a heading, a class for people, similar blocks, a team page, contacts below."""
        layout = self.layout
        shape = layout.shape(block)
        if block.tag in HEADINGS:
            points.append(("heading", 0.1 if block.tag in NAME_TAGS else 0.05))
        if self.has_person_class(block):
            points.append(("class for people", 0.15))
        if layout.name_shapes[shape] >= 2:
            points.append(("similar lines", 0.12))
            if block.index in self.slots.names:
                points.append(("most lines of this shape are names", 0.3))
        if self._is_offer(block):
            points.append(("section of services", -0.3))
        elif layout.is_under_heading(block, is_team_heading):
            points.append(("team section", 0.25 if block.index in self.slots.names else 0.15))
        elif layout.is_team_page:
            points.append(("team page", 0.15))
        if self._is_told_below(name, block):
            points.append(("text about the given name below", 0.2))
        if (head := layout.column_head(block)) and head != block.text and (is_name_label(head) or is_role(head)):
            points.append(("column of names", 0.45 if is_name_label(head) else 0.3))
        elif (label := layout.neighbour(block, -1)) is not None and is_label(label) and is_name_label(label.text):
            points.append(("label of names", 0.45))
        if has_own_address(layout, name, block):
            points.append(("address with the name below", 0.35))
        elif has_contact_below(layout, block):
            points.append(("contact below", 0.2))

    def _is_told_below(self, name: Name, block: Block) -> bool:
        """Return whether the text below calls the person by the given name: Jane Roe, Jane trained in Leeds."""
        after = self.layout.neighbour(block, 1) if len(name.words) > 1 and name.score >= KNOWN else None
        if after is None or len(after.text) < MIN_TEXT:
            return False
        given, _, family = name.text.partition(" ")
        return f"{given} " in after.text[:MAX_BEGINNING] and family not in after.text[:MAX_BEGINNING]

    def has_person_class(self, block: Block) -> bool:
        """Return whether the element of a block, or the one around it, has a class for people."""
        if block.node < 0:
            return False
        node = self.document.nodes[block.node]
        parent = self.document.nodes[node.parent].names if node.parent >= 0 else ""
        return _is_person_class(node.names) or _is_person_class(parent)


def _is_label_on_line(role: str, block: Block) -> bool:
    """Return whether a role labels the name on its line: Owner: Jane Roe."""
    return any(f"{role}{sign}" in block.text for sign in LABEL_SIGNS)


@lru_cache(4096)
def _is_person_class(names: str) -> bool:
    return bool(names) and PERSON_CLASS.search(names) is not None
