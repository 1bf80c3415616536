"""The layout of a page around its names: cards, sections, table rows, lines of one shape, slots of roles."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.people.candidate import NameCandidate

SECTION_TAGS = frozenset(("h1", "h2", "h3", "h4"))
CARD_REACH = 8
SECTION_REACH = 40
MAX_LINE = 70  # a longer line is no name of a list
MAX_DEPTH_STEP = 3

Shape = tuple[str, str, str]


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
        self._shapes: dict[int, Shape] = {}

    # -- shapes -------------------------------------------------------------------------------------------------------

    def shape(self, block: Block) -> Shape:
        """Return tag, class and class of the parent: equal for the same part of similar cards."""
        node_index = block.node
        if node_index < 0:
            return ("", "", "")
        shape = self._shapes.get(node_index)
        if shape is None:
            nodes = self.document.nodes
            node = nodes[node_index]
            parent = nodes[node.parent] if node.parent >= 0 else node
            column = self._columns[node_index] if node.tag == "td" else ""
            shape = self._shapes[node_index] = (node.tag, node.names, f"{parent.tag} {parent.names} {column}")
        return shape

    @cached_property
    def name_shapes(self) -> Counter[Shape]:
        """The number of names of each shape."""
        return Counter(self.shape(self.blocks[index]) for index in self.names)

    @cached_property
    def line_shapes(self) -> Counter[Shape]:
        """The number of short lines of each shape that has a name."""
        wanted = self.name_shapes
        return Counter(
            shape for block in self.blocks if len(block.text) <= MAX_LINE and (shape := self.shape(block)) in wanted
        )

    def share_of_names(self, block: Block) -> float:
        """Return which share of the lines of this shape are names."""
        shape = self.shape(block)
        return self.name_shapes[shape] / max(1, self.line_shapes[shape])

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def neighbour(self, block: Block, step: int) -> Block | None:
        """Return the block before (-1) or behind (1), if it is no name and not in another part of the page."""
        index = block.index + step
        if not 0 <= index < len(self.blocks) or index in self.names:
            return None
        other = self.blocks[index]
        return other if abs(self._depth(block) - self._depth(other)) <= MAX_DEPTH_STEP else None

    def _depth(self, block: Block) -> int:
        return self.document.nodes[block.node].depth if block.node >= 0 else 0

    def is_in_own_card(self, block: Block, line: Block) -> bool:
        """Return whether a line near a name is not in the card of another name."""
        branch = self._branch(block, line)
        if branch < 0:
            return True
        is_inside = self.document.is_inside
        for index in range(line.index - CARD_REACH, line.index + CARD_REACH):
            if index in self.names and is_inside(index, branch):
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

    def card_lines(self, block: Block, reach: int = CARD_REACH) -> Iterator[Block]:
        """Yield the lines behind a name up to the next name or the end of its card."""
        for line in self.blocks[block.index + 1 : block.index + 1 + reach]:
            if line.index in self.names or not self.is_in_own_card(block, line):
                return
            yield line

    # -- sections -----------------------------------------------------------------------------------------------------

    def heading_above(self, block: Block) -> Block | None:
        """Return the nearest heading of a section above the block."""
        place = bisect_left(self.heading_indexes, block.index)
        if not place or self.headings[place - 1].index < block.index - SECTION_REACH:
            return None
        return self.headings[place - 1]

    def is_under_heading(self, block: Block, listed: frozenset[str]) -> bool:
        """Return whether a heading of the block's sections has a listed word."""
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

    # -- tables -------------------------------------------------------------------------------------------------------

    def column_head(self, block: Block) -> str:
        """Return the text of the first cell of the block's table column, or ""."""
        if block.tag not in ("td", "p", "div", "strong", "b") or not self._columns:
            return ""
        place = self._cell(block)
        return "" if place is None else self._column_heads.get(place, "")

    def _cell(self, block: Block) -> tuple[int, int] | None:
        """Return (table, column) of the block."""
        for node in self.document.with_ancestors(block.node):
            if node.tag in ("td", "th"):
                table = self._table(node.index)
                return None if table < 0 else (table, self._columns.get(node.index, -1))
        return None

    def _table(self, node: int) -> int:
        return next((around.index for around in self.document.with_ancestors(node) if around.tag == "table"), -1)

    @cached_property
    def _columns(self) -> dict[int, int]:
        """The column of each cell."""
        columns: dict[int, int] = {}
        seen: Counter[int] = Counter()
        for node in self.document.nodes:
            if node.tag in ("td", "th"):
                columns[node.index] = seen[node.parent]
                seen[node.parent] += 1
        return columns

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
