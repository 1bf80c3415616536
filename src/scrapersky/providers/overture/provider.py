"""Overture places: an open data set in parquet, with web sites, phones and emails, and no key."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import islice

import structlog

from scrapersky.extract.text import fold
from scrapersky.providers.area import Box, Geocoder, what_and_where
from scrapersky.providers.base import Estimate, Meter, PlaceDetails, PlaceQuery, ProviderRefused
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.providers.osm.categories import PLURALS, business_kind
from scrapersky.providers.overture.dataset import OvertureDataset
from scrapersky.providers.overture.place import categories, place_of

log = structlog.get_logger(__name__)

MAX_PLACES = 20_000
PAGE = 500


class Overture:
    """Every likely place of a kind in a box; where the box lies, a geocoder says."""

    name = "overture"

    def __init__(self, dataset: OvertureDataset, geocoder: Geocoder) -> None:
        self._dataset = dataset
        self._geocoder = geocoder

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Nothing, but time: the files of the area are read."""
        return Estimate(1, 0, "Overture costs nothing; reading it from the bucket takes a minute or two.")

    async def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """The places of the kind in the area's box, in pages."""
        what, where = what_and_where(query)
        if not what or not where:
            raise ProviderRefused(
                "The search does not say what to look for and where: write 'dentists in Helsinki', or give an area."
            )
        meter.charge()
        area = await self._geocoder(where, query.country, query.language)
        most = min(query.limit or MAX_PLACES, MAX_PLACES)
        found = await asyncio.to_thread(self._read, area.box, what, most)
        if business_kind(what) is None:
            meter.notes.append(
                f"{what!r} is no kind of business known here: it was looked for in names and categories."
            )
        log.info("places_found", provider=self.name, area=area.name, kind=what, places=len(found))
        for start in range(0, len(found), PAGE):
            yield found[start : start + PAGE]

    async def details(self, provider_id: str, purse: DetailBudget) -> PlaceDetails:
        """The place with this id, from files on this machine; the bucket is too large to look for one."""
        if self._dataset.is_remote:
            raise ProviderRefused("A single place cannot be looked up in Overture's bucket; search for it again.")
        await purse.take(0)
        row = await asyncio.to_thread(self._dataset.one, provider_id)
        place = place_of(row) if row is not None else None
        if place is None:
            raise ProviderRefused(f"Overture has no place {provider_id[:40]!r}.")
        return place

    def _read(self, box: Box, what: str, most: int) -> list[PlaceDetails]:
        return list(islice(self._fitting(box, what), most))

    def _fitting(self, box: Box, what: str) -> Iterator[PlaceDetails]:
        wanted, seen = terms(what), set[str]()
        by_name = fold(what) if business_kind(what) is None else None
        for row in self._dataset.within(box):
            place = place_of(row)
            if place is None or place.provider_id in seen:
                continue
            if fits(categories(row), wanted) or (by_name and by_name in fold(place.name)):
                seen.add(place.provider_id)
                yield place


def terms(what: str) -> frozenset[str]:
    """What Overture may call the kind: the word itself, OpenStreetMap's word, and their translations."""
    kind = business_kind(what)
    word = fold(what).replace(" ", "_").replace("-", "_")
    values = [tag.partition("=")[2] for tag in kind.tags] if kind else []
    singular = [word.removesuffix(ending) for ending in PLURALS if word.endswith(ending)]
    return frozenset(name for one in (word, *singular, *values) if one for name in (one, *_translated().get(one, ())))


def fits(found: Sequence[str], wanted: frozenset[str]) -> bool:
    """Whether a category is wanted, or is a wanted one with something before or after it: italian_restaurant."""
    return any(
        category == term or category.endswith(f"_{term}") or category.startswith(f"{term}_")
        for category in found
        for term in wanted
    )


@cache
def _translated() -> dict[str, list[str]]:
    text = resources.files(__package__).joinpath("categories.toml").read_text("utf-8")
    return {word: [name.strip() for name in names.split(",")] for word, names in tomllib.loads(text).items()}
