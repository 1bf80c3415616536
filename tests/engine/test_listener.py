"""LISTEN is reopened when its connection breaks, and a broken connection alone is not an outage."""

import asyncio
import contextlib

import asyncpg

from scrapersky.engine.events import Events
from scrapersky.engine.listener import listen_for_wakeups
from scrapersky.engine.queue_sql import CHANNEL

LISTENERS = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE '%listen' AND datname = current_database()"


async def listener_pid(admin, other_than: int | None = None) -> int:
    async with asyncio.timeout(10):  # sooner than the probe of an idle connection
        while (pid := await admin.fetchval(LISTENERS)) in (None, other_than):
            await asyncio.sleep(0.02)
    return pid


async def _notify_until_heard(admin: asyncpg.Connection, heard: asyncio.Event) -> None:
    heard.clear()
    async with asyncio.timeout(30):
        while not heard.is_set():
            await admin.execute("SELECT pg_notify($1, 'x.y')", CHANNEL)
            await asyncio.sleep(0.02)


async def test_a_closed_connection_is_reopened_at_once_and_reported_by_nobody(database, admin):
    published, heard = [], asyncio.Event()
    events = Events()

    async def note(event: object) -> None:
        published.append(event)

    events.subscribe(note)
    listening = asyncio.create_task(listen_for_wakeups(database, lambda _: heard.set(), events))
    try:
        first = await listener_pid(admin)
        await _notify_until_heard(admin, heard)  # now it is open: a connection closed while it is opened is reported
        await admin.execute("SELECT pg_terminate_backend($1)", first)
        await listener_pid(admin, first)
        await _notify_until_heard(admin, heard)
        assert published == []
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
