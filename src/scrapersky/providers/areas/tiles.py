"""Cuts large areas into boxes that a service answers at once."""

from itertools import pairwise
from math import ceil

from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.geometry import Box, wrapped


def tiles(area: Area, side_metres: float) -> list[Box]:
    """Return boxes with sides of at most this length that cover the area, row by row from the south."""
    box = area.box
    rows = max(1, ceil(box.height_metres / side_metres))
    height = (box.north - box.south) / rows
    found = []
    for row in range(rows):
        south = box.south + row * height
        north = box.north if row == rows - 1 else south + height
        columns = max(1, ceil(Box(south, box.west, north, box.east).width_metres / side_metres))
        edges = [wrapped(box.west + box.width * column / columns) for column in range(columns)] + [box.east]
        found += [Box(south, west, north, east) for west, east in pairwise(edges)]
    return [tile for tile in found if len(found) == 1 or area.overlaps(tile)]


def tile_count(area: Area, side_metres: float) -> int:
    """Return an upper bound of the number of tiles, without making them."""
    return max(1, ceil(area.box.height_metres / side_metres)) * max(1, ceil(area.box.width_metres / side_metres))
