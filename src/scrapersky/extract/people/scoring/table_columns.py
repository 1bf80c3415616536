"""Tables whose columns are cards: a row of names, and the roles, numbers and addresses in the rows below."""

from collections.abc import Collection

from scrapersky.extract.document.model import Document

MAX_ROWS = 6  # below the row of names


def cells_below(document: Document, index: int, names: Collection[int]) -> list[int]:
    """Return the blocks below a name in its table column, up to the next row of names; nothing in other tables."""
    row, column = _place(document, index)
    if row < 0:
        return []
    cells = _cells_of_row(document, index, row)
    beside = [block for cell in cells for block in cell]
    named = sum(cell[0] in names for cell in cells)
    if named < 2 or named * 2 < len(cells) or any(len(cell) > 1 for cell in cells):
        return []
    found: list[int] = []
    start = beside[-1] + 1
    for _ in range(MAX_ROWS):
        below, _ = _place(document, start) if start < len(document.blocks) else (-1, 0)
        if below < 0 or document.nodes[below].parent != document.nodes[row].parent:
            break
        cells = _cells_of_row(document, start, below)
        lines = [block for cell in cells for block in cell]
        if any(block in names for block in lines):
            break
        found.extend(block for block in lines if _place(document, block)[1] == column)
        start = lines[-1] + 1
    return found


def _place(document: Document, index: int) -> tuple[int, int]:
    """Return the row of a block's table cell and the column there, or (-1, -1)."""
    cell = next(
        (node for node in document.with_ancestors(document.blocks[index].node) if node.tag in ("td", "th")), None
    )
    if cell is None or cell.parent < 0 or document.nodes[cell.parent].tag != "tr":
        return -1, -1
    return cell.parent, document.columns[cell.index]


def _cells_of_row(document: Document, index: int, row: int) -> list[list[int]]:
    """Return the blocks of each cell with text of a row, given one of its blocks."""
    first = index
    while first and document.is_inside(first - 1, row):
        first -= 1
    cells: dict[int, list[int]] = {}
    while first < len(document.blocks) and document.is_inside(first, row):
        cells.setdefault(_place(document, first)[1], []).append(first)
        first += 1
    return list(cells.values())
