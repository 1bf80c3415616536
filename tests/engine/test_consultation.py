"""A row is claimed while its cycle sweeps and consults; the next row that is queued wakes the cycle at once."""

import asyncio

import pytest

from scrapersky.engine import consultation
from scrapersky.engine.loop import MAX_RENOTIFICATIONS, Cycle, run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.queue_sql import CHANNEL
from scrapersky.sandbox.example_workflows import Packing, Shipping, Weighing
from tests.conftest import processors_of

ADD = "INSERT INTO parcel (tenant_id, label, packing_status) VALUES ($1, $2, 'Queued')"
NOTIFIED_AT = "SELECT last_value FROM parcel_packing_notified"


class Announcing(Packing):
    """Puts the label of each parcel into a queue."""

    def __init__(self) -> None:
        super().__init__()
        self.started: asyncio.Queue[str] = asyncio.Queue()

    async def work(self, label: str) -> None:
        self.started.put_nowait(label)


@pytest.fixture
def packing(database, settings):
    workflow, patient = Announcing(), settings.model_copy(update={"idle_timeout_seconds": 60})
    return workflow, processors_of(Pipeline([workflow, Weighing(), Shipping()]), database, patient)["packing"]


async def test_a_row_starts_during_a_consultation(packing, admin, tenant, monkeypatch):
    workflow, processor = packing
    consulting, released, consult = asyncio.Event(), asyncio.Event(), processor.consult
    monkeypatch.setattr(consultation, "CONSULT_SECONDS", 0.01)
    calls = 0

    async def slow_consult(*arguments):
        nonlocal calls
        calls += 1
        if calls == 2:
            consulting.set()
            await released.wait()
        return await consult(*arguments)

    monkeypatch.setattr(processor, "consult", slow_consult)
    cycle = asyncio.create_task(run_job_loop(processor))
    async with asyncio.timeout(60):
        await consulting.wait()
        await admin.execute(ADD, tenant, "first")
        processor.wake()
        assert await workflow.started.get() == "first"
        assert calls == 2
        released.set()
        processor.stop(30)
        assert (await cycle).claimed == 1


async def test_an_error_of_a_consultation_ends_the_cycle(packing, monkeypatch):
    _, processor = packing
    consult, calls = processor.consult, 0
    monkeypatch.setattr(consultation, "CONSULT_SECONDS", 0.01)

    async def failing_consult(*arguments):
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ZeroDivisionError("a mistake of ours")
        return await consult(*arguments)

    monkeypatch.setattr(processor, "consult", failing_consult)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(run_job_loop(processor), 60)


async def test_a_claim_lets_the_next_row_send_a_notification(packing, admin, tenant):
    _, processor = packing
    notified: asyncio.Queue[str] = asyncio.Queue()
    await admin.add_listener(CHANNEL, lambda *arguments: notified.put_nowait(arguments[-1]))
    await admin.execute(ADD, tenant, "first")
    async with asyncio.timeout(60):
        assert await notified.get() == "parcel.packing"
        sent_at = await admin.fetchval(NOTIFIED_AT)
        async with processor.database.engine_connection() as connection:
            assert len(await processor.queue.claim(connection, 10, 60)) == 1
            assert await admin.fetchval(NOTIFIED_AT) == sent_at > 0
            assert await processor.queue.claim(connection, 10, 60, renotify=True) == []
        assert await admin.fetchval(NOTIFIED_AT) == 0
        await admin.execute(ADD, tenant, "second")
        assert await notified.get() == "parcel.packing"


def test_only_so_many_notifications_are_asked_for_in_a_second(packing):
    cycle = Cycle(packing[1])
    asked = [cycle._may_renotify() for _ in range(MAX_RENOTIFICATIONS + 1)]
    assert asked == [*[True] * MAX_RENOTIFICATIONS, False]
