"""The layout of a page around its names: cards, sections, table rows, lines of one shape, slots of roles."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.people.candidate import NameCandidate
from scrapersky.extract.people.labels import is_team_heading
from scrapersky.extract.people.scoring.table_columns import cells_below

SECTION_TAGS = frozenset(("h1", "h2", "h3", "h4"))
NAME_TAGS = SECTION_TAGS | {"h5", "h6"}
HEADINGS = NAME_TAGS | {"strong", "b", "dt", "th", "figcaption"}
CARD_REACH = 8
MAX_CARD_LINES = 4  # behind a name
SECTION_REACH = 40
LONG_SECTION = 200
MAX_LINE = 70  # a longer line is no name of a list
MAX_DEPTH_STEP = 3
MAX_CELLS = 12  # of a table row
COLONS = frozenset((":", "：", "-", "–"))
PARTS_OF_PAGE = frozenset(("nav", "footer"))

Shape = tuple[str, str, str]


@lru_cache(8192)
def _common_names(names: str) -> str:
    """Return the classes that similar elements share: those without digits; a builder numbers its elements."""
    if not names or names.isalpha():
        return names
    return " ".join([name for name in names.split() if not any(map(str.isdigit, name))])


class Slot(NamedTuple):
    """A place beside a name: how many blocks behind it, and the shape there."""

    name_shape: Shape
    offset: int
    shape: Shape


class PageLayout:
    """Answers where a block stands among the names of the page."""

    def __init__(self, document: Document, candidates: list[tuple[NameCandidate, Block]]) -> None:
        self.document = document
        self.blocks = document.blocks
        self.names = {block.index: candidate for candidate, block in candidates if candidate.is_whole}
        self.headings = [block for block in self.blocks if block.tag in SECTION_TAGS and block.index not in self.names]
        self.heading_indexes = [block.index for block in self.headings]
        self.phone_blocks = {block.index for block in document.phone_blocks}
        self.digit_blocks = {block.index for block in document.digit_blocks}
        self.address_blocks = {block.index for block in document.blocks_with("@")}
        self.name_indexes = sorted(self.names)
        self.is_team_page = is_team_heading(document.title)
        self._shapes: dict[int, Shape] = {}  # of blocks
        self._node_shapes: dict[int, Shape] = {}
        self._own_cards: dict[tuple[int, int], bool] = {}  # of (name, line)
        self._card_lines: dict[int, tuple[Block, ...]] = {}
        self._headings_of: dict[int, tuple[str, ...]] = {}

    # -- shapes -------------------------------------------------------------------------------------------------------

    def shape(self, block: Block) -> Shape:
        """Return tag, class and class of the parent: equal for the same part of similar cards."""
        shape = self._shapes.get(block.index)
        if shape is None:
            shape = self._shape_of_node(block.node)
            if shape in self._cards_of_lines:
                tag, names, place = shape
                shape = (tag, names, f"{place} {block.index - self._first_lines[block.node]}")
            self._shapes[block.index] = shape
        return shape

    def _shape_of_node(self, index: int) -> Shape:
        if index < 0:
            return ("", "", "")
        if (known := self._node_shapes.get(index)) is not None:
            return known
        nodes = self.document.nodes
        node = nodes[index]
        parent = nodes[node.parent] if node.parent >= 0 else node
        column = self.document.columns[index] if node.tag == "td" and self._line_counts[index] == 1 else ""
        shape = (node.tag, _common_names(node.names), f"{parent.tag} {_common_names(parent.names)} {column}")
        self._node_shapes[index] = shape
        return shape

    @cached_property
    def _line_counts(self) -> Counter[int]:
        """The number of lines of each element."""
        return Counter([block.node for block in self.blocks])

    @cached_property
    def _first_lines(self) -> dict[int, int]:
        """The index of the first line of each element with a line."""
        return {block.node: block.index for block in reversed(self.blocks)}

    @cached_property
    def _cards_of_lines(self) -> set[Shape]:
        """The shapes of elements, two or more, that begin with a name and have other lines: Jane Roe<br>Owner."""
        names, blocks = self.names, self.blocks
        cards = Counter(
            [
                self._shape_of_node(blocks[index].node)
                for index in self.name_indexes
                if index + 1 < len(blocks)
                and blocks[index + 1].node == blocks[index].node
                and index + 1 not in names
                and (not index or blocks[index - 1].node != blocks[index].node)
            ]
        )
        return {shape for shape, count in cards.items() if count > 1}

    @cached_property
    def name_shapes(self) -> Counter[Shape]:
        """The number of names of each shape."""
        return Counter(self.shape(self.blocks[index]) for index in self.names)

    @cached_property
    def line_shapes(self) -> Counter[Shape]:
        """The number of short lines of each shape that has a name, without the lines of contacts and those of menus."""
        wanted, contacts = self.name_shapes, self.phone_blocks - self.names.keys()
        tags = {shape[0] for shape in wanted}
        return Counter(
            shape
            for block in self.blocks
            if block.tag in tags
            and len(block.text) <= MAX_LINE
            and (shape := self.shape(block)) in wanted
            and block.index not in contacts
            and "@" not in block.text
            and (block.index in self.names or block.index not in self.document.linked_blocks)
        )

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def neighbour(self, block: Block, step: int) -> Block | None:
        """Return the block before (-1) or behind (1), if it is no name and not in another part of the page."""
        index = block.index + step
        if step == -1 and index > 0 and self.blocks[index].text in COLONS:
            index -= 1  # a cell with the sign alone: Chair | : | Jane Roe
        if not 0 <= index < len(self.blocks) or index in self.names:
            return None
        other = self.blocks[index]
        here, there = block.zones, other.zones
        if there and here is not there and not PARTS_OF_PAGE.isdisjoint(there - here):
            return None
        if block.node == other.node:
            return other
        return other if abs(self._depth(block) - self._depth(other)) <= MAX_DEPTH_STEP else None

    def _depth(self, block: Block) -> int:
        return self.document.nodes[block.node].depth if block.node >= 0 else 0

    def is_in_own_card(self, block: Block, line: Block) -> bool:
        """Return whether a line near a name is not in the card of another name."""
        pair = block.index, line.index
        known = self._own_cards.get(pair)
        if known is None:
            known = self._own_cards[pair] = self._is_in_own_card(block, line)
        return known

    def _is_in_own_card(self, block: Block, line: Block) -> bool:
        branch = self._branch(block, line)
        if branch < 0:
            return True
        indexes, end = self.name_indexes, line.index + CARD_REACH
        for place in range(bisect_left(indexes, line.index - CARD_REACH), len(indexes)):
            if indexes[place] >= end:
                return True
            if self.document.is_inside(indexes[place], branch):
                return False
        return True

    def _branch(self, block: Block, line: Block) -> int:
        """Return the outermost element around the line that is not around the block, or -1."""
        nodes = self.document.nodes
        here, there, branch = block.node, line.node, -1
        while here != there:  # a parent comes before its children
            if there > here:
                branch, there = there, nodes[there].parent
            else:
                here = nodes[here].parent
        return branch

    def card_lines(self, block: Block, reach: int) -> tuple[Block, ...]:
        """Return the lines behind a name, four at most, up to the next name or the end of its card."""
        lines = self._card_lines.get(block.index)
        if lines is None:
            lines = self._card_lines[block.index] = tuple(self._find_card_lines(block))
        return lines[:reach]

    def _find_card_lines(self, block: Block) -> Iterator[Block]:
        zones = block.zones
        for line in self.blocks[block.index + 1 : block.index + 1 + MAX_CARD_LINES]:
            is_in_zone = line.zones is zones or not line.zones - zones
            if line.index in self.names or not is_in_zone or not self.is_in_own_card(block, line):
                return
            yield line

    def lines_above_in_card(self, block: Block) -> tuple[Block, ...]:
        """Return the lines above a name in the largest element that has no other name."""
        is_inside, place = self.document.is_inside, bisect_left(self.name_indexes, block.index)
        others = [*self.name_indexes[max(0, place - 1) : place], *self.name_indexes[place + 1 : place + 2]]
        card = -1
        for node in self.document.with_ancestors(block.node):
            if any(is_inside(index, node.index) for index in others):
                break
            card = node.index
        first = block.index
        while first and card >= 0 and is_inside(first - 1, card):
            first -= 1
        return self.blocks[first : block.index]

    # -- sections -----------------------------------------------------------------------------------------------------

    def heading_above(self, block: Block) -> Block | None:
        """Return the nearest heading of a section above the block."""
        place = bisect_left(self.heading_indexes, block.index)
        if not place or self.headings[place - 1].index < block.index - SECTION_REACH:
            return None
        return self.headings[place - 1]

    def section_of(self, block: Block) -> int:
        """Return the index of the heading of the block's section, which is higher than the block, or -1."""
        rank = block.tag if block.tag in SECTION_TAGS else "h7"
        place = bisect_left(self.heading_indexes, block.index)
        return next((one.index for one in reversed(self.headings[:place]) if one.tag < rank), -1)

    def is_under_heading(self, block: Block, is_wanted: Callable[[str], bool]) -> bool:
        """Return whether a heading of the block's sections is a wanted one."""
        headings = self._headings_of.get(block.index)
        if headings is None:
            headings = self._headings_of[block.index] = tuple(self._find_headings(block))
        for heading in headings:  # noqa: SIM110  # a generator takes twice as long
            if is_wanted(heading):
                return True
        return False

    def _find_headings(self, block: Block) -> Iterator[str]:
        """Yield the headings of the block's sections, the nearest first."""
        place = bisect_left(self.heading_indexes, block.index)
        rank = block.tag if block.tag in SECTION_TAGS else "h7"
        for heading in reversed(self.headings[max(0, place - 4) : place]):
            if heading.index < block.index - LONG_SECTION:
                return
            if heading.tag >= rank:
                continue  # a heading of the same rank begins another section
            yield heading.text
            if heading.tag in ("h1", "h2"):
                return
            rank = heading.tag

    def is_in_team(self, block: Block) -> bool:
        """Return whether the page or the section of the block is about people of the business."""
        return self.is_team_page or self.is_under_heading(block, is_team_heading)

    # -- tables -------------------------------------------------------------------------------------------------------

    def column_head(self, block: Block) -> str:
        """Return the text of the first cell of the block's table column, or ""."""
        if block.tag not in ("td", "p", "div", "strong", "b") or not self.document.columns:
            return ""
        place = self._cell(block)
        return "" if place is None else self._column_heads.get(place, "")

    def cells_beside(self, block: Block) -> Iterator[tuple[str, Block]]:
        """Yield the other cells of the block's table row, each with the head of its column."""
        place = self._cell(block) if block.tag == "td" and self.document.columns else None
        if place is None:
            return
        row = self.document.nodes[block.node].parent
        first = block.index
        while first and self.document.is_inside(first - 1, row):
            first -= 1
        for cell in self.blocks[first : first + MAX_CELLS]:
            if not self.document.is_inside(cell.index, row):
                return
            column = self._cell(cell)
            if column is not None and cell is not block and (head := self._column_heads.get(column, "")):
                yield head, cell

    def is_cell_of_table(self, line: Block, block: Block) -> bool:
        """Return whether two lines are cells of one table."""
        if block.tag != "td" or line.tag not in ("td", "th"):
            return False
        return self._table(line.node) == self._table(block.node) >= 0

    def lines_below_in_column(self, block: Block) -> list[Block]:
        """Return the lines below a name in a table whose columns are cards: a row of names above a row of roles."""
        if not self.document.columns:
            return []
        return [self.blocks[index] for index in cells_below(self.document, block.index, self.names)]

    def _cell(self, block: Block) -> tuple[int, int] | None:
        """Return (table, column) of the block."""
        for node in self.document.with_ancestors(block.node):
            if node.tag in ("td", "th"):
                table = self._table(node.index)
                return None if table < 0 else (table, self.document.columns.get(node.index, -1))
        return None

    def _table(self, node: int) -> int:
        return next((around.index for around in self.document.with_ancestors(node) if around.tag == "table"), -1)

    @cached_property
    def _column_heads(self) -> dict[tuple[int, int], str]:
        """The text of the first cell of each (table, column)."""
        heads: dict[tuple[int, int], str] = {}
        for block in self.blocks:
            if block.tag in ("td", "th"):
                cell = self._cell(block)
                if cell is not None and cell not in heads:
                    heads[cell] = block.text
        return heads
