"""Abuse at the wall: pace, origins, names, proxies, odd paths and methods, and what browsers are told."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from scrapersky.api.http import middleware
from scrapersky.core.database import Database
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import load
from tests.factories.api_application import LINE, app_over, client_with, environment, is_problem, make_key, served

EVIL = "https://evil.example"
FRIEND = "https://console.example"


# -- pace --------------------------------------------------------------------------------------------------------------


async def test_a_key_over_its_rate_limit_gets_429(database_url):
    async with served(app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_KEY="2")) as client:
        first = await client.get(LINE)
        assert first.status_code == 200
        assert first.headers["ratelimit-policy"] == '"key";q=2;w=60'
        assert first.headers["ratelimit"] == '"key";r=1;t=0'
        await client.get(LINE)
        refused = await client.get(LINE)
        problem = is_problem(refused, 429)
        assert problem["type"] == "urn:scrapersky:problem:rate-limited"
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert refused.headers["ratelimit"].startswith('"key";r=0;t=')


async def test_each_key_has_its_own_limit_shared_by_all_processes(database_url):
    one, other = (app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_KEY="1") for _ in range(2))
    async with served(one) as client, other.router.lifespan_context(other):
        assert (await client.get(LINE)).status_code == 200
        key = client.headers["authorization"].removeprefix("Bearer ")
        async with client_with(other, key) as elsewhere:
            is_problem(await elsewhere.get(LINE), 429)
        async with client_with(one, await make_key(one.state.application.database)) as second:
            assert (await second.get(LINE)).status_code == 200


async def test_guessing_keys_is_limited_by_address(database_url):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="3")
    async with app.router.lifespan_context(app), client_with(app, "ssk_guess_guess") as guesser:
        statuses = [(await guesser.get(LINE)).status_code for _ in range(5)]
        assert statuses == [401, 401, 401, 429, 429]


async def test_probes_and_metrics_are_not_limited(database_url):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="1", SCRAPERSKY_RATE_LIMIT_PER_KEY="1")
    async with served(app) as client:
        for path in ["/health/live", "/health/ready", "/metrics"] * 3:
            assert (await client.get(path)).status_code == 200


async def test_without_the_database_the_rate_limit_passes_and_the_route_responds_503(database_url):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="100", SCRAPERSKY_RATE_LIMIT_PER_KEY="100")
    async with served(app) as client:
        application = app.state.application
        away = Database("postgresql://nobody@127.0.0.1:1/nothing", application.settings)
        app.state.application = replace(application, database=away)
        problem = is_problem(await client.get(LINE), 503)
        assert problem["type"] == "urn:scrapersky:problem:unavailable"
        app.state.application = application
        assert (await client.get(LINE)).status_code == 200
        await away.close()


# -- origins -----------------------------------------------------------------------------------------------------------

PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}


async def test_an_origin_that_is_not_listed_may_not_read(client):
    for origin in (EVIL, "null", "http://localhost:8000"):
        answer = await client.get(LINE, headers={"origin": origin})
        assert not [name for name in answer.headers if name.startswith("access-control")]
        preflight = await client.options(LINE, headers={"origin": origin, **PREFLIGHT})
        assert preflight.status_code in (403, 405)
        assert not [name for name in preflight.headers if name.startswith("access-control")]


async def test_a_listed_origin_may_read_and_others_may_not(database_url):
    async with served(app_over(database_url, SCRAPERSKY_CORS_ORIGINS=f"{FRIEND}, http://localhost:5173")) as client:
        preflight = await client.options(LINE, headers={"origin": FRIEND, **PREFLIGHT})
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == FRIEND
        answer = await client.get(LINE, headers={"origin": FRIEND})
        assert answer.headers["access-control-allow-origin"] == FRIEND
        assert "Origin" in answer.headers["vary"]
        assert "access-control-allow-credentials" not in answer.headers
        assert (await client.post(f"{LINE}/packing/pause", headers={"origin": FRIEND})).status_code == 200
        for origin in (EVIL, f"{FRIEND}.evil.example", FRIEND.upper(), f"{FRIEND}/", "null"):
            answer = await client.get(LINE, headers={"origin": origin})
            assert "access-control-allow-origin" not in answer.headers, origin
            is_problem(await client.post(f"{LINE}/packing/resume", headers={"origin": origin}), 403)


def test_fifty_origins_are_accepted():
    origins = ", ".join(f"https://console-of-customer-{number}.some-long-name.example.com:8443" for number in range(50))
    assert load(environment("postgresql://x/y", SCRAPERSKY_CORS_ORIGINS=origins)).cors_origins == origins


@pytest.mark.parametrize("wrong", ["*", "https://*", "console.example", "https://a.example/path", "javascript:x"])
def test_an_inexact_origin_is_a_bad_setting(wrong):
    with pytest.raises(BadSetting, match="SCRAPERSKY_CORS_ORIGINS"):
        load(environment("postgresql://x/y", SCRAPERSKY_CORS_ORIGINS=wrong))


# -- names and proxies -------------------------------------------------------------------------------------------------


def remote(app, host, peer="192.0.2.7", **headers):
    transport = httpx.ASGITransport(app, client=(peer, 4711))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)


async def test_only_listed_host_names_are_served(database_url):
    app = app_over(
        database_url, SCRAPERSKY_ENVIRONMENT="production", SCRAPERSKY_ALLOWED_HOSTS="sky.example, api.sky.example"
    )
    async with served(app) as client:
        key = client.headers["authorization"]
        for host, status in [("sky.example", 200), ("api.sky.example:8443", 200), ("evil.example", 421)]:
            async with remote(app, host, authorization=key) as asking_by_name:
                assert (await asking_by_name.get(LINE)).status_code == status
        async with remote(app, "localhost", authorization=key) as pretender:
            is_problem(await pretender.get(LINE), 421)
        async with remote(app, "10.0.0.3:8000") as probe:
            assert (await probe.get("/health/live")).status_code == 200


async def test_x_forwarded_host_is_ignored(database_url):
    app = app_over(database_url, SCRAPERSKY_ENVIRONMENT="production", SCRAPERSKY_ALLOWED_HOSTS="sky.example")
    async with served(app), remote(app, "evil.example", **{"x-forwarded-host": "sky.example"}) as liar:
        is_problem(await liar.get(LINE), 421)


async def test_x_forwarded_for_counts_from_trusted_proxies_only(database_url):
    """A stranger who says he comes from here is still a stranger; so is one behind a proxy that we trust."""
    app = app_over(database_url, SCRAPERSKY_TRUSTED_PROXIES="10.0.0.1, 10.1.0.0/16")
    here = {"x-forwarded-for": "127.0.0.1"}
    async with served(app) as client:
        async with remote(app, "localhost", "192.0.2.7", **here) as liar:
            is_problem(await liar.get("/health/live"), 403)
        async with remote(app, "localhost", "10.0.0.1", **here) as proxied:
            assert (await proxied.get("/health/live")).status_code == 200
        async with remote(app, "localhost", "10.0.0.1", **{"x-forwarded-for": "127.0.0.1, 192.0.2.7"}) as liar:
            is_problem(await liar.get("/health/live"), 403)
        async with remote(app, "localhost", "10.0.0.1", **{"x-forwarded-for": "127.0.0.1, 10.1.2.3"}) as proxied:
            assert (await proxied.get("/health/live")).status_code == 200
        async with remote(app, "localhost", "10.0.0.1", **{"x-forwarded-for": "nonsense"}) as odd:
            is_problem(await odd.get("/health/live"), 403)
        assert (await client.get("/health/live", headers={"x-forwarded-for": "192.0.2.7"})).status_code == 200


async def test_a_forged_address_gets_no_new_rate_limit(database_url):
    app = app_over(database_url, SCRAPERSKY_RATE_LIMIT_PER_IP="2")
    async with app.router.lifespan_context(app), client_with(app, None) as liar:
        statuses = [
            (await liar.get(LINE, headers={"x-forwarded-for": f"192.0.2.{number}"})).status_code for number in range(4)
        ]
        assert statuses == [401, 401, 429, 429]


def test_a_proxy_that_is_no_address_is_a_bad_setting(database_url):
    with pytest.raises(BadSetting, match="is neither an IP address nor a network"):
        app_over(database_url, SCRAPERSKY_TRUSTED_PROXIES="10.0.0.300").build_middleware_stack()


# -- what browsers are told --------------------------------------------------------------------------------------------


async def test_every_response_has_the_security_headers(client):
    for answer in [await client.get(LINE), await client.get("/nowhere"), await client.get("/health/live")]:
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers
        assert "server" not in answer.headers


# -- odd paths and methods ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "//api/v3/workflows",
        "/api//v3/workflows",
        "/api/v3/workflows/",
        "/api/v3/workflows/.",
        "/api/v3/nowhere/../workflows",
        "/api/v3/%2e%2e/v3/workflows",
        "/health/..%2fapi/v3/workflows",
        "/API/V3/workflows",
        "/api/v3/workflows%00",
        "/api/v3/workflows;x=1",
    ],
)
async def test_another_spelling_of_a_path_does_not_bypass_authentication(app, client, path):
    raw = httpx.URL("http://localhost:8000", raw_path=path.encode())
    async with client_with(app, None) as stranger:
        answer = await stranger.send(httpx.Request("GET", raw, headers={"host": "localhost"}))
        assert answer.status_code in (401, 404), answer.text


async def test_method_override_headers_are_ignored(app, client):
    headers = {"x-http-method-override": "DELETE", "x-method-override": "DELETE", "x-http-method": "DELETE"}
    assert (await client.get(LINE, headers=headers)).status_code == 200
    is_problem(await client.get(f"{LINE}?_method=DELETE", headers=headers), 422)
    for method in ("TRACE", "CONNECT", "PROPFIND", "DELETE"):
        answer = await client.request(method, LINE)
        is_problem(answer, 405)
    async with client_with(app, None) as stranger:
        for method in ("HEAD", "OPTIONS", "TRACE", "POST"):
            assert (await stranger.request(method, LINE)).status_code in (401, 405)


async def test_hsts_is_sent_over_https_only(database_url):
    """In production, and only where a proxy that is trusted says so."""
    app = app_over(database_url, SCRAPERSKY_TRUSTED_PROXIES="10.0.0.1", SCRAPERSKY_ENVIRONMENT="production")
    secure = {"x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https"}
    async with served(app):
        for peer, headers, is_told in [
            ("10.0.0.1", secure, True),
            ("192.0.2.7", secure, False),
            ("10.0.0.1", {}, False),
        ]:
            async with remote(app, "sky.example", peer, **headers) as browser:
                answer = await browser.get("/health/live")
                assert ("strict-transport-security" in answer.headers) is is_told


async def test_a_client_that_reads_nothing_is_disconnected(monkeypatch):
    """Its answer stops in the middle, and whatever fed it is told."""
    monkeypatch.setattr(middleware, "STALL_SECONDS", 0.05)
    told = asyncio.Event()

    async def endless(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})
        finally:
            told.set()

    async def body():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def stalled(message):
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "client": None}
    scope["headers"] = [(b"host", b"localhost")]
    async with asyncio.timeout(90):
        await middleware.RequestGuard(endless, settings=load(environment("postgresql://x/y")), local_only=True)(
            scope, body, stalled
        )
    assert told.is_set()
