"""Overture from a bucket: the same places over S3 on loopback, and a sentence for everything that can be wrong."""

import io
from collections.abc import AsyncIterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.settings import Environment, load
from scrapersky.crawl.web import Web
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import Meter, PlaceQuery, ProviderFailed, ProviderRefused
from scrapersky.providers.call_budget import InMemoryCallBudget
from scrapersky.providers.overture.dataset import OvertureDataset
from scrapersky.providers.overture.provider import Overture
from scrapersky.providers.registry import configured_providers
from tests.factories.http_server import Reply, ScriptedServer
from tests.factories.s3_server import LittleS3
from tests.providers.overture.test_overture_provider import NEW, OLD, ROWS, helsinki, row

BUCKET = "overturemaps-us-west-2"
RELEASE = "release/2026-10-21.0/theme=places/type=place"
FAR = [row(f"far {number}", "dentist", at=(100 + number / 1000, 10.0)) for number in range(3000)]


def parquet(rows: list[dict[str, Any]], schema: pa.Schema) -> bytes:
    written = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist([{name: one.get(name) for name in schema.names} for one in rows], schema), written
    )
    return written.getvalue()


def bucket(schema: pa.Schema = NEW) -> dict[str, dict[str, bytes]]:
    """Serve two releases; the places of one area are in two files, a third file has places elsewhere."""
    files = {"part-00000": ROWS[:2], "part-00001": ROWS[2:], "part-00002": FAR}
    latest = {f"{RELEASE}/{name}.zstd.parquet": parquet(rows, schema) for name, rows in files.items()}
    return {BUCKET: {**latest, "release/2026-09-16.0/theme=places/type=place/part-00000.zstd.parquet": b"older"}}


@pytest.fixture
async def s3() -> AsyncIterator[LittleS3]:
    async with LittleS3(bucket(), page=1) as server:
        yield server


async def found(server: str, path: str = f"s3://{BUCKET}/{RELEASE}/") -> list[str]:
    provider = Overture(OvertureDataset(path, "us-west-2", server), helsinki)
    pages = provider.search(PlaceQuery("dentists", Where.of("Helsinki")), Meter())
    return [place.provider_id async for page in pages for place in page]


@pytest.mark.parametrize("schema", [OLD, NEW], ids=["before September 2026", "after"])
async def test_the_places_of_the_box_from_a_bucket_in_both_schemas(schema: pa.Schema) -> None:
    async with LittleS3(bucket(schema), page=1) as s3:
        assert await found(s3.url) == ["1", "2"]
        assert s3.signed == 0, "everybody may read it, nobody is asked who they are"
        lists = [asked for method, _, asked in s3.asked if method == "GET" and "list-type=2" in asked]
        assert any("continuation-token" in asked for asked in lists), "a list in pages is read to its end"


async def test_of_a_file_outside_the_area_only_the_end_is_read(s3: LittleS3) -> None:
    await found(s3.url)
    far = len(s3.buckets[BUCKET][f"{RELEASE}/part-00002.zstd.parquet"])
    ranges = [asked for method, path, asked in s3.asked if method == "GET" and path.endswith("part-00002.zstd.parquet")]
    assert ranges
    for asked in ranges:
        first, _, last = asked.removeprefix("bytes=").partition("-")
        assert (int(first) > 0, int(last)) == (True, far - 1), "from somewhere near the end to the end"


async def test_the_path_may_be_one_file_of_the_bucket(s3: LittleS3) -> None:
    assert await found(s3.url, f"s3://{BUCKET}/{RELEASE}/part-00000.zstd.parquet") == ["1", "2"]


async def test_a_missing_release_is_reported_with_the_latest_one(s3: LittleS3) -> None:
    with pytest.raises(ProviderRefused, match=r"2025-01-22\.0/.*The latest release there is 2026-10-21\.0\. Correct"):
        await found(s3.url, f"s3://{BUCKET}/release/2025-01-22.0/theme=places/type=place/")


async def test_a_missing_bucket_is_named(s3: LittleS3) -> None:
    with pytest.raises(ProviderRefused, match=r"no bucket 'overture' at http://127.*PROVIDER_OVERTURE_ENDPOINT"):
        await found(s3.url, f"s3://overture/{RELEASE}/")


async def test_a_bucket_without_releases_names_none() -> None:
    async with LittleS3({BUCKET: {"readme.txt": b"hello"}}) as s3:
        with pytest.raises(ProviderRefused, match=r"removed\. Correct PROVIDER_OVERTURE_PATH"):
            await found(s3.url)


@pytest.mark.parametrize(
    ("code", "outcome", "told"),
    [("AccessDenied", ProviderRefused, "is not public"), ("SlowDown", ProviderFailed, "does not answer")],
)
async def test_a_bucket_that_refuses(s3: LittleS3, code: str, outcome: type[ScraperSkyError], told: str) -> None:
    s3.refuse_with = code
    with pytest.raises(outcome, match=told):
        await found(s3.url)


async def test_without_network_the_search_is_retried_and_the_bucket_is_named(s3: LittleS3) -> None:
    await s3.stop()
    with pytest.raises(ProviderFailed, match=rf"at {s3.url} does not answer: Failed to connect"):
        await found(s3.url)
    with pytest.raises(ProviderFailed, match=r"does not answer: Could not resolve host"):
        await found("https://nowhere.invalid")


async def test_a_file_that_is_not_parquet_is_reported(s3: LittleS3) -> None:
    with pytest.raises(ProviderRefused, match=r"cannot be read from s3://.*PROVIDER_OVERTURE_PATH"):
        await found(s3.url, f"s3://{BUCKET}/release/2026-09-16.0/theme=places/type=place")


async def test_the_settings_name_the_server_and_the_path(s3: LittleS3, server: ScriptedServer) -> None:
    server.replies["/search"] = [Reply([{"boundingbox": ["60.16", "60.18", "24.93", "24.96"]}])]
    settings = load(
        Environment(
            {
                "PROVIDER_OVERTURE_PATH": f"s3://{BUCKET}/{RELEASE}/",
                "PROVIDER_OVERTURE_ENDPOINT": s3.url,
                "PROVIDER_NOMINATIM_URL": server.url,
                "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{server.port}",
                "CRAWL_PARSER_PROCESSES": "1",
            },
            None,
        )
    )
    web = Web(settings)
    provider = configured_providers(settings, web)["overture"]
    pages = provider.search(PlaceQuery("dentists", Where.of("Helsinki")), Meter())
    assert [place.provider_id async for page in pages for place in page] == ["1", "2"]
    with pytest.raises(ProviderRefused, match="search for it again"):
        await provider.details("1", InMemoryCallBudget())
    await web.close()
