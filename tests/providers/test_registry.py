"""Which providers there are, by the settings."""

from pathlib import Path

import pytest

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, Settings, load, setting_names
from scrapersky.crawl.web import Web
from scrapersky.providers.base import Meter, PlaceQuery, Providers
from scrapersky.providers.declaration import ProviderDeclaration
from scrapersky.providers.overture.provider import Overture
from scrapersky.providers.registry import DECLARATIONS, DEFAULT_PROVIDER, configured_providers, unknown_provider
from tests.factories.google_server import KEY, TinyGoogle, points
from tests.factories.http_server import Reply, ScriptedServer

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"


def settings(**variables: str) -> Settings:
    return load(Environment(variables, None))


def providers(**variables: str) -> Providers:
    chosen = settings(**variables)
    return configured_providers(chosen, Web(chosen))


def test_openstreetmap_needs_nothing() -> None:
    assert list(providers()) == ["openstreetmap"]


def test_a_key_configures_google_and_a_path_the_others() -> None:
    built = providers(PROVIDER_GOOGLE_API_KEY=KEY, PROVIDER_FILE_PATH="firms.csv", PROVIDER_OVERTURE_PATH="places")
    assert set(built) == {"openstreetmap", "google_places", "file", "overture"}
    assert all(provider.name == name for name, provider in built.items())


def test_the_key_is_a_secret() -> None:
    assert KEY not in repr(settings(PROVIDER_GOOGLE_API_KEY=KEY))
    with pytest.raises(BadSetting) as refused:
        providers(PROVIDER_GOOGLE_API_KEY="two words\n")
    assert "PROVIDER_GOOGLE_API_KEY" in str(refused.value)
    assert "two words" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROVIDER_GOOGLE_URL", "places.googleapis.com"),
        ("PROVIDER_OVERPASS_URL", "ftp://x"),
        ("PROVIDER_NOMINATIM_URL", "x"),
        ("PROVIDER_OSM_CACHE_TTL_SECONDS", "-1"),
        ("PROVIDER_OVERTURE_ENDPOINT", "localhost:9000"),
        ("PROVIDER_OVERTURE_REGION", "us west"),
    ],
)
def test_a_wrong_url_stops_the_start(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        settings(**{name: value})


@pytest.mark.parametrize("host", ["nominatim.openstreetmap.org", "eu.nominatim.openstreetmap.org:443"])
def test_the_public_nominatim_is_never_requested_faster_than_its_policy(host: str) -> None:
    with pytest.raises(
        BadSetting, match=r"PROVIDER_NOMINATIM_DELAY_SECONDS is 0\.5, but .* allows one request per second"
    ):
        providers(PROVIDER_NOMINATIM_URL=f"https://{host}/", PROVIDER_NOMINATIM_DELAY_SECONDS="0.5")
    assert providers(PROVIDER_NOMINATIM_URL="http://geo.example", PROVIDER_NOMINATIM_DELAY_SECONDS="0")


async def test_all_providers_use_the_guarded_client(server: ScriptedServer, tmp_path: Path) -> None:
    box = ["60.16", "60.18", "24.93", "24.96"]
    town = {"osm_type": "relation", "osm_id": 1, "boundingbox": box, "address": {"country_code": "fi"}}
    element = {"type": "node", "id": 7, "lat": 60.17, "lon": 24.94, "tags": {"name": "Hymy", "amenity": "dentist"}}
    server.replies["/nominatim/search"] = [Reply([town])]
    server.replies["/api/interpreter"] = [Reply({"elements": [element]})]
    TinyGoogle(server, points(80))
    (tmp_path / "firms.csv").write_text("name,category\nHymy,dentist\n")
    chosen = settings(
        PROVIDER_NOMINATIM_URL=f"{server.url}/nominatim/",
        PROVIDER_OVERPASS_URL=f"{server.url}/api/interpreter",
        PROVIDER_GOOGLE_URL=server.url,
        PROVIDER_GOOGLE_API_KEY=KEY,
        PROVIDER_FILE_PATH=str(tmp_path / "firms.csv"),
        CRAWL_ALLOWED_PRIVATE_NETWORKS=f"127.0.0.1:{server.port}",
        CRAWL_CONTACT_URL="https://me.example/bot",
        CRAWL_PARSER_PROCESSES="1",
    )
    web = Web(chosen)
    found = {}
    try:
        for name, provider in configured_providers(chosen, web).items():
            query = PlaceQuery("dentists in Helsinki") if name != "file" else PlaceQuery("dentists")
            pages = provider.search(query, Meter())
            found[name] = len([place async for page in pages for place in page])
    finally:
        await web.close()
    assert found == {"openstreetmap": 1, "google_places": 80, "file": 1}
    assert server.paths().count("/nominatim/search") == 1  # Google's search knew the answer already
    assert all("me.example/bot" in one.headers["User-Agent"] for one in server.requests)
    sent = [one.path for one in server.requests if "X-Goog-Api-Key" in one.headers]
    assert set(sent) == {"/v1/places:searchText"}


async def test_a_response_of_overpass_is_used_again_for_its_lifetime(server: ScriptedServer) -> None:
    server.replies["/search"] = [
        Reply([{"osm_type": "relation", "osm_id": 1, "boundingbox": ["60", "61", "24", "25"]}])
    ]
    server.replies["/interpreter"] = [Reply({"elements": []})]
    for seconds, queries in (("3600", 1), ("0", 2)):
        server.requests.clear()
        chosen = settings(
            PROVIDER_NOMINATIM_URL=server.url,
            PROVIDER_NOMINATIM_DELAY_SECONDS="0",
            PROVIDER_OVERPASS_URL=server.url,
            PROVIDER_OSM_CACHE_TTL_SECONDS=seconds,
            CRAWL_ALLOWED_PRIVATE_NETWORKS=f"127.0.0.1:{server.port}",
        )
        web = Web(chosen)
        provider = configured_providers(chosen, web)["openstreetmap"]
        for _ in range(2):
            assert [page async for page in provider.search(PlaceQuery("dentists in Helsinki"), Meter())] in ([], [[]])
        assert server.paths().count("/interpreter") == queries
        await web.close()


def test_the_bucket_of_overture_is_in_the_region_of_the_setting() -> None:
    overture = providers(PROVIDER_OVERTURE_PATH="s3://places/", PROVIDER_OVERTURE_REGION="eu-north-1")["overture"]
    assert isinstance(overture, Overture)
    assert overture._dataset._bucket is not None
    assert overture._dataset._bucket.region == "eu-north-1"


def test_the_table_in_the_docs_is_that_of_the_declarations() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")][: len(DECLARATIONS)]
    assert rows == [documented(declared) for declared in DECLARATIONS]


def documented(declared: ProviderDeclaration) -> str:
    name = f"`{declared.name}`" + (" (default)" if declared.name == DEFAULT_PROVIDER else "")
    setting = f"`{declared.setting_name}`" if declared.setting_name else "none"
    kept = f"{declared.retention.days} days" if declared.retention else "without limit"
    return f"| {name} | {setting} | {declared.cost} | {declared.data} | {kept} |"


def test_every_required_setting_exists() -> None:
    required = {declared.setting_name for declared in DECLARATIONS if declared.setting_name}
    assert required <= set(setting_names())


@pytest.mark.parametrize("declared", DECLARATIONS, ids=lambda declared: declared.name)
def test_a_provider_without_its_setting_is_unknown_and_the_error_names_the_setting(
    declared: ProviderDeclaration,
) -> None:
    error = str(unknown_provider(declared.name, []))
    assert (f"Set {declared.setting_name} to use it." in error) == (declared.setting_name is not None)
