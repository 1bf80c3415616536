"""Sites over https: signed by the sandbox's own authority, verified by the ordinary client, some of them badly kept."""

import asyncio
from pathlib import Path

import pytest

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import Crawler, client_of, open_crawler
from scrapersky.crawl.errors import PermanentFetchError, RetryLater
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.conditions import Condition
from scrapersky.sandbox.world.world import World
from tests.factories.settings import sandbox_settings


def site(sandbox: Sandbox, condition: Condition = Condition.HEALTHY, *, secure: bool = True) -> Business:
    return next(one for one in sandbox.world if one.condition is condition and one.secure is secure and one.host)


def test_two_sites_of_three_are_secure_and_maps_often_know_the_older_address():
    world = World(8, 1000)
    secure = [one for one in world if one.secure and one.condition is Condition.HEALTHY]

    assert 0.6 < sum(one.secure for one in world) / len(world) < 0.7
    assert 0.3 < sum(one.website.startswith("http://") for one in secure if one.website) / len(secure) < 0.5
    assert not any((one.website or "").startswith("https://") for one in world if not one.secure and one.host)


async def test_http_leads_to_https_and_keeps_the_question(sandbox: Sandbox, crawler: Crawler):
    host = site(sandbox).host

    answer = await crawler.fetch(f"http://{host}/?utm_source=google")

    assert answer.final_url == f"https://{host}/?utm_source=google"
    assert [hop.status for hop in answer.redirects] == [301]


@pytest.mark.parametrize(
    ("condition", "reason"), [(Condition.EXPIRED, "certificate has expired"), (Condition.MISNAMED, "Hostname mismatch")]
)
async def test_a_bad_certificate_ends_with_its_reason(
    sandbox: Sandbox, crawler: Crawler, condition: Condition, reason: str
):
    host = site(sandbox, condition).host

    with pytest.raises(PermanentFetchError, match=f"^The certificate of {host} cannot be trusted: {reason}[.]$"):
        await crawler.fetch(f"http://{host}/")


async def test_a_host_without_https_breaks_the_handshake_off(sandbox: Sandbox, crawler: Crawler):
    with pytest.raises(RetryLater, match="cannot be reached"):
        await crawler.fetch(f"https://{site(sandbox, secure=False).host}/")


async def test_nobody_trusts_the_sandbox_who_was_not_told_to(sandbox: Sandbox):
    settings = sandbox_settings(sandbox, CRAWL_CA_FILE=None)
    async with open_crawler(settings) as crawler:
        with pytest.raises(PermanentFetchError, match="cannot be trusted"):
            await crawler.fetch(f"https://{site(sandbox).host}/")


async def test_the_authority_ends_with_its_sandbox():
    async with Sandbox(7) as sandbox:
        file = Path(sandbox.authority_file)
        assert file.read_text().startswith("-----BEGIN CERTIFICATE-----")

    assert not await asyncio.to_thread(file.parent.exists)


@pytest.mark.parametrize("text", [None, "no certificate at all\n"])
def test_a_file_that_holds_no_certificate_stops_the_start(tmp_path: Path, text: str | None):
    file = tmp_path / "authorities.pem"
    if text is not None:
        file.write_text(text)

    with pytest.raises(BadSetting, match=r"CRAWL_CA_FILE=.*authorities\.pem is not a readable PEM file"):
        client_of(Settings(crawl_ca_file=file))
