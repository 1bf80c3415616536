"""A file of businesses that somebody already has, as a provider."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path

import structlog

from scrapersky.core import clock
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.text import fold, single_line
from scrapersky.providers.area import what_and_where
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.providers.file.rows import read_rows
from scrapersky.providers.osm.categories import PLURALS

log = structlog.get_logger(__name__)

PAGE = 500
TROUBLES_TOLD = 20
MAX_ID_LENGTH = 300
EVERYTHING = ("", "*", "all", "everything")


class FileOfBusinesses:
    """Every row is a place; a search takes those whose name, category or address has its words, or "*" for all."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Nothing: the file is here."""
        return Estimate(0, 0, f"Reading {self._path.name} costs nothing.")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """The businesses that fit, in the order of the file; rows that cannot be used are named by their line."""
        read = await asyncio.to_thread(_read, self._path)
        troubles = [trouble for _, trouble in read if trouble]
        meter.notes += troubles[:TROUBLES_TOLD]
        if len(troubles) > TROUBLES_TOLD:
            meter.notes.append(f"{len(troubles) - TROUBLES_TOLD} more rows cannot be used.")
        places = {place.provider_id: place for place, _ in read if place is not None and _fits(place, query)}
        found = list(places.values())[: query.limit]
        log.info("places_found", provider=self.name, rows=len(read), unusable=len(troubles), places=len(found))
        for start in range(0, len(found), PAGE):
            yield found[start : start + PAGE]

    async def details(self, provider_id: str, purse: DetailBudget) -> PlaceDetails:
        """The row with this id as it is now; without a column for ids, as long as it is unchanged. Nobody is called."""
        read = await asyncio.to_thread(_read, self._path)
        place = next((place for place, _ in read if place is not None and place.provider_id == provider_id), None)
        if place is None:
            raise ProviderRefused(f"{self._path.name} has no business {provider_id[:40]!r} any more.")
        return place


def _read(path: Path) -> list[tuple[PlaceDetails | None, str]]:
    """Every row as a place, or as a sentence that says why it is none."""
    return list(_places(path))


def _places(path: Path) -> Iterator[tuple[PlaceDetails | None, str]]:
    lines: dict[str, tuple[int, str]] = {}  # where each id stood first, and for whom
    for row in read_rows(path):
        if row.trouble:
            yield None, f"Line {row.line} {row.trouble}."
            continue
        try:
            place = place_of(row.values)
        except ValueError as error:
            yield None, f"Line {row.line}: {error}."
            continue
        first, name = lines.setdefault(place.provider_id, (row.line, fold(place.name)))
        if name == fold(place.name):
            yield place, ""
        else:
            its = f"its id {place.provider_id[:40]!r}"
            yield None, f"Line {row.line}: {its} is that of another business on line {first}."


def place_of(row: Mapping[str, str]) -> PlaceDetails:
    """The values of a row as a place; ValueError says why it is none."""
    values = {name: text for name, value in row.items() if (text := single_line(value, 2000))}
    if "name" not in values:
        raise ValueError("it has no name")
    country = values.get("country", "").upper()
    reading = parse_phone(values["phone"], country if len(country) == 2 else "") if "phone" in values else None
    latitude, longitude = _degrees(values, "latitude", 90), _degrees(values, "longitude", 180)
    count = _number(values, "rating_count")
    return PlaceDetails(
        provider="file",
        provider_id=_identity(values),
        name=values["name"],
        address=values.get("address") or _address(values),
        street=values.get("street"),
        city=values.get("city"),
        region=values.get("region"),
        postcode=values.get("postcode"),
        country=country if len(country) == 2 else values.get("country"),
        latitude=latitude if longitude is not None else None,
        longitude=longitude if latitude is not None else None,
        phone=reading.number if reading else values.get("phone"),
        website=values.get("website"),
        categories=tuple(part.strip() for part in values.get("category", "").split(";") if part.strip()),
        rating=_number(values, "rating"),
        rating_count=None if count is None else int(count),
        business_status=values.get("status"),
        fetched_at=clock.now(),
        extra={"emails": values["email"].split("; ")} if "email" in values else {},
    )


def _identity(values: dict[str, str]) -> str:
    """The id that the file gives; else the same row has the same id, whichever line it stands on."""
    if "id" in values:
        if len(values["id"]) > MAX_ID_LENGTH:
            raise ValueError(f"its id is longer than {MAX_ID_LENGTH} characters")
        return values["id"]
    parts = [fold(values.get(name, "")) for name in ("name", "website", "phone", "address", "street", "city")]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def _address(values: dict[str, str]) -> str | None:
    town = " ".join(values[name] for name in ("postcode", "city") if name in values)
    return ", ".join(part for part in (values.get("street"), town, values.get("country")) if part) or None


def _degrees(values: dict[str, str], name: str, most: float) -> float | None:
    degrees = _number(values, name)
    if degrees is not None and abs(degrees) > most:
        raise ValueError(f"{degrees:g} is no {name}")
    return degrees


def _number(values: dict[str, str], name: str) -> float | None:
    if name not in values:
        return None
    try:
        number = float(values[name].replace(",", "."))
    except ValueError:
        raise ValueError(f"{values[name][:40]!r} is no {name}") from None
    if number != number or abs(number) == float("inf"):
        raise ValueError(f"{values[name][:40]!r} is no {name}")
    return number


def _fits(place: PlaceDetails, query: PlaceQuery) -> bool:
    """Whether the place has the words of the kind somewhere, and the words of the area in its address."""
    what, where = what_and_where(query)
    about = fold(" ".join([place.name, *place.categories]))
    region = (place.address, place.street, place.city, place.region, place.postcode, place.country)
    around = fold(" ".join(part for part in region if part))
    kind = fold(what).split()
    return (fold(what) in EVERYTHING or all(_has(about, word) for word in kind)) and all(
        word.strip(",") in around for word in fold(where or "").split()
    )


def _has(text: str, word: str) -> bool:
    return any(form in text for form in (word, *(word.removesuffix(end) for end in PLURALS if word.endswith(end))))
