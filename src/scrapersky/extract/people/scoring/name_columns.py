"""Tables that give the parts of names in two columns: Vorname, Nachname."""

from itertools import pairwise

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.word_lists import load_words

GIVEN = load_words("people", "name_label", "given")
FAMILY = load_words("people", "name_label", "family")
FAMILY_BESIDE_GIVEN = FAMILY | load_words("people", "name_label", "name")
LABELS = load_words("people", "name_label") | GIVEN | FAMILY_BESIDE_GIVEN
MAX_HEAD = 24  # characters
CELLS = frozenset(("td", "th"))


def find_names_in_columns(document: Document) -> list[tuple[Block, Block, bool]]:
    """Return the pairs of neighbouring cells with the parts of a name, and whether the given name is the first one."""
    blocks = document.blocks
    found: list[tuple[Block, Block, bool]] = []
    heads: tuple[int, int, int, bool] | None = None
    for one, other in pairwise(blocks):
        if one.tag not in CELLS or other.tag not in CELLS:
            continue
        columns = document.columns.get(one.node, -1), document.columns.get(other.node, -1)
        order = _order_of_heads(one, other) if max(len(one.text), len(other.text)) <= MAX_HEAD else None
        is_row = document.nodes[one.node].parent == document.nodes[other.node].parent
        if order is not None:
            heads = (_table_of(document, one), *columns, order)
        elif heads is not None and is_row and heads[1:3] == columns and heads[0] == _table_of(document, one):
            found.append((one, other, heads[3]))
    return found


def _table_of(document: Document, cell: Block) -> int:
    return next((node.index for node in document.with_ancestors(cell.node) if node.tag == "table"), -1)


def _order_of_heads(one: Block, other: Block) -> bool | None:
    """Return whether the given name is in the first of two columns with the parts of names; None for other columns."""
    first, second = set(folded_words(one.text)), set(folded_words(other.text))
    if not LABELS.issuperset(first | second):
        return None  # First elected, Nombre del puesto
    if first & GIVEN and second & FAMILY_BESIDE_GIVEN and not second & GIVEN - FAMILY_BESIDE_GIVEN:
        return True
    return False if first & FAMILY_BESIDE_GIVEN and second & GIVEN else None
