"""What every provider shares: the query, the place it returns, the cost of a search, and its errors."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Protocol, runtime_checkable

from scrapersky.core.errors import Permanent, Retryable
from scrapersky.core.vocabularies import WaitsFor
from scrapersky.providers.areas.area import Area, Geocoder
from scrapersky.providers.areas.where import Where
from scrapersky.providers.call_budget import MICROS_PER_CENT, CallBudget, InMemoryCallBudget
from scrapersky.providers.search_journal import InMemoryJournal, Journal


class ProviderRefused(Permanent):
    """The provider refuses every request, now and later: a wrong key, a closed account, a file that cannot be read."""


class QueryRefused(ProviderRefused):
    """The provider refuses this request; it accepts others."""

    opens_breaker = False


class UnknownArea(QueryRefused):
    """The area of the search is unknown: a misspelt city. The search has no result, and nothing has failed."""


class AmbiguousArea(UnknownArea):
    """The area of the search may be several places; its message lists them and how to choose."""

    status_code = 422
    fields = ("area",)

    def __init__(self, name: str, candidates: Sequence[Area]) -> None:
        self.name, self.candidates = name, tuple(candidates)
        listed = "; ".join(area.label or area.name for area in candidates)
        country = self.sufficient_country
        by_country = f", or give its country, such as {country}" if country else ""
        super().__init__(
            f"{name!r} may be {len(self.candidates)} places: {listed}. "
            f"Name one of them as it is listed here{by_country}."
        )

    @property
    def sufficient_country(self) -> str | None:
        """The first country that one candidate alone is in."""
        countries = Counter(area.country for area in self.candidates)
        return next((code for code, count in countries.items() if code and count == 1), None)


class PlaceNotFound(QueryRefused):
    """The provider has no place with this id."""


class ProviderBusy(Retryable):
    """The provider accepts the request later."""

    counts = False
    after: timedelta

    def __init__(self, reason: str, after: timedelta) -> None:
        super().__init__(reason)
        self.after = after


class ProviderFailed(Retryable):
    """The provider is unavailable or could not complete the request."""


class ProviderNotReached(ProviderFailed):
    """The request was not sent: no connection to the provider could be made."""


class NoProxyWorks(ProviderNotReached):
    """Every proxy has failed a moment ago, so that no provider can be asked; the attempt does not count."""

    counts = False
    opens_breaker = False

    def __init__(self, reason: str, after: timedelta | None) -> None:
        super().__init__(reason)
        self.after = after


class NoMoney(ProviderBusy):
    """There is no money for this call now; the row waits, and the attempt does not count."""

    waits_for = WaitsFor.MONEY


MOVED_TO = "moved_to"  # in `extra`: the id of the place to which the business has moved


@dataclass(frozen=True)
class PlaceDetails:
    """Everything a provider knows about one place; unknown values are empty."""

    provider: str
    provider_id: str
    name: str
    address: str | None = None
    street: str | None = None
    city: str | None = None
    region: str | None = None
    postcode: str | None = None
    country: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    timezone: str | None = None
    phone: str | None = None
    website: str | None = None
    categories: tuple[str, ...] = ()
    rating: float | None = None
    rating_count: int | None = None
    price_level: int | None = None
    hours: Mapping[str, Any] | None = None
    business_status: str | None = None
    licence: str | None = None
    fetched_at: datetime | None = None
    expires_at: datetime | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaceQuery:
    """What to search for, where, and how many places at most."""

    text: str
    where: Where = Where()  # noqa: RUF009 - immutable
    limit: int | None = None
    areas: tuple[Area, ...] = ()  # what was found for `where`, if it is known already


@dataclass(frozen=True)
class Estimate:
    """The expected cost of a search."""

    calls: int
    cents: int
    explanation: str
    details_micros: int = 0  # the price of the details of one place, if those of the search are too old

    def with_details(self, places: int) -> "Estimate":
        """Return the estimate with the details of so many places added."""
        if not places:
            return self
        price = self.details_micros / MICROS_PER_CENT
        sentence = f" {places} places of an earlier search are to be looked up, {price:g} cents each."
        cents = self.cents + ceil(places * self.details_micros / MICROS_PER_CENT)
        return Estimate(self.calls + places, cents, self.explanation + sentence, self.details_micros)


class Meter:
    """Books every call of a running search before it is made."""

    def __init__(
        self, budget_cents: int | None = None, journal: Journal | None = None, budget: CallBudget | None = None
    ) -> None:
        self.budget = budget or InMemoryCallBudget(budget_cents)
        self.journal = journal or InMemoryJournal()  # the pages that are already paid for
        self.calls = 0
        self.micros = 0
        self.areas: tuple[Area, ...] = ()  # in which the search looked
        self.notes: list[str] = []  # sentences about what is missing, or how the query was interpreted
        self.is_partial = False  # places of the area are known to be missing

    def note_missing(self, *sentences: str) -> None:
        """Note that places are missing in the result, and why."""
        self.notes += sentences
        self.is_partial = self.is_partial or bool(sentences)

    @property
    def cents(self) -> float:
        """The cost of this run, for people to read."""
        return self.micros / MICROS_PER_CENT

    async def pay(self, micros: int = 0) -> None:
        """Book a call before it is made, also a free one; raise BudgetReached if it exceeds the budget."""
        await self.budget.charge(micros)
        self.calls += 1
        self.micros += micros

    async def refund(self, micros: int) -> None:
        """Give back the price of the latest call, which was refused or not sent."""
        await self.budget.refund()
        self.micros -= micros


async def locate(query: PlaceQuery, geocoder: Geocoder, meter: Meter) -> tuple[Area, ...]:
    """Return the areas of a query, asking the geocoder if they are not known; the meter keeps them."""
    areas = query.areas
    if not areas:
        found = await geocoder(query.where)
        areas = found.areas
        meter.note_missing(*found.notes)
    meter.areas = areas
    return areas


class PlaceProvider(Protocol):
    """Finds places and looks up one place; raises ProviderBusy, ProviderFailed or ProviderRefused."""

    name: str

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """Estimate the maximum cost of this search."""

    def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Yield pages of places, each place once; pay the meter before every call, also before a free one."""

    async def details(self, provider_id: str, budget: CallBudget) -> PlaceDetails:
        """Return the place with this id; charge the budget before every call."""


@runtime_checkable
class RenewsIds(Protocol):
    """A provider whose place ids change."""

    name: str

    async def current_id(self, provider_id: str) -> str:
        """Return the current id of a place; raise PlaceNotFound if it has none."""


Providers = Mapping[str, PlaceProvider]
