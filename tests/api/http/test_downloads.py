"""Whoever downloads slowly, or not at all, waits alone: everybody else is served, and hanging up gives all back."""

import asyncio
import gc
import json
import socket
from typing import Any

import pytest
from httpx import AsyncClient

from scrapersky.api import downloads as streams
from scrapersky.api.http import middleware
from scrapersky.api.http.request_bodies import ClientDisconnected
from tests.api.test_serving import listening
from tests.factories.api_application import app_over

ROWS = 30_000  # more than the buffers of two sockets hold


@pytest.fixture
async def many_sites(admin, tenant):
    await admin.execute(
        "INSERT INTO domain (tenant_id, name) SELECT $1, 'site' || n || '.fi' FROM generate_series(1, $2::int) n",
        *(tenant, ROWS),
    )


async def ask_and_read_nothing(port, key):
    """A socket with the head of the answer; the rest is never read."""
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(deaf, ("127.0.0.1", port))
    words = f"GET /api/v3/exports/domains.jsonl HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
    await loop.sock_sendall(deaf, words.encode())
    return deaf, await loop.sock_recv(deaf, 12)


async def until(true):
    async with asyncio.timeout(90):
        while not true():
            await asyncio.sleep(0.01)


async def test_stalled_downloads_do_not_block_others_and_are_disconnected(
    database_url, key_for, tenant, other_tenant, many_sites, monkeypatch
):
    monkeypatch.setattr(middleware, "STALL_SECONDS", 2)
    app, key = app_over(database_url, SCRAPERSKY_DATABASE_POOL_SIZE="7"), await key_for("viewer")
    bearer = {"Authorization": f"Bearer {key}"}
    async with listening(app) as port, AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=bearer) as client:
        downloads, pool = app.state.application.downloads, app.state.application.database.engine.pool
        assert (downloads.max_running, downloads.max_per_tenant) == (2, 1)
        deaf, head = await ask_and_read_nothing(port, key)
        assert head == b"HTTP/1.1 200"
        busy = await client.get("/api/v3/exports/domains.jsonl")
        assert (busy.status_code, busy.headers["retry-after"]) == (429, "10")
        assert (await client.get("/api/v3/domains")).status_code == 200
        gc.disable()  # nobody tidies up after us
        try:
            await until(lambda: pool.checkedout() == downloads.running == 0)
        finally:
            gc.enable()
            deaf.close()  # or the server waits for it
        whole = (await client.get("/api/v3/exports/domains.jsonl", timeout=240)).text
        assert len({json.loads(line)["id"] for line in whole.splitlines()}) == ROWS


@pytest.mark.parametrize("sent", [0, 1, 2])
async def test_a_client_that_disconnects_closes_the_rows(sent):
    """Before the first word, after the head, in the middle."""
    closed = asyncio.Event()

    async def rows():
        try:
            while True:
                yield {"name": "site.fi"}
        finally:
            closed.set()

    answer = await streams.stream_file("domains", "jsonl", ["name"], rows())
    messages: list[Any] = []

    async def wait_forever() -> Any:
        await asyncio.Event().wait()

    async def send(message):
        if len(messages) == sent:
            raise ClientDisconnected
        messages.append(message)

    with pytest.raises(ClientDisconnected):
        await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, wait_forever, send)
    assert closed.is_set()
