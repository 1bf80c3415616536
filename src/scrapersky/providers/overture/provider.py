"""The provider overture: an open data set of places with web sites, phones and emails."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import islice

import structlog

from scrapersky.extract.text import fold
from scrapersky.providers.areas.area import Area, Geocoder
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceNotFound, PlaceQuery, QueryRefused, locate
from scrapersky.providers.call_budget import CallBudget
from scrapersky.providers.declaration import ProviderContext, ProviderDeclaration
from scrapersky.providers.osm.categories import PLURALS, business_kind
from scrapersky.providers.overture.dataset import OvertureDataset
from scrapersky.providers.overture.place import LICENCE, NAME, categories, overture_place
from scrapersky.providers.split_query import required_query

log = structlog.get_logger(__name__)

MAX_PLACES = 20_000
PAGE_SIZE = 500


class Overture:
    """Finds the likely places of a kind in the box of an area."""

    name = NAME

    def __init__(self, dataset: OvertureDataset, geocoder: Geocoder) -> None:
        self._dataset = dataset
        self._geocoder = geocoder

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Return a cost of zero."""
        return Estimate(1, 0, "Overture costs nothing; reading it from the bucket takes a minute or two.")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield the places of the kind in the areas, in pages; the data set is read by box, so no tiles are needed."""
        query = required_query(query)
        what, seen = query.text, set[str]()
        limit = min(query.limit or MAX_PLACES, MAX_PLACES)
        if business_kind(what) is None:
            meter.notes.append(f"{what!r} is not a known kind of business: names and categories were searched for it.")
        if not query.areas:
            await meter.pay()
        for area in await locate(query, self._geocoder, meter):
            found = await asyncio.to_thread(self._read, area, what, limit - len(seen), frozenset(seen))
            seen.update(place.provider_id for place in found)
            log.info("places_found", provider=NAME, area=area.name, kind=what, places=len(found))
            for start in range(0, len(found), PAGE_SIZE):
                yield found[start : start + PAGE_SIZE]
            if len(seen) >= limit:
                break
        if len(seen) >= MAX_PLACES:
            meter.note_missing(f"Only the first {MAX_PLACES} places were taken; search smaller areas for the others.")

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the place with this id from files on this machine; the bucket is too large to search for one."""
        if self._dataset.is_remote:
            raise QueryRefused("A single place cannot be looked up in Overture's bucket; search for it again.")
        await budget.charge(0)
        row = await asyncio.to_thread(self._dataset.one, provider_id)
        place = overture_place(row) if row is not None else None
        if place is None:
            raise PlaceNotFound(f"Overture has no place {provider_id[:40]!r}.")
        return place

    def _read(self, area: Area, what: str, limit: int, known: frozenset[str]) -> list[PlaceDetails]:
        return list(islice(self._matching(area, what, known), limit))

    def _matching(self, area: Area, what: str, known: frozenset[str]) -> Iterator[PlaceDetails]:
        terms, seen = category_terms(what), set(known)
        by_name = fold(what) if business_kind(what) is None else None
        for row in self._dataset.within(area.box):
            place = overture_place(row)
            if place is None or place.provider_id in seen:
                continue
            if not area.contains(place.latitude, place.longitude, place.postcode):
                continue
            if matches(categories(row), terms) or (by_name and by_name in fold(place.name)):
                seen.add(place.provider_id)
                yield place


def category_terms(what: str) -> frozenset[str]:
    """Return the names that Overture may use: the word itself, that of OpenStreetMap, and their translations."""
    kind = business_kind(what)
    word = fold(what).replace(" ", "_").replace("-", "_")
    values = [tag.partition("=")[2] for tag in kind.tags] if kind else []
    singular = [word.removesuffix(ending) for ending in PLURALS if word.endswith(ending)]
    return frozenset(name for one in (word, *singular, *values) if one for name in (one, *_translated().get(one, ())))


def matches(found: Sequence[str], terms: frozenset[str]) -> bool:
    """Return whether a category is one of the terms, or begins or ends with one: italian_restaurant."""
    return any(
        category == term or category.endswith(f"_{term}") or category.startswith(f"{term}_")
        for category in found
        for term in terms
    )


@cache
def _translated() -> dict[str, list[str]]:
    text = resources.files(__package__).joinpath("categories.toml").read_text("utf-8")
    return {word: [name.strip() for name in names.split(",")] for word, names in tomllib.loads(text).items()}


def _build(context: ProviderContext) -> Overture:
    settings = context.settings
    where = (settings.provider_overture_region, settings.provider_overture_endpoint)
    return Overture(OvertureDataset(settings.provider_overture_path or "", *where), context.geocoder)


OVERTURE = ProviderDeclaration(
    name=NAME,
    label="Overture",
    build=_build,
    required_setting="provider_overture_path",
    data="name, address, phones, websites, emails, socials",
    attribution=LICENCE,
)
