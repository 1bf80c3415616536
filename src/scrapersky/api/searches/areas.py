"""Areas: the places that a name may mean, and where a search looks."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, TypeAdapter, WithJsonSchema

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CURATOR, CurrentActor, requires
from scrapersky.api.http.list_route import ListRoute
from scrapersky.api.http.problems import problems
from scrapersky.api.schemas.fields import Number, RequestModel, ResponseModel
from scrapersky.core.errors import BadGateway, Retryable
from scrapersky.core.text_rules import Text
from scrapersky.providers.areas.area import Area
from scrapersky.providers.areas.geojson import read_polygon
from scrapersky.providers.areas.read_search import MAX_NAMES, GivenWhere, radius_metres
from scrapersky.providers.areas.read_search import read_search as read_parts
from scrapersky.providers.areas.where import UnclearSearch, Where
from scrapersky.providers.base import AmbiguousArea, ProviderRefused, UnknownArea
from scrapersky.providers.osm.nominatim import MAX_CANDIDATES, choose

router = APIRouter(tags=["find"], route_class=ListRoute)

PlaceName = Annotated[Text, WithJsonSchema({**TypeAdapter(Text).json_schema(), "examples": ["Springfield"]})]

Degrees = Annotated[float, Field(ge=-180, le=180), Number]
CHOICE_SECONDS = 5  # that a person waits for the map; without it the search itself asks


FORM_FIELDS = ("area", "near", "radius", "box", "polygon", "country")


class WhereParts(RequestModel):
    """Where a search looks: one of names, near, box and polygon."""

    names: list[Text] | None = Field(
        None, max_length=MAX_NAMES, description="towns, regions or postcodes", examples=[["Turku", "Oulu"]]
    )
    near: Text | None = Field(None, description="a point, latitude first, or a place", examples=["60.17,24.94"])
    radius_metres: Annotated[float, Field(ge=0, le=100_000_000), Number] | None = Field(
        None, description="the distance from `near`; left out: 5,000", examples=[2000]
    )
    box: Annotated[list[Degrees], Field(min_length=4, max_length=4)] | None = Field(
        None,
        description="south, west, north and east in degrees",
        examples=[[60.15, 24.9, 60.2, 25.0]],
    )
    polygon: dict[str, Any] | None = Field(
        None,
        description="a GeoJSON Polygon, MultiPolygon, Feature or FeatureCollection; one that crosses itself or the "
        "antimeridian is refused",
        examples=[{"type": "Polygon", "coordinates": [[[24.9, 60.1], [25.0, 60.1], [25.0, 60.2], [24.9, 60.1]]]}],
    )
    country: Text | None = Field(None, description="only places in this country", examples=["FI"])
    language: Text | None = Field(None, description="the language of the names of places", examples=["en"])


class AreasQuery(RequestModel):
    """The name to look up."""

    text: PlaceName = Field(description="the name of a place, or a postcode")
    country: Text | None = Field(None, description="only places in this country", examples=["US"])
    language: Text | None = Field(None, description="the language of the names in the response", examples=["en"])


class AreaCandidate(ResponseModel):
    """A place that the name may mean."""

    name: str = Field(description="its full name", examples=["Springfield, Sangamon County, Illinois, United States"])
    label: str = Field(
        description="a shorter name that means this place alone: the area of a search",
        examples=["Springfield, Illinois, United States"],
    )
    kind: str = Field(description="what kind of place it is", examples=["city"])
    country: str | None = Field(description="the code of its country", examples=["US"])
    box: list[Annotated[float, Number]] = Field(
        max_length=4, description="south, west, north and east in degrees", examples=[[39.6, -89.8, 39.9, -89.5]]
    )
    chosen: bool = Field(description="whether a search for the name takes this place", examples=[False])


class AreaList(ResponseModel):
    """The places that a name may mean."""

    items: list[AreaCandidate] = Field(max_length=MAX_CANDIDATES, description="the best known first")
    is_ambiguous: bool = Field(
        description="several are about as well known: a search has to name one, or the country", examples=[True]
    )


class GeocoderRefused(BadGateway):
    """The service that knows the places refuses the request."""


@router.get("/areas", summary="Places that a name may mean", **requires(CURATOR, responses=problems(502)))
async def list_areas(
    query: Annotated[AreasQuery, Query()], application: CurrentApplication, actor: CurrentActor
) -> AreaList:
    """Return the places of this name; none if it is unknown. Nominatim is asked, at most once per second for all."""
    where = _where(query)
    try:
        found = await application.geocoder.candidates(where.names[0], where)
    except UnknownArea:
        return AreaList(items=[], is_ambiguous=False)
    except ProviderRefused as refusal:
        raise GeocoderRefused(str(refusal)) from refusal
    chosen = _chosen(where.names[0], found)
    return AreaList(items=[_as_candidate(area, area is chosen) for area in found], is_ambiguous=chosen is None)


def given_where(area: str | None, parts: WhereParts | None) -> GivenWhere:
    """Return where a request says to look. Raises UnclearSearch or BadPolygon."""
    if parts is None:
        return GivenWhere((area,) if area else ())
    if area:
        raise UnclearSearch("Give either `area` or `where`.")
    return GivenWhere(
        tuple(parts.names or ()),
        parts.near,
        parts.radius_metres,
        ",".join(map(str, parts.box)) if parts.box else None,
        read_polygon(parts.polygon) if parts.polygon is not None else None,
        parts.country,
        parts.language,
    )


def parse_where(fields: Mapping[str, str]) -> WhereParts | None:
    """Read where to look from the texts of a form: area, near, radius, box, polygon, country; None if all are empty.

    Raises UnclearSearch or ValidationError.
    """
    given = {name: text for name in FORM_FIELDS if (text := fields.get(name, "").strip())}
    if not given:
        return None
    try:
        box = [float(part) for part in given["box"].split(",")] if "box" in given else None
    except ValueError:
        raise UnclearSearch("A box is four numbers: south, west, north and east, such as 60.15,24.9,60.2,25.") from None
    try:
        polygon = json.loads(given["polygon"]) if "polygon" in given else None
    except ValueError:
        raise UnclearSearch("The polygon is not JSON: paste a GeoJSON Polygon or Feature.") from None
    return WhereParts(
        names=[given["area"]] if "area" in given else None,
        near=given.get("near"),
        radius_metres=radius_metres(given["radius"]) if "radius" in given else None,
        box=box,
        polygon=polygon,
        country=given.get("country"),
    )


async def places_to_choose(application: WebApplication, where: Where) -> list[AreaCandidate]:
    """Return the places that a name may mean if a person has to choose one; none if the name is clear, or the map
    cannot be asked now."""
    if len(where.names) != 1:
        return []
    try:
        async with asyncio.timeout(CHOICE_SECONDS):
            await application.geocoder.locate(where)
    except AmbiguousArea as ambiguous:
        return [_as_candidate(area, False) for area in ambiguous.candidates]
    except (ProviderRefused, Retryable, TimeoutError):
        return []  # the search asks again, and stores what is wrong
    return []


def _where(query: AreasQuery) -> Where:
    """Return where the query says to look. Raises UnclearSearch, which names the parameters."""
    try:
        return read_parts("*", GivenWhere((query.text,), country=query.country, language=query.language))[1]
    except UnclearSearch as error:
        names = [name.rpartition(".")[2] for name in error.fields]
        raise UnclearSearch(
            str(error), *(f"query.{name}" for name in names if name in AreasQuery.model_fields)
        ) from None


def _chosen(name: str, found: list[Area]) -> Area | None:
    try:
        return choose(name, found)
    except UnknownArea:
        return None


def _as_candidate(area: Area, chosen: bool) -> AreaCandidate:
    edges = [area.box.south, area.box.west, area.box.north, area.box.east]
    label = area.label or area.name
    return AreaCandidate(name=area.name, label=label, kind=area.kind, country=area.country, box=edges, chosen=chosen)
