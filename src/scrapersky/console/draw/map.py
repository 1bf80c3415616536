"""The map of places as SVG, in the mercator: grid lines, cells, labels of cities, a scale; tiles if they are set."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from scrapersky.store.listing.map_cells import MapBox, project, unproject
from scrapersky.store.listing.place_map import NAMES, PlaceCell

WIDTH, HEIGHT, TILE = 960, 600, 256
MAX_ZOOM = 17
MAX_LABELS = 24
MIN_NUMBERED = 9  # the radius of the smallest circle with a number in it
GATHERED = 28  # between the middles of two cells that are one circle
NUMBER_WIDTH, NUMBER_HEIGHT = 32, 14  # between the middles of two circles, so that their numbers can be read
STEPS = (60.0, 30.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
EARTH_METRES = 40_075_017  # around the equator


@dataclass(frozen=True)
class View:
    """The part of the world that is drawn: its middle and its zoom."""

    latitude: float
    longitude: float
    zoom: int

    @property
    def size(self) -> float:
        """The width of the world in pixels."""
        return float(TILE * 2**self.zoom)

    def place(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return the pixel of a place; east of the middle if it is less than half the world away."""
        x, y = project(latitude, longitude)
        middle_x, middle_y = project(self.latitude, self.longitude)
        across = (x - middle_x + 0.5) % 1.0 - 0.5
        return WIDTH / 2 + across * self.size, HEIGHT / 2 + (y - middle_y) * self.size

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the latitude and the longitude of a pixel."""
        middle_x, middle_y = project(self.latitude, self.longitude)
        latitude, longitude = unproject(
            middle_x + (x - WIDTH / 2) / self.size, min(1.0, max(0.0, middle_y + (y - HEIGHT / 2) / self.size))
        )
        return latitude, (longitude + 180) % 360 - 180

    @property
    def box(self) -> MapBox:
        """What is seen; the whole world if that is smaller than the picture."""
        north, west = self.at(0, 0)
        south, east = self.at(WIDTH, HEIGHT)
        return MapBox(-180.0, south, 180.0, north) if self.size <= WIDTH else MapBox(west, south, east, north)

    def moved(self, x: float, y: float, zoom: int = 0) -> "View":
        """Return the view with its middle moved by parts of the picture, and zoomed."""
        latitude, longitude = self.at(WIDTH * (0.5 + x), HEIGHT * (0.5 + y))
        return View(
            round(max(-85.0, min(85.0, latitude)), 5), round(longitude, 5), max(0, min(MAX_ZOOM, self.zoom + zoom))
        )


def view_of(box: MapBox) -> View:
    """Return the view in which a box is seen whole."""
    (left, top), (right, bottom) = project(box.north, box.west), project(box.south, box.east)
    width, height = (right - left) % 1.0, bottom - top
    fits = (math.log2(WIDTH * 0.85 / TILE / max(width, 1e-5)), math.log2(HEIGHT * 0.85 / TILE / max(height, 1e-5)))
    latitude, longitude = unproject(left + width / 2, (top + bottom) / 2)
    zoom = max(0, min(14, math.floor(min(fits))))
    return View(round(latitude, 5), round((longitude + 180) % 360 - 180, 5), zoom)


def draw_lines(view: View) -> Markup:
    """Return the lines of latitude and longitude, each with its degrees."""
    degrees = 360 / view.size * WIDTH / 6
    step = next((one for one in reversed(STEPS) if one >= degrees), STEPS[0])
    box, drawn = view.box, []
    for value in _multiples(box.south, box.north, step):
        _, y = view.place(value, view.longitude)
        drawn.append(_line(0, y, WIDTH, y, 4, y - 4, f"{abs(value):g}° {'N' if value >= 0 else 'S'}"))
    east = box.east if box.west < box.east else box.east + 360
    for value in _multiples(box.west, east, step):
        longitude = (value + 180) % 360 - 180
        x, _ = view.place(view.latitude, longitude)
        drawn.append(_line(x, 0, x, HEIGHT, x + 4, HEIGHT - 6, f"{abs(longitude):g}° {'E' if longitude >= 0 else 'W'}"))
    return Markup('<g class="graticule">{}</g>').format(Markup("").join(drawn))


def _line(x1: float, y1: float, x2: float, y2: float, x: float, y: float, text: str) -> Markup:
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"></line><text x="{}" y="{}">{}</text>').format(
        *(round(one, 1) for one in (x1, y1, x2, y2, x, y)), text
    )


def _multiples(low: float, high: float, step: float) -> Iterator[float]:
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield round(number * step, 6)


@dataclass(frozen=True)
class Mark:
    """A cell as a circle."""

    cell: PlaceCell
    x: float
    y: float
    radius: float
    label: str | None  # the city, at its largest cell
    is_numbered: bool = False  # there is room for its number
    is_gathered: bool = False  # it stands for several cells


def marks(view: View, found: Sequence[PlaceCell]) -> list[Mark]:
    """Return the circles of the cells, the largest first so that small ones lie on top; each city is named once.

    Cells whose circles would cover each other are one circle, until the map cannot be nearer.
    """
    groups = _gathered(view, found) if view.zoom < MAX_ZOOM else [[cell] for cell in found]
    cells = sorted(((_together(group), len(group) > 1) for group in groups), key=lambda one: -one[0].rows)
    max_rows = max((cell.rows for cell, _ in cells), default=1)
    named = set[str]()
    drawn: list[Mark] = []
    for cell, is_gathered in cells:
        x, y = view.place(cell.latitude, cell.longitude)
        label = cell.city if cell.city and cell.city not in named and len(named) < MAX_LABELS else None
        named |= {label} if label else set()
        radius = round(4 + 18 * math.sqrt(cell.rows / max_rows), 1)
        has_room = all(abs(x - one.x) >= NUMBER_WIDTH or abs(y - one.y) >= NUMBER_HEIGHT for one in drawn)
        is_numbered = cell.rows > 1 and radius >= MIN_NUMBERED and has_room
        drawn.append(Mark(cell, round(x, 1), round(y, 1), radius, label, is_numbered, is_gathered))
    return drawn


def _gathered(view: View, cells: Sequence[PlaceCell]) -> list[list[PlaceCell]]:
    """Return the cells in groups: each around the largest one that is near enough."""
    groups: list[tuple[float, float, list[PlaceCell]]] = []
    for cell in cells:
        x, y = view.place(cell.latitude, cell.longitude)
        near = next((group for left, top, group in groups if math.hypot(x - left, y - top) < GATHERED), None)
        if near is None:
            groups.append((x, y, [cell]))
        else:
            near.append(cell)
    return [group for _x, _y, group in groups]


def _together(cells: Sequence[PlaceCell]) -> PlaceCell:
    """Return one cell for a group, at the place of its largest one."""
    names = [name for cell in cells for name in cell.names]
    return (
        cells[0] if len(cells) == 1 else replace(cells[0], rows=sum(cell.rows for cell in cells), names=names[:NAMES])
    )


def rectangle(view: View, box: MapBox) -> tuple[float, float, float, float]:
    """Return the pixels of a box: left, top, width, height."""
    left, top = view.place(box.north, box.west)
    right, bottom = view.place(box.south, box.east)
    width = right - left if right >= left else right - left + view.size
    return round(left, 1), round(top, 1), round(width, 1), round(bottom - top, 1)


def scale(view: View) -> tuple[float, str]:
    """Return the length of the scale in pixels, and what it stands for at the middle of the picture."""
    metres = EARTH_METRES * math.cos(math.radians(view.latitude)) / view.size
    target = metres * 120
    unit = 10 ** math.floor(math.log10(target))
    nice = max(unit * factor for factor in (1, 2, 5) if unit * factor <= target)
    return round(nice / metres, 1), f"{nice / 1000:g} km" if nice >= 1000 else f"{nice:g} m"


def tiles(view: View, template: str) -> list[tuple[str, float, float, float]]:
    """Return the address, the place and the width of each tile of the picture."""
    middle_x, middle_y = project(view.latitude, view.longitude)
    left, top = middle_x * view.size - WIDTH / 2, middle_y * view.size - HEIGHT / 2
    found = []
    for column in range(math.floor(left / TILE), math.floor((left + WIDTH) / TILE) + 1):
        for row in range(max(0, math.floor(top / TILE)), min(2**view.zoom, math.floor((top + HEIGHT) / TILE) + 1)):
            address = template.replace("{z}", str(view.zoom)).replace("{x}", str(column % 2**view.zoom))
            place = (round(column * TILE - left, 1), round(row * TILE - top, 1))
            found.append((address.replace("{y}", str(row)), *place, float(TILE)))
    return found
