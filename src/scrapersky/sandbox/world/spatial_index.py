"""The map of a world: which businesses of a trade are in a box, looked up by cells of a grid."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from math import floor

from scrapersky.sandbox.world.business import Business, Location
from scrapersky.sandbox.world.cities import CityBox
from scrapersky.sandbox.world.world import World

CELL = 0.02  # degrees
Grid = dict[tuple[int, int], list[Location]]


class Map:
    """The places of all businesses by grid cell; computed at the first query."""

    def __init__(self, world: World) -> None:
        self.world = world

    def within(self, box: CityBox | None, wanted: Callable[[Location], bool]) -> list[Business]:
        """Return the matching businesses in a box (or anywhere), ordered by number."""
        seats = [seat for seat in self._near(box) if wanted(seat)]
        return [self.world[seat.number] for seat in sorted(seats, key=lambda seat: seat.number)]

    @cached_property
    def _grid(self) -> Grid:
        grid: Grid = defaultdict(list)
        for seat in self.world.seats():
            grid[floor(seat.latitude / CELL), floor(seat.longitude / CELL)].append(seat)
        return dict(grid)

    def _near(self, box: CityBox | None) -> Iterator[Location]:
        for (row, column), seats in self._grid.items():
            if box is None:
                yield from seats
            elif _touches(box, row, column):
                yield from (seat for seat in seats if box.holds(seat.latitude, seat.longitude))


def _touches(box: CityBox, row: int, column: int) -> bool:
    west, east = floor(box.west / CELL), floor(box.east / CELL)
    wide = west <= column <= east if box.west <= box.east else column >= west or column <= east
    return wide and floor(box.south / CELL) <= row <= floor(box.north / CELL)
