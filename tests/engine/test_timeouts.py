"""A row that takes too long is cancelled alone, also when another row has used its task before."""

import asyncio

import pytest

from scrapersky.engine.loop import run_job_loop
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.settle import Claim
from scrapersky.engine.timeouts import Timeouts
from scrapersky.sandbox.example_workflows import Packing, Shipping, Weighing
from tests.conftest import processors_of

SECONDS = 0.05
ADD = """
INSERT INTO parcel (tenant_id, label, packing_status)
SELECT $1, label, 'Queued' FROM unnest($2::text[]) WITH ORDINALITY AS sent(label, n) ORDER BY n"""


async def hang() -> None:
    await asyncio.Event().wait()


def claim_with(task: asyncio.Task[None]) -> Claim:
    row = {"id": None, "tenant_id": None, "attempts": 1, "allowance": 0}
    return Claim(row, renewed_at=0.0, runner=task)  # type: ignore[arg-type]


@pytest.fixture
async def tasks():
    tasks = [asyncio.create_task(hang()) for _ in range(3)]
    await asyncio.sleep(0)
    yield tasks
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_rows_are_cancelled_in_the_order_of_their_start_and_ended_ones_never(tasks):
    ended, first, second = claims = [claim_with(task) for task in tasks]
    timeouts = Timeouts(SECONDS)
    timeouts.start(ended)
    timeouts.start(first)
    assert timeouts.end(ended) < SECONDS * 1000
    async with asyncio.timeout(60):
        await asyncio.wait([first.runner])
        timeouts.start(second)
        await asyncio.wait([second.runner])
    assert [claim.is_late for claim in claims] == [False, True, True]
    assert [claim.runner.done() for claim in claims] == [False, True, True]


async def test_a_stopped_timer_cancels_nothing(tasks):
    watched, other = claim_with(tasks[0]), claim_with(tasks[1])
    stopped, running = Timeouts(SECONDS), Timeouts(SECONDS)
    stopped.start(watched)
    stopped.stop()
    running.start(other)
    async with asyncio.timeout(60):
        await asyncio.wait([other.runner])
    assert not watched.is_late


class Scripted(Packing):
    """Does what the label of a parcel says."""

    async def work(self, label: str) -> None:
        if label == "hang":
            await hang()
        if label == "hang until cancelled":
            try:
                await hang()
            except asyncio.CancelledError:
                return
        if label == "raise":
            raise TimeoutError("no answer")


async def test_a_late_row_affects_no_other_row_of_its_task(database, settings, admin, tenant):
    await admin.execute(ADD, tenant, ["hang", "hang until cancelled", "raise", "at once"])
    pipeline = Pipeline([Scripted(), Weighing(), Shipping()])
    processor = processors_of(pipeline, database, settings, concurrency=1, timeout_seconds=SECONDS)["packing"]
    async with asyncio.timeout(60):
        await run_job_loop(processor)
    rows = await admin.fetch("SELECT packing_status, packing_error FROM parcel ORDER BY packing_order, id")
    assert {tuple(row) for row in rows} == {
        ("Queued", "The timeout of 0.05 seconds passed."),
        ("Completed", None),
        ("Queued", "TimeoutError: no answer"),
    }
    assert [row["packing_status"] for row in rows].count("Completed") == 2
