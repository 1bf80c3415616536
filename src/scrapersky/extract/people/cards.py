"""The card of a person: the blocks around a name that are about this person only."""

from bisect import bisect_left, bisect_right

from scrapersky.extract.document.model import Block, Document

MAX_CARD_BLOCKS = 14
MAX_LONG_CARD_BLOCKS = 80  # of a card with a biography
SECTION_TAGS = frozenset(("h1", "h2", "h3", "h4"))
HEADING_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class Cards:
    """The cards of a page, by the blocks with the names of its people (`starts`)."""

    def __init__(self, document: Document, starts: set[int]) -> None:
        """Take the blocks with names; that of a person in structured data only is -1."""
        self.document, self.starts = document, starts
        self._order = sorted([start for start in starts if start >= 0])

    def end(self, start: int) -> int:
        """Return the block behind the card: the next person, another zone, another element, or the limit."""
        document, blocks = self.document, self.document.blocks
        end = min(len(blocks), start + MAX_CARD_BLOCKS)
        row = table_row(document, start)
        card = self._card(start) if row is None else row
        for index in range(start + 1, end):
            if index in self.starts or blocks[index].zones - blocks[start].zones - {"address"}:
                return index
            if is_heading(blocks[index]) and self._begins_section(start, index):
                return index
            if card is not None and not document.is_inside(index, card):
                return index
        return end

    def own(self, start: int) -> int | None:
        """Return the largest element around a person with other people near, but not in it."""
        card, around = self._divided(start)
        return card if around is not None else None

    def end_of_long(self, start: int) -> int:
        """Return the block behind a card of any length: an element like that of the next or the former person."""
        document = self.document
        card = max(
            [self._element_beside(start, other) for other in self._beside(start, MAX_LONG_CARD_BLOCKS)], default=-1
        )
        end = start + 1
        while card >= 0 and end < start + MAX_LONG_CARD_BLOCKS and document.is_inside(end, card):
            end += 1
        return end

    def end_of_main(self, start: int) -> int:
        """Return the block behind the content below a heading of the page: the next person, or another zone."""
        blocks = self.document.blocks
        end = min(len(blocks), start + MAX_LONG_CARD_BLOCKS)
        here = blocks[start].zones
        return next(
            (
                index
                for index in range(start + 1, end)
                if index in self.starts or blocks[index].zones - here - {"address"}
            ),
            end,
        )

    def section(self, block: int) -> tuple[int, int] | None:
        """Return the blocks between two headings, if this person is the only one in them."""
        blocks = self.document.blocks
        if blocks[block].tag in HEADING_TAGS:
            return None
        first = next(
            (index for index in range(block, max(-1, block - MAX_CARD_BLOCKS), -1) if is_heading(blocks[index])), -1
        )
        if first < 0:
            return None
        end = min(len(blocks), block + MAX_CARD_BLOCKS)
        last = next(
            (
                index
                for index in range(block + 1, end)
                if is_heading(blocks[index]) or blocks[index].zones - blocks[block].zones
            ),
            end,
        )
        return None if any(first <= start < last and start != block for start in self.starts) else (first, last)

    def _card(self, start: int) -> int | None:
        """Return the element with this person only; where that is only the name, the element with all people."""
        card, around = self._divided(start)
        return card if card is not None and self.document.is_inside(start + 1, card) else around

    def _beside(self, start: int, max_blocks: int) -> list[int]:
        """Return the former and the next person, if they are near. All others are farther away in every element."""
        before = self._order[: bisect_left(self._order, start)][-1:]
        after = self._order[bisect_right(self._order, start) :][:1]
        return [one for one in (*before, *after) if abs(one - start) <= max_blocks]

    def _divided(self, start: int) -> tuple[int | None, int | None]:
        """Return the largest element with this person only, and the one around it; nothing if nobody else is near."""
        document = self.document
        beside = self._beside(start, MAX_CARD_BLOCKS)
        others = {node.index for other in beside for node in document.with_ancestors(document.blocks[other].node)}
        own = None
        for node in document.with_ancestors(document.blocks[start].node) if beside else ():
            if node.index in others:
                return own, node.index
            own = node.index
        return None, None

    def _element_beside(self, start: int, other: int) -> int:
        """Return the largest element without the other person if the other one has an element like it beside; or -1."""
        document = self.document
        path = document.with_ancestors(document.blocks[start].node)
        theirs = {node.parent: node for node in document.with_ancestors(document.blocks[other].node)}
        own = next((node for node in path if node.parent in theirs and theirs[node.parent].index != node.index), None)
        if own is None:
            return -1
        like = theirs[own.parent]
        return own.index if (like.tag, like.names.split(" ")[0]) == (own.tag, own.names.split(" ")[0]) else -1

    def _begins_section(self, start: int, heading: int) -> bool:
        """Return whether a heading behind a name begins another section: a higher one, or one below running text."""
        blocks = self.document.blocks
        if is_heading(blocks[start]):
            return blocks[heading].tag <= blocks[start].tag
        above = next((blocks[index].tag for index in range(start - 1, -1, -1) if is_heading(blocks[index])), "")
        return blocks[heading].tag in SECTION_TAGS or (bool(above) and blocks[heading].tag <= above)


def is_heading(block: Block) -> bool:
    """Return whether a block is a heading."""
    return block.tag in HEADING_TAGS


def table_row(document: Document, start: int) -> int | None:
    """Return the table row in which other cells follow the person: values of other rows are not the person's."""
    nodes = list(document.with_ancestors(document.blocks[start].node))
    row = next((node for node in nodes if node.tag == "tr"), None)
    cell = next((node for node in nodes if node.tag in ("td", "th")), None)
    if row is None or cell is None:
        return None
    beside = [index for index in range(start + 1, start + 4) if document.is_inside(index, row.index)]
    return row.index if any(not document.is_inside(index, cell.index) for index in beside) else None
