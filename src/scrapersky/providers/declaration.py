"""The declaration of a provider: the one place that names it, its terms, its settings and how it is built."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from scrapersky.core.settings import Settings
from scrapersky.providers.areas.area import Geocoder
from scrapersky.providers.base import PlaceProvider
from scrapersky.providers.cooldown import Cooldowns
from scrapersky.providers.http_api import ClientSource
from scrapersky.providers.response_cache import ResponseCache
from scrapersky.providers.throttle import LimitsSource


@dataclass(frozen=True)
class ProviderContext:
    """What a provider may be built from. Limits, cooldowns and cache are shared by all workers."""

    settings: Settings
    client: ClientSource
    geocoder: Geocoder
    limits: LimitsSource
    cooldowns: Cooldowns
    response_cache: ResponseCache


@dataclass(frozen=True, kw_only=True)
class ProviderDeclaration:
    """Everything the application knows about a provider; commands, API, imports and docs derive from it."""

    name: str  # in searches, places and commands
    label: str
    build: Callable[[ProviderContext], PlaceProvider]
    required_setting: str | None = None  # the field of Settings without which the provider is not available
    needs_area: bool = True  # whether every search needs an area
    cost: str = "nothing"
    data: str  # which data it has
    attribution: str  # the licence that every place carries
    retention: timedelta | None = None  # how long its data may be kept; None means without limit
    place_url: str | None = None  # the public page of a place, with {} for its id

    @property
    def setting_name(self) -> str | None:
        """The environment variable of the required setting."""
        return self.required_setting.upper() if self.required_setting else None

    def is_configured(self, settings: Settings) -> bool:
        """Return whether the required setting has a value."""
        return self.required_setting is None or getattr(settings, self.required_setting) is not None
