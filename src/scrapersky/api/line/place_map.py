"""The map of places: how many places there are in each cell of a part of the map."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, create_model

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import VIEWER, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.resources.models import filter_query, set_filters
from scrapersky.api.schemas.fields import Count, ResponseModel
from scrapersky.core.text_rules import Text
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import place_map
from scrapersky.store.listing.map_cells import LEVELS, MapBox, parse_box
from scrapersky.store.listing.paginate import Filters
from scrapersky.store.listing.place_map import MAX_CELLS, NAMES, WORLD, PlaceCell
from scrapersky.store.listing.resources import PLACES

router = APIRouter(prefix="/places", tags=["places"], route_class=ListRoute)

MAX_ZOOM = LEVELS - 3


class MapCell(ResponseModel):
    """The places in one square of the map."""

    box: str = Field(description="the square, as the filter `box` takes it", examples=["24.8,60.1,25.1,60.3"])
    rows: Count = Field(description="the number of places", examples=[311])
    latitude: float = Field(description="the middle of the places", examples=[60.17])
    longitude: float = Field(description="the middle of the places", examples=[24.94])
    city: str | None = Field(description="the commonest city of a few of them", examples=["Helsinki"])
    names: list[Text] = Field(max_length=NAMES, description="a few of their names", examples=[["Kallio Dental"]])


class MapCells(ResponseModel):
    """The cells of a part of the map that have places."""

    items: list[MapCell] = Field(max_length=MAX_CELLS, description="those with the most places first")


_zoom: Any = (
    int,
    Field(0, ge=0, le=MAX_ZOOM, description="the zoom of the map: 0 is the world on 256 pixels", examples=[11]),
)
CellQuery: Any = create_model("PlaceCellQuery", __base__=filter_query(PLACES), zoom=_zoom)


@router.get("/cells", summary="Places on the map", **requires(VIEWER))
async def list_place_cells(
    query: Annotated[CellQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> MapCells:
    """Count the places that match in each cell of `box`; larger cells if there would be more than 400."""
    given: Any = query
    filters = set_filters(given, PLACES)
    box = parse_box(filters["box"]) if "box" in filters else WORLD
    return MapCells(items=[_shown(cell) for cell in await read_cells(application, actor, filters, box, given.zoom)])


async def read_cells(
    application: WebApplication, actor: Actor, filters: Filters, box: MapBox, zoom: int
) -> list[PlaceCell]:
    """Return the cells of a part of the map."""
    async with application.database.session(actor.tenant_id) as session:
        return await place_map.cells(session, actor.tenant_id, filters, box, zoom)


def _shown(cell: PlaceCell) -> MapCell:
    return MapCell.model_validate({**vars(cell), "box": str(cell.box)})
