"""A row that arrives while another is being settled is claimed at once: it does not wait for that transaction."""

import asyncio
from collections.abc import Iterable, Sequence
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.engine.in_flight import InFlight
from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue import ClaimResult
from scrapersky.sandbox.example_workflows import ExampleParcel, Packing, Shipping, Weighing
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, $2, 'Queued')"


class SlowWrites(Packing):
    """Packs at once; the transaction of the first parcel stays open until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.started: asyncio.Queue[str] = asyncio.Queue()
        self.writing, self.release = asyncio.Event(), asyncio.Event()

    async def work(self, label: str) -> None:
        self.started.put_nowait(label)

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[ExampleParcel, None]]) -> Iterable[UUID]:
        self.writing.set()
        await self.release.wait()
        return await super().write_batch(session, found)


@pytest.fixture
async def slow(database, settings):
    workflow = SlowWrites()
    processor = processors_of(Pipeline([workflow, Weighing(), Shipping()]), database, settings)["packing"]
    cycle: asyncio.Task[object] | None = None

    def start() -> asyncio.Task[object]:
        nonlocal cycle
        cycle = asyncio.create_task(run_job_loop(processor))
        return cycle

    yield workflow, processor, start
    workflow.release.set()
    processor.stop(0)
    if cycle is not None:
        await asyncio.wait([cycle])


async def test_a_row_starts_while_another_is_being_settled(slow, admin, tenant):
    workflow, processor, start = slow
    await admin.execute(ADD, tenant, "first")
    start()
    async with asyncio.timeout(60):
        assert await workflow.started.get() == "first"
        await workflow.writing.wait()
        await admin.execute(ADD, tenant, "second")
        processor.wake()
        assert await workflow.started.get() == "second"
    assert await admin.fetchval("SELECT count(*) FROM parcel WHERE packing_status = 'Processing'") == 2


async def test_a_cycle_that_stops_while_settling_loses_and_repeats_nothing(slow, admin, tenant):
    workflow, processor, start = slow
    await admin.execute(ADD, tenant, "first")
    cycle = start()
    async with asyncio.timeout(60):
        await workflow.writing.wait()
        await admin.execute(ADD, tenant, "second")
        processor.wake()
        while workflow.started.qsize() < 2:
            await asyncio.sleep(0.01)
        processor.stop(30)
        workflow.release.set()
        await cycle
    rows = await admin.fetch("SELECT packing_status, packing_attempts, weighing_status FROM parcel")
    assert [tuple(row) for row in rows] == [("Completed", 1, "Queued")] * 2


class OneByOne(SlowWrites):
    """Fails to write two parcels together, and writes the first one slowly."""

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[ExampleParcel, None]]) -> Iterable[UUID]:
        if len(found) > 1:
            raise ZeroDivisionError("the batch fails")
        return await super().write_batch(session, found)


async def test_a_row_that_waits_to_be_settled_alone_keeps_its_lease(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, "first")
    await admin.execute(ADD, tenant, "second")
    workflow = OneByOne()
    pipeline = Pipeline([workflow, Weighing(), Shipping()])
    processor = processors_of(pipeline, database, settings, lease_seconds=1)["packing"]
    cycle = asyncio.create_task(run_job_loop(processor))
    leases = "SELECT packing_due_at FROM parcel WHERE packing_status = 'Processing'"
    async with asyncio.timeout(60):
        await workflow.writing.wait()
        seen = {row["packing_due_at"] for row in await admin.fetch(leases)}
        while len(seen) < 4:  # three renewals are longer than the first lease
            await asyncio.sleep(0.01)
            seen |= {row["packing_due_at"] for row in await admin.fetch(leases)}
        workflow.release.set()
        await cycle
    rows = await admin.fetch("SELECT packing_status, packing_attempts FROM parcel")
    assert [tuple(row) for row in rows] == [("Completed", 1)] * 2


async def test_a_row_that_was_queued_again_and_claimed_while_its_settle_ended_stays_in_flight(slow, admin, tenant):
    _, processor, _ = slow
    await admin.execute(ADD, tenant, "first")
    in_flight = InFlight()
    async with processor.database.engine_connection() as connection:
        first = in_flight.apply(ClaimResult(await processor.queue.claim(connection, 1, 60), []), [], 0.0)
        await admin.execute("UPDATE parcel SET packing_status = 'Queued', packing_due_at = NULL")
        second = in_flight.apply(ClaimResult(await processor.queue.claim(connection, 1, 60), []), [], 0.0)
    in_flight.apply(ClaimResult([], []), first, 0.0)
    assert [claim.attempts for claim in second] == [2]
    assert list(in_flight.claims.values()) == second


async def test_a_claim_with_nothing_to_settle_does_not_wait_for_the_disk(slow, admin, tenant):
    _, processor, _ = slow
    await admin.execute(ADD, tenant, "first")
    statements: list[str] = []
    async with processor.database.engine_connection() as connection:
        with connection.query_logger(lambda record: statements.append(record.query)):
            found = await processor.queue.settle_and_claim(connection, [], 1, 60)
    assert len(found.claimed) == 1
    assert ["synchronous_commit" in statement for statement in statements] == [True]
