"""The provider file: the rows of a file of businesses are its places."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from scrapersky.core import clock
from scrapersky.extract.countries import country_code
from scrapersky.extract.text import fold, single_line
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceNotFound, PlaceQuery, QueryRefused
from scrapersky.providers.call_budget import CallBudget
from scrapersky.providers.declaration import ProviderContext, ProviderDeclaration
from scrapersky.providers.fields import phone_numbers, postal_address
from scrapersky.providers.file.rows import PROFILES, read_rows
from scrapersky.providers.osm.categories import PLURALS
from scrapersky.providers.split_query import what_and_where

log = structlog.get_logger(__name__)

NAME = "file"
PAGE_SIZE = 500
MAX_NOTES = 20
MAX_ID_LENGTH = 300
EVERYTHING = ("", "*", "all", "everything")


class BusinessFile:
    """A search returns the rows whose name, category or address has its words; "*" returns all."""

    name = NAME

    def __init__(self, path: Path) -> None:
        self._path = path

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Return a cost of zero."""
        return Estimate(0, 0, f"Reading {self._path.name} costs nothing.")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield the matching businesses in the order of the file; unusable rows are noted with their line."""
        query = what_and_where(query)
        if query.where.radius_metres:
            raise QueryRefused("A file has no map of places: give a point to be near, not a name.")
        read = await asyncio.to_thread(_read, self._path)
        errors = [error for _, error in read if error]
        meter.notes += errors[:MAX_NOTES]
        if len(errors) > MAX_NOTES:
            meter.notes.append(f"{len(errors) - MAX_NOTES} more rows cannot be used.")
        places = {place.provider_id: place for place, _ in read if place is not None and _matches(place, query)}
        found = list(places.values())[: query.limit]
        log.info("places_found", provider=NAME, rows=len(read), unusable=len(errors), places=len(found))
        for start in range(0, len(found), PAGE_SIZE):
            yield found[start : start + PAGE_SIZE]

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the row with this id; without an id column, only while the row is unchanged."""
        read = await asyncio.to_thread(_read, self._path)
        place = next((place for place, _ in read if place is not None and place.provider_id == provider_id), None)
        if place is None:
            raise PlaceNotFound(f"{self._path.name} has no business {provider_id[:40]!r} any more.")
        return place


def _read(path: Path) -> list[tuple[PlaceDetails | None, str]]:
    return list(_places(path))


def _places(path: Path) -> Iterator[tuple[PlaceDetails | None, str]]:
    """Yield every row as a place, or as the reason why it is unusable."""
    lines: dict[str, tuple[int, str]] = {}  # the first line of each id, and the name there
    for row in read_rows(path):
        if row.error:
            yield None, f"Line {row.line} {row.error}."
            continue
        try:
            place = file_place(row.values)
        except ValueError as error:
            yield None, f"Line {row.line}: {error}."
            continue
        first, name = lines.setdefault(place.provider_id, (row.line, fold(place.name)))
        if name == fold(place.name):
            yield place, ""
        else:
            its = f"its id {place.provider_id[:40]!r}"
            yield None, f"Line {row.line}: {its} is that of another business on line {first}."


def file_place(row: Mapping[str, str]) -> PlaceDetails:
    """Convert the values of a row; raise ValueError with the reason if that is not possible."""
    values = {name: text for name, value in row.items() if (text := single_line(value, 2000))}
    if "name" not in values:
        raise ValueError("it has no name")
    country = country_code(values.get("country", ""))
    phones = phone_numbers([values["phone"]], country) if "phone" in values else [None]
    latitude, longitude = _degrees(values, "latitude", 90), _degrees(values, "longitude", 180)
    count = _number(values, "rating_count")
    return PlaceDetails(
        provider=NAME,
        provider_id=_identity(values),
        name=values["name"],
        address=values.get("address")
        or postal_address(*(values.get(name) for name in ("street", "postcode", "city", "country"))),
        street=values.get("street"),
        city=values.get("city"),
        region=values.get("region"),
        postcode=values.get("postcode"),
        country=country or values.get("country"),
        latitude=latitude if longitude is not None else None,
        longitude=longitude if latitude is not None else None,
        phone=phones[0],
        website=values.get("website"),
        categories=tuple(part.strip() for part in values.get("category", "").split(";") if part.strip()),
        rating=_number(values, "rating"),
        rating_count=None if count is None else int(count),
        business_status=values.get("status"),
        fetched_at=clock.now(),
        extra=_contact_points(values),
    )


def _contact_points(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the email addresses, profiles and the person of a row, as `place_contacts` reads them."""
    emails = values["email"].split("; ") if "email" in values else []
    person = {"name": values.get("person"), "title": values.get("person_title"), "email": emails[0] if emails else None}
    return {
        name: found
        for name, found in (
            ("emails", emails),
            ("socials", {name: values[name] for name in PROFILES if name in values}),
            ("people", [person] if person["name"] else []),
        )
        if found
    }


def _identity(values: dict[str, str]) -> str:
    """Return the id of the file; without one, an id that depends on the values and not on the line."""
    if "id" in values:
        if len(values["id"]) > MAX_ID_LENGTH:
            raise ValueError(f"its id is longer than {MAX_ID_LENGTH} characters")
        return values["id"]
    parts = [fold(values.get(name, "")) for name in ("name", "website", "phone", "address", "street", "city")]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def _degrees(values: dict[str, str], name: str, maximum: float) -> float | None:
    degrees = _number(values, name)
    if degrees is not None and abs(degrees) > maximum:
        raise ValueError(f"{degrees:g} is not a {name}")
    return degrees


def _number(values: dict[str, str], name: str) -> float | None:
    if name not in values:
        return None
    try:
        number = float(values[name].replace(",", "."))
    except ValueError:
        raise ValueError(f"{values[name][:40]!r} is not a {name}") from None
    if number != number or abs(number) == float("inf"):
        raise ValueError(f"{values[name][:40]!r} is not a {name}")
    return number


def _matches(place: PlaceDetails, query: PlaceQuery) -> bool:
    """Return whether name or category have the words of the kind, and the business is in the area."""
    described = fold(" ".join([place.name, *place.categories]))
    kind = fold(query.text).split()
    is_kind = fold(query.text) in EVERYTHING or all(_has(described, word) for word in kind)
    return is_kind and _is_in(place, query)


def _is_in(place: PlaceDetails, query: PlaceQuery) -> bool:
    """Return whether the address has the words of a named area, or the coordinates are in the shape."""
    where = query.where
    if where.shape is not None:
        at = (place.latitude, place.longitude)
        return None not in at and where.shape.contains(place.latitude or 0.0, place.longitude or 0.0)
    region = (place.address, place.street, place.city, place.region, place.postcode, place.country)
    located = fold(" ".join(part for part in region if part))
    names = [fold(name).split() for name in where.names]
    return not names or any(all(word.strip(",") in located for word in words) for words in names)


def _has(text: str, word: str) -> bool:
    return any(form in text for form in (word, *(word.removesuffix(end) for end in PLURALS if word.endswith(end))))


def _build(context: ProviderContext) -> BusinessFile:
    return BusinessFile(Path(context.settings.provider_file_path or ""))


BUSINESS_FILE = ProviderDeclaration(
    name=NAME,
    label="File",
    build=_build,
    required_setting="provider_file_path",
    needs_area=False,
    data="the columns of the file",
    attribution="that of the file",
)
