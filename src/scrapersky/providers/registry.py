"""The providers that the settings allow, each built once and asking nobody yet."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.crawl.http.client import Client
from scrapersky.crawl.web import Web
from scrapersky.providers.base import PlaceProvider, Providers
from scrapersky.providers.cooldown import Cooldowns
from scrapersky.providers.file.provider import FileOfBusinesses
from scrapersky.providers.google.api import GoogleApi
from scrapersky.providers.google.provider import GooglePlaces
from scrapersky.providers.http_api import Api, ClientSource
from scrapersky.providers.osm.nominatim import Nominatim
from scrapersky.providers.osm.overpass import Overpass
from scrapersky.providers.osm.provider import OpenStreetMap
from scrapersky.providers.overture.dataset import OvertureDataset
from scrapersky.providers.overture.provider import Overture
from scrapersky.providers.response_cache import ResponseCache
from scrapersky.providers.throttle import LimitsSource, Throttle

# What Nominatim's operators want of everybody who asks their own server.
PUBLIC, POLICY_SECONDS = "openstreetmap.org", 1.0


def configured_providers(
    settings: Settings,
    web: Web,
    limits: LimitsSource | None = None,
    rests: Cooldowns | None = None,
    answers: ResponseCache | None = None,
) -> Providers:
    """OpenStreetMap always, the others where a setting names their key or file.

    They ask through the web's guarded client. Give the shared limits, rests and answers where several workers run:
    the volunteers behind OpenStreetMap count all of them as one, and so do Google's quotas.
    """

    async def client() -> Client:
        return (await web.crawler()).client

    nominatim = _nominatim(settings, client, limits, answers)
    built: list[PlaceProvider] = [OpenStreetMap(nominatim, _overpass(settings, client, limits, answers))]
    if settings.provider_google_api_key is not None:
        built.append(
            GooglePlaces(_google_api(settings, client, settings.provider_google_api_key, rests), nominatim.find)
        )
    if settings.provider_file_path is not None:
        built.append(FileOfBusinesses(Path(settings.provider_file_path)))
    if settings.provider_overture_path is not None:
        where = (settings.provider_overture_region, settings.provider_overture_endpoint)
        built.append(Overture(OvertureDataset(settings.provider_overture_path, *where), nominatim.find))
    return {provider.name: provider for provider in built}


def _google_api(settings: Settings, client: ClientSource, key: SecretStr, rests: Cooldowns | None) -> GoogleApi:
    plain = key.get_secret_value().strip()
    if not (plain.isascii() and plain.isprintable() and " " not in plain):
        raise BadSetting("PROVIDER_GOOGLE_API_KEY is not a key: it has characters that no key has. Copy it again.")
    api = Api(client, settings.provider_google_url, service="Google", setting="PROVIDER_GOOGLE_URL", seconds=60)
    return GoogleApi(api, SecretStr(plain), rests)


def _nominatim(
    settings: Settings, client: ClientSource, limits: LimitsSource | None, answers: ResponseCache | None
) -> Nominatim:
    url, pause = settings.provider_nominatim_url, settings.provider_nominatim_delay_seconds
    host = urlsplit(url).hostname or ""
    if pause < POLICY_SECONDS and (host == PUBLIC or host.endswith(f".{PUBLIC}")):
        raise BadSetting(
            f"PROVIDER_NOMINATIM_DELAY_SECONDS is {pause:g}, but {host} is asked once a second at most. Leave it at "
            f"{POLICY_SECONDS:g}, or set PROVIDER_NOMINATIM_URL to a server of your own."
        )
    api = Api(client, url, service="Nominatim", setting="PROVIDER_NOMINATIM_URL", seconds=20)
    return Nominatim(api, Throttle("Nominatim", url, pause=timedelta(seconds=pause), limits=limits), answers)


def _overpass(
    settings: Settings, client: ClientSource, limits: LimitsSource | None, answers: ResponseCache | None
) -> Overpass:
    url = settings.provider_overpass_url.rstrip("/").removesuffix("/interpreter")
    seconds = 90  # the question itself may run for 60
    api = Api(client, url, service="Overpass", setting="PROVIDER_OVERPASS_URL", seconds=seconds)
    turns = Throttle("Overpass", url, lease=timedelta(seconds=2 * seconds), limits=limits)
    return Overpass(api, turns, answers, good_for=timedelta(seconds=settings.provider_osm_cache_ttl_seconds))
