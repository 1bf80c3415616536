"""The role of a name: in the line after it or before it, in the heading or label above it, in the text below it."""

import re
from functools import cached_property

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block
from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.labels import (
    is_contact_label,
    is_department,
    is_department_label,
    is_group_heading,
    is_name_label,
    is_offer_heading,
)
from scrapersky.extract.people.names import is_credential_line, is_role, parse_name
from scrapersky.extract.people.roles import (
    CLAUSE,
    POSTAL_LINE,
    first_clause,
    is_education_line,
    is_role_label,
    is_sentence,
    is_title_line,
    labelled_role,
    role_text,
)
from scrapersky.extract.people.scoring.layout import HEADINGS, MAX_LINE, NAME_TAGS, SECTION_TAGS, PageLayout, Shape
from scrapersky.extract.people.seniority import Seniority, title_meaning

HIDDEN_AT = re.compile(r"[\[({]\s?(?:at|ät)\s?[\])}]", re.I)
KNOWN = 0.3  # the score of a known given name
MAX_ROLE_LINE = 130
MAX_ROLE_BEFORE = 80
MAX_HEADING_WORDS = 5
MAX_EDUCATION_LINES = 3
MAX_LIST = 40  # lines between a name and the heading of its list


class NearbyRoles:
    """Finds the roles of the names of one page."""

    def __init__(self, layout: PageLayout) -> None:
        self.layout = layout
        self.blocks = layout.blocks
        self.phone_blocks = layout.phone_blocks
        self._found: dict[int, str] = {}
        self._preceding: dict[Shape, bool] = {}

    def beside(self, block: Block) -> str:
        """Return the role on the line after the name or before it, or ""."""
        known = self._found.get(block.index)
        if known is None:
            known = self._found[block.index] = self._find_beside(block)
        return known

    def _find_beside(self, block: Block) -> str:
        layout = self.layout
        if column := layout.lines_below_in_column(block):
            return next(filter(None, map(self.named_by, column)), "")
        before = layout.neighbour(block, -1)
        is_term = block.tag == "dd" and before is not None and before.tag == "dt"
        if before is not None and is_term and len(before.text) <= MAX_ROLE_BEFORE and self._is_role_term(before.text):
            return before.text  # in a list of terms; the line below is the role of the next person
        if before is not None and self._is_cell_before(before, block) and (role := self.named_by(before)):
            return role  # a row of role, name, role, name
        if labelled := next(filter(None, (labelled_role(line.text) for line in layout.card_lines(block, 4))), ""):
            return labelled
        after = self._line_below(block)
        if after is not None and after.text.endswith((":", "：")):
            after = None  # the label of the next name
        if block.tag == "li" and after is not None and self._is_outside_item(block, after):
            return ""  # the next item of a list, or the label of the next list, is not the role of this one
        if after is not None and is_role_label(self.blocks[after.index - 1].text):
            return role_text(after.text)
        below = self.named_by(after) if after is not None else ""
        if after is not None and not below and is_title_line(after.text):
            below = self._more_senior_below(block, after)  # behind a trade of no list
        above = ""
        if before is not None and len(before.text) <= MAX_ROLE_BEFORE and layout.is_in_own_card(block, before):
            above = self.named_by(before) if len(before.text.split()) <= MAX_HEADING_WORDS + 1 else ""
        if below and after is not None and layout.is_in_own_card(block, after):
            is_heading = before is not None and before.tag in HEADINGS and block.tag not in HEADINGS
            if above and not is_heading and self.precede(block):
                return above
            if not self._begins_next(block, after):
                return self._more_senior_below(block, after) or below
        if not above or before is None:
            return ""
        if before.index - 1 in layout.names and layout.is_in_own_card(self.blocks[before.index - 1], before):
            return above if self.precede(block) else ""  # else the role of the name above
        if before.tag == "h1" or (before.tag in HEADINGS and is_group_heading(before.text)):
            return ""  # Our doctors: the heading of a list of people
        return above

    def _is_outside_item(self, block: Block, after: Block) -> bool:
        """Return whether the line below an item of a list is not in it, and other names are items of the list."""
        if after.node == block.node or self.layout.document.is_inside(after.index, block.node):
            return False
        names = self.layout.names
        return after.tag == "li" or block.index - 1 in names or block.index + 2 in names

    def _more_senior_below(self, block: Block, line: Block) -> str:
        """Return the role on the line below a role, if it is that of the head: Electrician, below it Owner; or ""."""
        after = self.layout.neighbour(line, 1)
        if after is None or len(after.text) > MAX_ROLE_BEFORE or after.index in self.layout.names:
            return ""
        if after.tag != line.tag or not self.layout.is_in_own_card(block, after) or not is_title_line(after.text):
            return ""
        role = self.named_by(after)
        level = title_meaning(role).seniority if role else Seniority.OUTSIDE
        return role if level <= Seniority.CHIEF and level < title_meaning(line.text).seniority else ""

    def senior_to(self, role: str, block: Block) -> str:
        """Return the role in the line above or below a name with another role, if it is the more senior one; or ""."""
        other = self.beside(block) if block.tag != "li" else ""
        if not other or title_meaning(other).seniority >= title_meaning(role).seniority:
            return ""
        lines = [line for step in (-1, 1, 2) if (line := self.layout.neighbour(block, step)) is not None]
        is_near = any(other in line.text and line.tag not in SECTION_TAGS and not is_label(line) for line in lines)
        return other if is_near else ""

    def _is_role_term(self, text: str) -> bool:
        """Return whether the term of a definition is a role: it is one, or most terms above names are."""
        return is_role(text) or (self._are_terms_roles and is_title_line(text) and not is_name_label(text))

    @cached_property
    def _are_terms_roles(self) -> bool:
        terms = [
            self.blocks[index - 1].text
            for index in self.layout.names
            if index and self.blocks[index].tag == "dd" and self.blocks[index - 1].tag == "dt"
        ]
        return len(terms) > 1 and sum(map(is_role, terms)) * 2 >= len(terms)

    def is_behind_label(self, block: Block, title: str) -> bool:
        """Return whether the role labels the name: <dt> or <th> before it, or a line that ends with a colon."""
        before = self.layout.neighbour(block, -1)
        if before is None or title not in before.text:
            return False
        return is_label(before) or self._is_cell_before(before, block)

    def _is_cell_before(self, before: Block, block: Block) -> bool:
        """Return whether two neighbours are cells of one table row that begins with no name."""
        if block.tag != "td" or before.tag not in ("td", "th"):
            return False
        nodes = self.layout.document.nodes
        row = nodes[block.node].parent
        if nodes[before.node].parent != row:
            return False
        first = next((one for one in range(before.index, -1, -1) if nodes[self.blocks[one].node].parent != row), -1) + 1
        return first not in self.layout.names

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
        for _ in range(MAX_EDUCATION_LINES):
            if after is not None and is_education_line(after.text):
                after = self.layout.neighbour(after, 1)
        if after is not None and is_role_label(after.text):
            after = self.layout.neighbour(after, 1)
        return after if after is not None and len(after.text) <= MAX_ROLE_LINE else None

    def precede(self, block: Block) -> bool:
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
        if line is None or len(line.text) > MAX_ROLE_BEFORE or not self.named_by(line):
            return False
        is_of_list = line.tag in SECTION_TAGS and (
            block.tag not in SECTION_TAGS or line.tag == "h1" or is_group_heading(line.text)
        )
        return not is_of_list and self.layout.is_in_own_card(block, line)

    def named_by(self, line: Block) -> str:
        """Return the role that a line names, without its degrees and the texts of its links: Director [Email James]."""
        role = "" if _is_path(line.text) else role_text(line.text)
        has_digit = line.index in self.layout.digit_blocks
        if HIDDEN_AT.search(line.text) is not None or (has_digit and POSTAL_LINE.search(role) is not None):
            return ""  # kontakt(at)maler.example is no painter, 4 Mayor Street, 9099 Roe no mayor
        if len(line.parts) > 1:
            shown = self.link_texts.get(line.index, ())
            own = " ".join([part for part in line.parts if part not in shown and not is_credential_line(part)])
            role = own if is_role(own) else role
        is_cut = len(role) < len(line.text) and "@" in line.text
        return role if is_role(role) and not is_sentence(line.text if is_cut else role) else ""

    @cached_property
    def link_texts(self) -> dict[int, set[str]]:
        """The texts of the links by block."""
        shown: dict[int, set[str]] = {}
        for link in self.layout.document.links:
            shown.setdefault(link.block, set()).add(link.text)
        return shown

    def of_heading(self, block: Block) -> str:
        """Return the role in the heading or label above a name or a list of names: Ledamöter: Erik Lund, Sara Holm."""
        if len(block.text) > MAX_LINE:
            return ""
        head = self.layout.column_head(block)
        if head and head != block.text:
            if is_contact_label(head) or not is_role(head):
                if cell := self._title_of_row(block):
                    return cell
            elif not is_sentence(head):
                return head
        for index in range(block.index - 1, max(-1, block.index - MAX_LIST), -1):
            line = self.blocks[index]
            if index in self.layout.names or index in self.phone_blocks or "@" in line.text:
                continue
            if self.layout.is_cell_of_table(line, block) or line.node in self._nodes_of_names - {block.node}:
                continue  # the classes beside their teachers, other lines of another person's element
            is_label = line.tag in HEADINGS or line.text.endswith((":", "：")) or self._is_role_of_first(line)
            text = line.text.strip(" :：")
            words = folded_words(text)
            if not is_label or not 1 <= len(words) <= MAX_HEADING_WORDS or is_sentence(text):
                return ""
            if _is_path(text):
                return ""
            is_known = is_role(text) or line.tag in self.tags_of_role_headings or is_department(text)
            if not is_known and not self._is_label_of_people(line):
                return ""
            if is_offer_heading(text) and not is_role(text):
                return ""  # Facilities
            if block.tag in NAME_TAGS and not _is_higher(line.tag, block.tag):
                return ""  # the heading of another section
            if line.tag == "h1" or is_group_heading(text):
                return ""
            if _is_title_of_above(self.layout, line, block) and not self.precede(block):
                return ""
            return text
        return ""

    @cached_property
    def _nodes_of_names(self) -> set[int]:
        return {self.blocks[index].node for index in self.layout.names}

    def _is_label_of_people(self, line: Block) -> bool:
        """Return whether a line with a colon labels names, as other lines do, or more than one: Councillors:."""
        if not line.text.endswith((":", "：")) or is_name_label(line.text) or is_contact_label(line.text):
            return False
        names = self.layout.names
        is_list = line.index + 1 in names and line.index + 2 in names
        return is_list or len(self._labels_above_names) > 1

    @cached_property
    def _labels_above_names(self) -> list[int]:
        """The lines with a colon at their end directly above a name."""
        return [index - 1 for index in self.layout.name_indexes if index and is_label(self.blocks[index - 1])]

    def _title_of_row(self, block: Block) -> str:
        """Return the role, else the department, that another cell of a person's table row gives, or ""."""
        title = ""
        for head, cell in self.layout.cells_beside(block):
            if cell.text == head or not is_title_line(cell.text):
                continue
            if is_role_label(head):
                return cell.text
            title = title or (cell.text if is_department_label(head) else "")
        return title

    @cached_property
    def tags_of_role_headings(self) -> set[str]:
        """The ranks of headings that are mostly roles where a name follows: Notaires, Clercs, Comptabilité."""
        above = [self.blocks[index - 1] for index in self.layout.names if index]
        found: dict[str, list[bool]] = {}
        for line in above:
            if line.tag in NAME_TAGS and line.tag != "h1" and line.index not in self.layout.names:
                is_named = is_role(line.text) or is_department(line.text)
                found.setdefault(line.tag, []).append(is_named and not is_group_heading(line.text))
        return {
            tag
            for tag, roles in found.items()
            if len(roles) > 1 and (sum(roles) * 2 >= len(roles) or (self.layout.is_team_page and len(roles) > 2))
        }

    def _is_role_of_first(self, line: Block) -> bool:
        """Return whether a plain line is the role of the name below it: Members, Jane Roe, John Doe."""
        return line.index + 1 in self.layout.names and (
            self.beside(self.blocks[line.index + 1]) == role_text(line.text)
        )

    def role_in_text_below(self, block: Block) -> str:
        """Return the role that the first sentence of a text below the name gives, or ""."""
        after = self.layout.neighbour(block, 1)
        if after is None or not (len(after.text) > MAX_ROLE_LINE or is_sentence(after.text)):
            return ""
        role = first_clause(after.text)
        behind = parse_name(role.partition(" ")[2])
        return "" if behind is not None and behind.score >= KNOWN else role  # The owner Jane Roe has …


def role_clause_behind(block: Block, name: Name) -> str:
    """Return the clause behind a name in running text, if it names a role."""
    at = block.text.find(name.text)
    if at < 0:
        return ""
    rest = block.text[at + len(name.text) :].lstrip(" ,–-(:")
    clause = CLAUSE.match(rest)
    if clause is None or not is_role(clause[0][:60]):
        return ""
    return clause[0].strip() if not is_sentence(clause[0]) else ""


def _is_path(text: str) -> bool:
    """Return whether a line is the path of the page: Home » Board."""
    return ("»" in text[1:-1] and "«" not in text) or ("›" in text and "‹" not in text)  # not: Leiterin »Kita Roe« Nord


def is_label(line: Block) -> bool:
    """Return whether a line labels what follows: <dt>, <th>, or a colon at its end."""
    return line.tag in ("dt", "th") or line.text.endswith((":", "："))


def _is_title_of_above(layout: PageLayout, line: Block, block: Block) -> bool:
    """Return whether a heading between two names is the title of the one above it."""
    above = line.index - 1
    if line.text.endswith((":", "：")) or (line.tag in SECTION_TAGS and block.tag not in SECTION_TAGS):
        return False  # a label or a heading of what follows
    return above in layout.names and layout.shape(layout.blocks[above]) == layout.shape(block)


def _is_higher(tag: str, other: str) -> bool:
    """Return whether a heading has a higher rank than another: <h2> than <h4>."""
    return tag in SECTION_TAGS and other in NAME_TAGS and tag < other
