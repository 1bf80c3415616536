"""Places on the map: how many there are in each cell, with their commonest city and a few names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, case, func, literal, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import LocalBusiness, Place
from scrapersky.store.listing.map_cells import LEVELS, MapBox, level_of, square, unproject
from scrapersky.store.listing.paginate import Filters, matching
from scrapersky.store.listing.resources import PLACES

MAX_CELLS = 400
NAMES = 5  # of a cell
SAMPLE = 25  # places of a cell whose city is read
WORLD = MapBox(-180.0, -85.0, 180.0, 85.0)


@dataclass(frozen=True)
class PlaceCell:
    """A square of the map: how many places it has, their middle, their commonest city, and a few of their names."""

    box: MapBox
    rows: int
    latitude: float
    longitude: float
    city: str | None
    names: Sequence[str]


async def cells(session: AsyncSession, tenant_id: UUID, filters: Filters, box: MapBox, zoom: int) -> list[PlaceCell]:
    """Return the cells of a box that have places, those with the most places first."""
    level = level_of(box, zoom, MAX_CELLS)
    within = {**filters, "box": str(box)} if "box" not in filters else filters
    found = await session.execute(statement(tenant_id, within, level))
    return [_cell(row, level) for row in found]


def statement(tenant_id: UUID, filters: Filters, level: int) -> Select[Any]:
    """Build the query: places are counted by the index of cells, then a few of each cell are read."""
    shift = literal(2 * (LEVELS - level), literal_execute=True)
    cell = Place.cell.op(">>")(shift)
    counted = matching(
        select(
            cell.label("cell"),
            func.count().label("rows"),
            func.avg(Place.latitude).label("latitude"),
            func.avg(Place.longitude).label("longitude"),
        ),
        PLACES,
        tenant_id,
        filters,
    )
    many = counted.where(Place.cell.is_not(None)).group_by(cell).order_by(func.count().desc(), cell).limit(MAX_CELLS)
    chosen = many.cte("chosen")
    first = chosen.c.cell.op("<<")(shift)
    columns: Any = select(Place.id, Place.name)
    some = matching(columns, PLACES, tenant_id, filters)
    some = some.where(Place.cell >= first, Place.cell < (chosen.c.cell + 1).op("<<")(shift))
    sample = some.order_by(Place.cell).limit(SAMPLE).correlate(chosen).lateral("sample")
    city = and_(LocalBusiness.tenant_id == tenant_id, LocalBusiness.place_id == sample.c.id)
    named = (
        select(
            func.array_agg(sample.c.name).label("names"),
            func.mode().within_group(LocalBusiness.city).label("city"),
        )
        .select_from(sample.outerjoin(LocalBusiness, city))
        .correlate(chosen)
        .lateral("named")
    )
    return select(chosen, named.c.names, named.c.city).select_from(chosen.join(named, true()))


def _cell(row: Any, level: int) -> PlaceCell:
    column, line = square(row.cell, level)
    north, west = unproject(column / 2**level, line / 2**level)
    south, east = unproject((column + 1) / 2**level, (line + 1) / 2**level)
    names = [name for name in row.names or () if name][:NAMES]
    return PlaceCell(MapBox(west, south, east, north), row.rows, row.latitude, row.longitude, row.city, names)


async def extent(session: AsyncSession, tenant_id: UUID, filters: Filters) -> MapBox | None:
    """Return the smallest box with all places that match; it may cross the 180th meridian. None if there is none."""
    east_of_greenwich = Place.longitude + case((Place.longitude < 0, 360), else_=0)
    sides = (Place.longitude, east_of_greenwich, Place.latitude)
    wanted: Any = select(*(edge(side) for side in sides for edge in (func.min, func.max)))
    rows = matching(wanted, PLACES, tenant_id, filters).where(Place.cell.is_not(None))
    west, east, other_west, other_east, south, north = (await session.execute(rows)).one()
    if west is None:
        return None
    if other_east - other_west < east - west:  # the way over the 180th meridian is shorter
        west, east = ((side + 180) % 360 - 180 for side in (other_west, other_east))
    return MapBox(west, south, east, north)
