"""The crawler as the settings want it: every CRAWL_ variable arrives where it counts."""

from datetime import timedelta
from ipaddress import ip_address

import pytest
from structlog.testing import capture_logs

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.crawler import client_of, open_crawler, user_agent
from scrapersky.crawl.http.limits import FetchLimits
from scrapersky.crawl.politeness.host_limits import NotYet, Permit


def settings(**variables: str) -> Settings:
    return load(Environment(variables, env_file=None))


def test_without_any_variable_the_limits_are_the_documented_ones() -> None:
    client = client_of(settings())
    assert client.limits == FetchLimits()
    assert client.guard.ports == {80, 443, 8080, 8443}
    assert not client.guard.allowance


def test_limits_and_ports_come_from_the_environment() -> None:
    client = client_of(
        settings(
            CRAWL_ALLOWED_PORTS="80, 443",
            CRAWL_FETCH_TIMEOUT_SECONDS="7",
            CRAWL_CONNECT_TIMEOUT_SECONDS="2",
            CRAWL_MAX_REDIRECTS="3",
            CRAWL_MAX_PAGE_BYTES="20000",
            CRAWL_MAX_STREAM_BYTES="30000",
            CRAWL_MAX_CONNECTIONS="9",
            CRAWL_MAX_RETRY_AFTER_SECONDS="60",
        )
    )
    assert client.guard.ports == {80, 443}
    assert client.limits == FetchLimits(
        deadline_seconds=7,
        connect_seconds=2,
        max_redirects=3,
        page_bytes=20_000,
        stream_bytes=30_000,
        connections=9,
        max_retry_after_seconds=60,
    )


def test_the_user_agent_has_name_version_and_contact() -> None:
    assert user_agent(settings()) == "scrapersky/0.1.0"
    named = settings(CRAWL_USER_AGENT="acme-bot", CRAWL_CONTACT_URL="https://acme.example/bot")
    assert user_agent(named) == "acme-bot/0.1.0 (+https://acme.example/bot)"


def test_an_allowance_is_logged_as_a_warning() -> None:
    with capture_logs() as logs:
        client = client_of(settings(CRAWL_ALLOWED_PRIVATE_NETWORKS="127.0.0.1:8080, 10.1.0.0/16"))
    assert client.guard.allowance.covers(ip_address("10.1.2.3"), 80)
    assert [(line["event"], line["log_level"]) for line in logs] == [("private_network_allowed", "warning")]
    assert logs[0]["allowed"] == ["127.0.0.1/32 port 8080", "10.1.0.0/16"]


def test_without_an_allowance_nothing_is_logged() -> None:
    with capture_logs() as logs:
        client_of(settings())
    assert logs == []


async def test_a_crawler_applies_the_limits_per_host() -> None:
    async with open_crawler(settings(CRAWL_HOST_DELAY_SECONDS="50", CRAWL_MAX_CONCURRENCY_PER_HOST="3")) as crawler:
        assert isinstance(await crawler._limits.acquire("a.example"), Permit)
        again = await crawler._limits.acquire("a.example")
        assert isinstance(again, NotYet)
        assert timedelta(seconds=40) < again.after <= timedelta(seconds=50)


async def test_robots_txt_is_honoured_unless_the_setting_is_off() -> None:
    async with open_crawler(settings()) as polite, open_crawler(settings(CRAWL_OBEY_ROBOTS="false")) as rude:
        assert polite._robots is not None
        assert rude._robots is None


@pytest.mark.parametrize(
    "variables",
    [
        {"CRAWL_ALLOWED_PORTS": "80,0"},
        {"CRAWL_ALLOWED_PORTS": "80;443"},
        {"CRAWL_HOST_OVERRIDES": "a.example=b.example"},
        {"CRAWL_HOST_OVERRIDES": "a.example=127.0.0.1:99999"},
        {"CRAWL_ALLOWED_PRIVATE_NETWORKS": "0.0.0.0/33"},
        {"CRAWL_PROXY_URL": "http://proxy:secret@/"},
        {"CRAWL_PROXY_URL": "proxy.example:3128"},
        {"CRAWL_PROXY_URL": "socks5://127.0.0.1"},
        {"CRAWL_CONTACT_URL": "call me"},
        {"CRAWL_USER_AGENT": "two words"},
        {"CRAWL_MAX_REDIRECTS": "50"},
    ],
)
def test_an_invalid_setting_is_named_without_its_secrets(variables: dict[str, str]) -> None:
    with pytest.raises(BadSetting, match=next(iter(variables))) as caught:
        client_of(settings(**variables))
    assert "secret" not in str(caught.value)
