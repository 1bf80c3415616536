"""A search that is killed continues on another host: no result is lost, and no page is paid for twice."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from scrapersky.core import clock
from scrapersky.maintenance.expire_provider_data import ExpireProviderData
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.fork_server import ForkedProcess, ForkServer

SEED, BUSINESSES = 41, 1_500  # more than two hundred dentists in Helsinki: a search by boxes
LEASE_SECONDS = 2
KILLS = 4
MONTH = "SELECT sum(micros) FROM spending"


@pytest.fixture
async def sandbox():
    async with Sandbox(SEED, BUSINESSES) as little_internet:
        yield little_internet


@pytest.fixture
def start_worker(sandbox, database_url, tmp_path: Path, fork_server: ForkServer):
    """Starts workers that only search; ends those that are left."""
    started = []
    environment = {
        **os.environ,
        **sandbox.environment(),
        "DATABASE_URL": database_url,
        "SCRAPERSKY_LOG_LEVEL": "error",
        "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
        "PLACE_SEARCH_SCHEDULER_LEASE_SECONDS": str(LEASE_SECONDS),
    }

    def start() -> ForkedProcess:
        started.append(fork_server.start("scrapersky", "worker", cwd=tmp_path, env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


async def until(condition, seconds=200):
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.02)


async def add_search(admin, tenant):
    rules = json.dumps({"deep_scan": "off"})
    return await admin.fetchval(
        "INSERT INTO search (tenant_id, text, area, provider, rules, place_search_status) "
        "VALUES ($1, 'dentists', 'Helsinki', 'google_places', $2, 'Queued') RETURNING id",
        *(tenant, rules),
    )


async def test_a_killed_search_pays_for_no_page_twice_and_loses_none(admin, tenant, sandbox, start_worker):
    search = await add_search(admin, tenant)
    sandbox.latency_seconds = 0.05  # so that there is a middle
    first = start_worker()

    async def half_way() -> bool:
        return await admin.fetchval("SELECT count(*) FROM search_journal WHERE search_id = $1", search) >= 25

    await until(half_way)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert await admin.fetchval("SELECT place_search_status FROM search") == "Processing"
    kept = await admin.fetchval("SELECT count(*) FROM search_journal")
    asked = len(sandbox.google.asked)
    start_worker()

    async def is_done() -> bool:
        return await admin.fetchval("SELECT place_search_status FROM search") == "Completed"

    await until(is_done)

    again = sandbox.google.asked[asked:]
    assert 0 <= asked - kept <= 1, "at most the page that was under way is not in the journal"
    assert again, "there was something left to ask"
    assert len(set(sandbox.google.asked)) >= len(sandbox.google.asked) - 1, "nothing but that page is asked for again"
    true = [one for one in sandbox.world if one.city.name == "Helsinki" and one.trade.name == "dentist"]
    places = await admin.fetchval("SELECT count(*) FROM search_place WHERE search_id = $1", search)
    row = await admin.fetchrow("SELECT result_count, place_search_attempts FROM search")
    assert places == row["result_count"] == len(true) > 120
    await check_books(admin, sandbox)
    assert row["place_search_attempts"] == 2
    assert await admin.fetchval("SELECT count(*) FROM search_journal") == 0, "a search that ended needs no journal"


async def check_books(admin, sandbox) -> None:
    """Our books have what Google billed; they differ by calls at most that are marked as unanswered."""
    billed = round(sandbox.google.bill.cents * 10_000)
    booked, month = await admin.fetchval("SELECT cost_micros FROM search"), await admin.fetchval(MONTH)
    unanswered = await admin.fetchval("SELECT coalesce(sum(micros), 0) FROM unanswered_call")
    assert booked == month
    assert booked - unanswered <= billed <= booked


async def test_the_books_have_what_google_billed_after_many_kills(admin, tenant, sandbox, start_worker):
    await add_search(admin, tenant)
    sandbox.latency_seconds = 0.05
    for number in range(1, KILLS + 1):
        worker, before = start_worker(), sandbox.google.bill.cents

        async def has_paid(before: float = before) -> bool:
            return sandbox.google.bill.cents > before

        await until(has_paid)
        worker.kill()
        worker.wait()
        assert await admin.fetchval("SELECT place_search_status FROM search") == "Processing", number
    start_worker()

    async def is_done() -> bool:
        return await admin.fetchval("SELECT place_search_status FROM search") == "Completed"

    await until(is_done)
    await check_books(admin, sandbox)
    counted, received = await admin.fetchval("SELECT call_count FROM search"), sandbox.google.calls["searchText"]
    assert received <= counted <= received + KILLS, "a worker may die between booking a call and sending it"
    calls = await admin.fetchval("SELECT count(*) FROM unanswered_call WHERE micros = 35000 AND method = 'search'")
    assert calls <= KILLS, "one call at most of each worker that died"


async def test_without_faults_the_books_are_exactly_what_google_billed(admin, tenant, sandbox, start_worker):
    await add_search(admin, tenant)
    start_worker()

    async def is_done() -> bool:
        return await admin.fetchval("SELECT place_search_status FROM search") == "Completed"

    await until(is_done)
    billed = round(sandbox.google.bill.cents * 10_000)
    row = await admin.fetchrow("SELECT cost_micros, cost_cents, call_count FROM search")
    assert row["cost_micros"] == await admin.fetchval(MONTH) == billed > 0
    assert row["cost_cents"] == -(-billed // 10_000), "for people, rounded up once"
    assert row["call_count"] == sandbox.google.calls["searchText"]
    assert await admin.fetchval("SELECT count(*) FROM unanswered_call") == 0


async def test_a_journal_expires_after_a_day(database, admin, tenant):
    search = await add_search(admin, tenant)
    for hours, question in ((1, "young"), (27, "old")):
        await admin.execute(
            "INSERT INTO search_journal (search_id, query, page_token, tenant_id, page, stored_at) "
            "VALUES ($1, $2, '', $3, '{}', $4::timestamptz - $5 * interval '1 hour')",
            *(search, question, tenant, clock.now(), hours),
        )
    async with database.engine_connection() as connection:
        await ExpireProviderData().run(connection)
    assert await admin.fetchval("SELECT array_agg(query) FROM search_journal") == ["young"]
