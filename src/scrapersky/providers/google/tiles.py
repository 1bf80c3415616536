"""Beyond the sixty results of one question: a quad-tree of rectangles, split where the answer is full."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from scrapersky.providers.area import Box
from scrapersky.providers.google.api import MAX_RESULTS_PER_QUERY

SHORTEST_SIDE_METRES = 25.0  # a shopping centre has more than sixty places on fifty metres
WIDEST_DEGREES = 180.0

# The ids of the places in a box, at most sixty of them.
IdsIn = Callable[[Box], Awaitable[frozenset[str]]]


@dataclass(frozen=True)
class Leaf:
    """A box that is not split any further; `full` if it may hold more than can be asked for."""

    box: Box
    ids: frozenset[str]
    full: bool


async def search_tiles(root: Box, ids_in: IdsIn, most_cells: int) -> AsyncIterator[Leaf]:
    """Every leaf that holds something, one quarter after the other. Neighbours share an edge, and may share places."""
    waiting = [root]
    cells = 0
    while waiting:
        box = waiting.pop()
        if box.width > WIDEST_DEGREES:  # wider than a question may be
            waiting.extend(reversed(box.quarters()))
            continue
        cells += 1
        ids = await ids_in(box)
        full = len(ids) >= MAX_RESULTS_PER_QUERY
        if full and box.shorter_side_metres >= 2 * SHORTEST_SIDE_METRES and cells + len(waiting) < most_cells:
            waiting.extend(reversed(box.quarters()))
        elif ids:
            yield Leaf(box, ids, full)
