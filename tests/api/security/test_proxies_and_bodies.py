"""What a stranger could do to the wall: lie about where he comes from, fill its memory, read people's data in a log."""

import asyncio

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from starlette.datastructures import Headers

from scrapersky.api.http.client_address import TrustedProxies
from scrapersky.api.http.middleware import RequestGuard
from scrapersky.api.http.request_bodies import SMALL_BODY_BYTES
from tests.conftest import make_settings
from tests.factories.api_application import client_with, is_problem


@pytest.mark.parametrize(
    ("lines", "caller", "scheme"),
    [
        ([("x-forwarded-for", "127.0.0.1"), ("x-forwarded-for", "192.0.2.7")], "192.0.2.7", "http"),
        ([("x-forwarded-for", "127.0.0.1, 192.0.2.7"), ("x-forwarded-for", "10.0.0.1")], "192.0.2.7", "http"),
        ([("x-forwarded-proto", "https"), ("x-forwarded-proto", "http")], "10.0.0.1", "http"),
        ([("x-forwarded-proto", "http, https")], "10.0.0.1", "https"),
    ],
)
def test_forwarded_addresses_before_the_proxys_own_are_ignored(lines, caller, scheme):
    scope = {"type": "http", "client": ("10.0.0.1", 4711), "scheme": "http"}
    raw = [(name.encode(), value.encode()) for name, value in lines]
    TrustedProxies("10.0.0.1").apply_forwarded_headers(scope, Headers(raw=raw))
    assert (scope["client"][0], scope["scheme"]) == (caller, scheme)


async def test_many_large_bodies_at_once_are_refused_and_small_ones_are_not(database_url):
    """Three hold the room; the fourth is told to come again, a small one is taken, and the room is free afterwards."""
    inside, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def slow(scope, receive, send):
        length = len((await receive())["body"])
        if length > SMALL_BODY_BYTES:
            inside.release()
            await go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})

    large, small = b"x" * 500_000, b"x" * SMALL_BODY_BYTES
    guard = RequestGuard(slow, settings=make_settings(database_url), local_only=True, held_bytes=3 * len(large))
    transport = httpx.ASGITransport(guard, client=("127.0.0.1", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        held = [asyncio.create_task(client.post("/", content=large)) for _ in range(3)]
        for _ in held:
            await inside.acquire()
        refused = await client.post("/", content=large)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert (await client.post("/", content=small)).status_code == 200
        go_on.set()
        assert [answer.status_code for answer in await asyncio.gather(*held)] == [200, 200, 200]
        again = await asyncio.gather(*(client.post("/", content=large) for _ in range(3)))
        assert [answer.status_code for answer in again] == [200, 200, 200]


@pytest.mark.parametrize("path", ["/api/v3/places/curation", "/api/v3/imports/contacts"])
@pytest.mark.parametrize("credential", [None, "ssk_0123456789ab_made-up", "eyJ.made.up"])
async def test_a_large_body_needs_a_credential(app, client, path, credential):
    """A megabyte of JSON takes a fifth of a second to read: nobody gets that who is not known."""
    large = b"[" + b"1," * SMALL_BODY_BYTES + b"1]"
    async with client_with(app, credential) as stranger:
        headers = {"content-type": "application/json"}
        is_problem(await stranger.post(path, content=large, headers=headers), 401)
        small = await stranger.post("/api/v3/auth/login", json={"name": "bob", "password": "x" * 1000})
    assert small.status_code == 401
    answer = await client.post("/api/v3/places/curation", content=large, headers=headers)
    is_problem(answer, 422)


async def test_a_database_error_does_not_repeat_the_request(database, tenant):
    with pytest.raises(DBAPIError) as caught:
        async with database.session(tenant) as session:
            await session.execute(text("SELECT 1 / 0 WHERE :name <> ''"), {"name": "Secret Person"})
    assert "Secret Person" not in str(caught.value)
