"""The map of places: cells drawn by the server, the same places as a list beside it, a box as a filter."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line.place_map import read_cells
from scrapersky.api.resources.models import set_filters
from scrapersky.console.answers import page
from scrapersky.console.columns import GRIDS
from scrapersky.console.draw import map as drawing
from scrapersky.console.draw.map import MAX_ZOOM, View, view_of
from scrapersky.console.gates import CurrentPage
from scrapersky.console.language import gettext as _
from scrapersky.console.pages.listing import filters
from scrapersky.console.pages.listing.grid import GridPage, UnknownListFilter, list_query, read_grid
from scrapersky.store.listing import place_map
from scrapersky.store.listing.map_cells import BadBox, MapBox, parse_box
from scrapersky.store.listing.paginate import Filters

HERE = f"{CONSOLE}/map"
GRID = GRIDS["places"]
LIST_ROWS = 25
SIDES = ("west", "south", "east", "north")
OWN_FIELDS = ("at", "zoom", "cursor", "before", "menu", *SIDES)
WHOLE = View(30.0, 10.0, 1)  # the whole world
STEP = 0.35  # of the picture, by which the arrows move it


@dataclass(frozen=True)
class MapPage:
    """The map with everything that its template shows."""

    view: View
    marks: list[drawing.Mark]
    listed: GridPage
    box: MapBox | None  # the box that is chosen
    fields: filters.Fields  # the filters of the address but the box
    tiles: list[tuple[str, float, float, float]]
    attribution: str

    @property
    def seen(self) -> MapBox:
        """What is seen."""
        return self.view.box

    def address(self, view: View | None = None, box: MapBox | None = None) -> str:
        """Return the address of the map with another view or box."""
        view, box = view or self.view, box or self.box
        place = [("at", f"{view.latitude:g},{view.longitude:g}"), ("zoom", str(view.zoom))]
        return filters.address(HERE, [*self.fields, *([("box", str(box))] if box else []), *place])

    @property
    def without_box(self) -> str:
        """The address of the map without the chosen box."""
        place = [("at", f"{self.view.latitude:g},{self.view.longitude:g}"), ("zoom", str(self.view.zoom))]
        return filters.address(HERE, [*self.fields, *place])

    def list_address(self, box: MapBox) -> str:
        """Return the address of the list of the places in a box."""
        return filters.address(f"{CONSOLE}/places", [*self.fields, ("box", str(box))])

    @property
    def is_empty(self) -> bool:
        """Whether there is no place at all: nothing is chosen, and the view shows the whole world."""
        return not self.listed.listing.items and not self.fields and self.box is None and self.view == WHOLE

    @property
    def moves(self) -> dict[str, str]:
        """The addresses that the buttons lead to."""
        views = {
            "north": self.view.moved(0, -STEP),
            "south": self.view.moved(0, STEP),
            "west": self.view.moved(-STEP, 0),
            "east": self.view.moved(STEP, 0),
            "in": self.view.moved(0, 0, 1),
            "out": self.view.moved(0, 0, -1),
        }
        return {name: self.address(view) for name, view in views.items()}

    def closer(self, mark: drawing.Mark) -> str:
        """Return where a circle leads: nearer, or to the list of its places where they are few."""
        if not mark.is_gathered and (mark.cell.rows <= LIST_ROWS or self.view.zoom >= MAX_ZOOM):
            return self.list_address(mark.cell.box)
        nearer = View(round(mark.cell.latitude, 5), round(mark.cell.longitude, 5), min(MAX_ZOOM, self.view.zoom + 2))
        return self.address(nearer)

    @property
    def lines(self) -> Any:
        """The lines of latitude and longitude."""
        return drawing.draw_lines(self.view)

    @property
    def scale(self) -> tuple[float, str]:
        """The length of the scale in pixels and in words."""
        return drawing.scale(self.view)

    @property
    def rectangle(self) -> tuple[float, float, float, float] | None:
        """The pixels of the chosen box."""
        return drawing.rectangle(self.view, self.box) if self.box else None


async def show(asked: CurrentPage) -> Response:
    """Draw the map. Raises UnknownListFilter."""
    sent = [(name, value) for name, value in asked.request.query_params.multi_items() if value]
    known = GRID.api.resource.filters
    if unknown := sorted({name for name, _value in sent} - {*known, *OWN_FIELDS}):
        said = _("%(filter)s is not a filter of the map. Open the map without it.")
        raise UnknownListFilter(said % {"filter": ascii(unknown[0][:60])}, unknown[0])
    fields = [(name, value) for name, value in sent if name in known and name != "box"]
    chosen = set_filters(list_query(GRID, fields, {}, 1), GRID.api.resource)
    box = _box(dict(sent))
    view = _view(dict(sent)) or await _fitting(asked, chosen, box)
    seen = await read_cells(asked.application, asked.actor, chosen, view.box, view.zoom)
    listed = await read_grid(asked, GRID, HERE, {"box": str(box or view.box)}, LIST_ROWS)
    template = asked.application.settings.map_tiles
    shown = MapPage(
        view,
        drawing.marks(view, seen),
        listed,
        box,
        fields,
        drawing.tiles(view, template) if template else [],
        asked.application.settings.map_tiles_attribution,
    )
    response = page(asked, "map.html", map=shown)
    if template:
        origin = f"{urlsplit(template).scheme}://{urlsplit(template).netloc}"
        policy = response.headers["Content-Security-Policy"]
        response.headers["Content-Security-Policy"] = policy.replace("img-src 'self'", f"img-src 'self' {origin}")
    return response


def _box(sent: dict[str, str]) -> MapBox | None:
    """Read the box of the address, or of the fields of the form. Raises UnknownListFilter."""
    given = [sent.get(side, "") for side in SIDES]
    try:
        if any(given):
            return parse_box(",".join(one.replace(",", ".").strip() for one in given))
        return parse_box(sent["box"]) if "box" in sent else None
    except BadBox as error:
        raise UnknownListFilter(_("The box is not right: %(why)s.") % {"why": error}, "box") from None


def _view(sent: dict[str, str]) -> View | None:
    """Read the view of the address; None if it has none that is sensible."""
    try:
        latitude, longitude = (float(part) for part in sent.get("at", "").split(","))
        zoom = int(sent.get("zoom", ""))
    except ValueError:
        return None
    is_sensible = -85 <= latitude <= 85 and -180 <= longitude <= 180 and 0 <= zoom <= MAX_ZOOM
    return View(latitude, longitude, zoom) if is_sensible else None


async def _fitting(asked: CurrentPage, chosen: Filters, box: MapBox | None) -> View:
    """Return the view that shows the chosen box, or all places that match."""
    if box is not None:
        return view_of(box)
    async with asked.application.database.session(asked.actor.tenant_id) as session:
        around = await place_map.extent(session, asked.actor.tenant_id, chosen)
    return view_of(around) if around else WHOLE
