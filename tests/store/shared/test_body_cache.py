"""The cache of response bodies: kept by one worker, found by all, for a time and within bounds."""

from datetime import timedelta

import pytest

from scrapersky.core import clock
from scrapersky.crawl.http.body_cache import MAX_BODY_BYTES
from scrapersky.crawl.page import FetchedPage, Redirect
from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance import prune
from scrapersky.maintenance.prune import PruneBodyCache
from scrapersky.store.shared.body_cache import SharedBodyCache

URL = "https://molar.fi/"
HOUR = timedelta(hours=1)


def page_of(body: bytes, *, truncated: bool = False) -> FetchedPage:
    return FetchedPage(
        url="http://molar.fi/",
        final_url=URL,
        status=200,
        headers={"Content-Type": "text/html; charset=latin-1", "X-Odd": "\x00\ufffd"},
        redirects=(Redirect("http://molar.fi/", 301),),
        fetched_at=clock.now(),
        body=body,
        seconds=0.5,
        raw_bytes=7,
        truncated=truncated,
    )


@pytest.fixture
def caches(database, settings):
    return [SharedBodyCache(database, settings) for _ in "ab"]


async def test_what_one_worker_keeps_another_finds_as_it_was(caches):
    page = page_of(bytes(range(256)))
    await caches[0].keep(URL, page, HOUR)
    found = await caches[1].find(URL)
    assert found == page
    assert found.headers["content-type"] == "text/html; charset=latin-1"
    assert await caches[1].find("https://molar.fi/other") is None


async def test_a_body_that_is_kept_again_replaces_the_former_one(caches):
    await caches[0].keep(URL, page_of(b"old"), HOUR)
    await caches[1].keep(URL, page_of(b"new"), HOUR)
    assert (await caches[0].find(URL)).body == b"new"


@pytest.mark.parametrize(
    ("page", "ttl"),
    [
        (page_of(b"x" * (MAX_BODY_BYTES + 1)), HOUR),
        (page_of(b"x", truncated=True), HOUR),
        (page_of(b"x"), timedelta(0)),
    ],
    ids=["too large", "cut off", "for no time"],
)
async def test_what_cannot_be_used_again_is_not_kept(caches, admin, page, ttl):
    await caches[0].keep(URL, page, ttl)
    assert await admin.fetchval("SELECT count(*) FROM fetched_body") == 0


async def test_an_expired_body_is_not_found_and_then_deleted(caches, admin, database):
    for name in "ab":
        await caches[0].keep(URL + name, page_of(name.encode()), HOUR)
    await admin.execute("UPDATE fetched_body SET expires_at = now() - interval '1 second' WHERE body = 'a'")
    assert await caches[0].find(URL + "a") is None
    await run_periodic(PruneBodyCache(), database)
    assert [row["body"] for row in await admin.fetch("SELECT body FROM fetched_body")] == [b"b"]


async def test_beyond_the_maximum_the_oldest_bodies_are_deleted(caches, admin, database, monkeypatch):
    for number in range(4):
        await caches[0].keep(f"{URL}{number}", page_of(b"%d" % number * 10), HOUR * (number + 1))
    monkeypatch.setattr(prune, "MAX_BODY_CACHE_BYTES", 25)
    await run_periodic(PruneBodyCache(), database)
    kept = [row["body"] for row in await admin.fetch("SELECT body FROM fetched_body ORDER BY expires_at")]
    assert kept == [b"2" * 10, b"3" * 10]
