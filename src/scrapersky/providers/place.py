"""What every provider of places gives: one value, whoever it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from scrapersky.core.errors import ScraperSkyError


class UnknownProvider(ScraperSkyError):
    """No provider of this name is configured."""


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
    extra: Mapping[str, Any] = field(default_factory=dict)


class PlaceProvider(Protocol):
    """Looks one place up. Raises Later or GiveUp where it knows better than a plain retry."""

    async def details(self, provider_id: str) -> PlaceDetails:
        """The details of the place with this id."""


Providers = Mapping[str, PlaceProvider]
