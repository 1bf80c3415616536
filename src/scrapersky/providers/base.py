"""What every provider of places gives: one value, whoever it comes from, and what asking for it costs."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Protocol

from scrapersky.core.errors import Permanent, Retryable, ScraperSkyError
from scrapersky.providers.detail_budget import DetailBudget
from scrapersky.providers.search_journal import InMemoryJournal, Journal


class UnknownProvider(ScraperSkyError):
    """No provider of this name is configured."""

    status_code = 422
    fields = ("provider",)


# Whoever is not there without a setting.
NEEDS = {
    "google_places": "PROVIDER_GOOGLE_API_KEY",
    "file": "PROVIDER_FILE_PATH",
    "overture": "PROVIDER_OVERTURE_PATH",
}


def why_unknown(name: str, providers: Iterable[str]) -> str:
    """The sentence for a name that is no provider here, with the cure where there is one."""
    cure = f" Set {NEEDS[name]} to use it." if name in NEEDS else ""
    return f"{name[:60]!r} is none of {', '.join(providers) or 'nothing'}.{cure}"


class ProviderRefused(Permanent):
    """The provider will not answer this, now or later: a wrong key, a closed account, a place that is not there."""


class ProviderBusy(Retryable):
    """The provider wants to be asked again later."""

    counts = False
    after: timedelta

    def __init__(self, reason: str, after: timedelta) -> None:
        super().__init__(reason)
        self.after = after


class ProviderFailed(Retryable):
    """The provider did not manage to answer: it is away, or gave up over the question."""


class NoMoney(Retryable):
    """There is no money for this now: it waits until there is, and nothing is held against it."""

    counts = False
    after: timedelta

    def __init__(self, reason: str, after: timedelta) -> None:
        super().__init__(reason)
        self.after = after


class BudgetReached(ScraperSkyError):
    """Going on would cost more than the search may."""

    BEGINS = "The next call would bring the cost to "  # known by this from whatever else a search may lack

    def __init__(self, cents: float, budget_cents: float) -> None:
        super().__init__(f"{self.BEGINS}{cents / 100:.2f}, over the budget of {budget_cents / 100:.2f}.")


MOVED_TO = "moved_to"  # in `extra`: the id of the place to which the business has gone


@dataclass(frozen=True)
class PlaceDetails:
    """Everything a provider knows about one place; what it does not know is empty."""

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
    """What to look for, where, and how much of it at most."""

    text: str
    area: str | None = None
    limit: int | None = None
    language: str | None = None
    country: str | None = None  # two letters, where the area alone is ambiguous


@dataclass(frozen=True)
class Estimate:
    """What a search will cost, before it is made."""

    calls: int
    cents: int
    explanation: str
    details_cents: float = 0.0  # what looking into one place costs, where the search was too long ago

    def with_details(self, places: int) -> "Estimate":
        """The same with so many places to look up besides."""
        if not places:
            return self
        told = f" {places} places of an earlier search are to be looked up, {self.details_cents:g} cents each."
        cents = self.cents + ceil(places * self.details_cents)
        return Estimate(self.calls + places, cents, self.explanation + told, self.details_cents)


class Meter:
    """Counts calls and money while a search runs, and stops it before it goes over its budget."""

    def __init__(
        self, budget_cents: float | None = None, journal: Journal | None = None, spent_cents: float = 0.0
    ) -> None:
        self.budget_cents = budget_cents
        self.spent_cents = spent_cents  # of the budget, before this run
        self.journal = journal or InMemoryJournal()  # what was paid for already
        self.calls = 0
        self.cents = 0.0
        self.notes: list[str] = []  # sentences about what the result lacks, or how the question was read

    def charge(self, cents: float = 0.0, calls: int = 1) -> None:
        """Note a call before it is made; BudgetReached if it would cost too much."""
        in_all = self.spent_cents + self.cents + cents
        if self.budget_cents is not None and in_all > self.budget_cents:
            raise BudgetReached(in_all, self.budget_cents)
        self.calls += calls
        self.cents += cents

    def refund(self, cents: float) -> None:
        """Take back the price of a call that failed: the call was made, but is not billed."""
        self.cents -= cents


class PlaceProvider(Protocol):
    """Finds places and looks one up; raises ProviderBusy or ProviderRefused where it knows better than a retry."""

    name: str

    async def estimate(self, query: PlaceQuery) -> Estimate:
        """What this search will probably cost, at most."""

    def search(self, query: PlaceQuery, meter: Meter) -> AsyncIterator[Sequence[PlaceDetails]]:
        """Pages of places to the end, each place once; nothing found is no page and no error."""

    async def details(self, provider_id: str, purse: DetailBudget) -> PlaceDetails:
        """The details of the place with this id; every call is paid for out of the purse, before it is made."""


Providers = Mapping[str, PlaceProvider]


def finite(value: object) -> float | None:
    """A number of a provider's JSON as a number of ours; None for anything else, infinity and all."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
        return None
    return float(value)
