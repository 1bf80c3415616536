"""Every provider there is, and those that the settings configure."""

from collections.abc import Iterable
from hashlib import sha256

from pydantic import SecretStr

from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.settings import Settings
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.politeness.host_limits import InProcessHostLimits
from scrapersky.crawl.web import Web
from scrapersky.providers.areas.read_search import GivenWhere, split
from scrapersky.providers.areas.read_search import read_search as read_parts
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Providers, RenewsIds
from scrapersky.providers.cooldown import Cooldowns, GuardedProvider, InMemoryCooldowns, ProviderFailures
from scrapersky.providers.declaration import ProviderContext
from scrapersky.providers.file.provider import BUSINESS_FILE
from scrapersky.providers.google.provider import GOOGLE_PLACES
from scrapersky.providers.osm.categories import known_phrase
from scrapersky.providers.osm.nominatim import build_nominatim
from scrapersky.providers.osm.provider import OPENSTREETMAP
from scrapersky.providers.overture.provider import OVERTURE
from scrapersky.providers.response_cache import InMemoryResponseCache, ResponseCache
from scrapersky.providers.throttle import LimitsSource

DECLARATIONS = (
    OPENSTREETMAP,
    GOOGLE_PLACES,
    OVERTURE,
    BUSINESS_FILE,
)
DECLARED = {declared.name: declared for declared in DECLARATIONS}
DEFAULT_PROVIDER = OPENSTREETMAP.name


class UnknownProvider(ScraperSkyError):
    """No provider of this name is configured."""

    status_code = 422
    fields = ("provider",)


def configured_providers(
    settings: Settings,
    web: Web,
    limits: LimitsSource = InProcessHostLimits,
    cooldowns: Cooldowns | None = None,
    response_cache: ResponseCache | None = None,
) -> Providers:
    """Build every provider whose required setting has a value; no request is sent.

    They use the guarded client of the web. Pass shared limits, cooldowns and cache if several workers run: the services
    of OpenStreetMap and the quotas of Google count all workers as one client.
    """

    async def client() -> Client:
        return (await web.crawler()).client

    cache = response_cache or InMemoryResponseCache()
    geocoder = build_nominatim(settings, client, limits, cache).locate
    context = ProviderContext(settings, client, geocoder, limits, cooldowns or InMemoryCooldowns(), cache)
    return {declared.name: declared.build(context) for declared in DECLARATIONS if declared.is_configured(settings)}


def guarded(providers: Providers, settings: Settings, failures: ProviderFailures) -> Providers:
    """Return the providers, each not called by any worker while it fails. A new key is a new start."""
    return {
        name: GuardedProvider(provider, DECLARED[name].label, _cooldown_name(name, settings), failures)
        for name, provider in providers.items()
    }


def _cooldown_name(name: str, settings: Settings) -> str:
    setting = DECLARED[name].required_setting
    if setting is None:
        return name
    value = getattr(settings, setting)
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    return f"{name} {sha256(text.encode()).hexdigest()[:12]}"


def configured_names(settings: Settings) -> list[str]:
    """Return the names of the providers whose required setting has a value."""
    return [declared.name for declared in DECLARATIONS if declared.is_configured(settings)]


def unknown_provider(name: str, configured: Iterable[str]) -> UnknownProvider:
    """Return the error for a provider that is not configured, with the setting that would configure it."""
    setting = DECLARED[name].setting_name if name in DECLARED else None
    cure = f" Set {setting} to use it." if setting else ""
    return UnknownProvider(f"{name[:60]!r} is not one of {', '.join(configured) or 'none'}.{cure}")


def read_search(text: str, given: GivenWhere | str | None, provider: str) -> tuple[str, Where]:
    """Return what and where in normal form, so that equal searches are stored equally; raise UnclearSearch."""
    needs_area = provider in DECLARED and DECLARED[provider].needs_area
    return read_parts(text, given, needs_area=needs_area, kind_in=known_phrase if needs_area else None)


def names_place(text: str) -> bool:
    """Return whether the words of a search say where to look."""
    return split(" ".join(text.split()), known_phrase).where is not None


def renewing_ids(configured: Providers) -> list[RenewsIds]:
    """Return the configured providers whose place ids change."""
    found = (one.unguarded if isinstance(one, GuardedProvider) else one for one in configured.values())
    return [provider for provider in found if isinstance(provider, RenewsIds)]
