"""The batcher: calls that arrive together are sent as one batch, and each call gets its own result or error."""

import asyncio
from collections.abc import Sequence

import pytest

from scrapersky.core.batcher import Batcher


class Sender:
    """Multiplies even numbers by ten, batch by batch; sends nothing while its gate is closed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None

    async def send(self, items: Sequence[int]) -> Sequence[int | Exception]:
        self.batches.append(list(items))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return [ValueError(f"{item} is odd") if item % 2 else item * 10 for item in items]


@pytest.fixture
def sender() -> Sender:
    return Sender()


def in_turn(sender: Sender, max_size: int = 200) -> Batcher[int, int]:
    """Build a batcher that sends one batch at a time, without waiting."""
    return Batcher(sender.send, max_size=max_size, max_in_flight=1)


def keyed(sender: Sender, max_size: int = 100, idle_seconds: float = 0.15) -> Batcher[int, int]:
    """Build a batcher that waits for further items and never has two of one key in a batch."""
    return Batcher(sender.send, key=str, max_size=max_size, idle_seconds=idle_seconds)


async def until_sent(sender: Sender, batches: int = 1) -> None:
    while len(sender.batches) < batches:
        await asyncio.sleep(0.01)


async def test_calls_during_a_batch_in_flight_form_the_next_batch(sender: Sender) -> None:
    sender.gate.clear()
    batcher = in_turn(sender)
    first = asyncio.create_task(batcher.add(2))
    await until_sent(sender)
    others = []
    for number in (4, 6):  # at different moments
        others.append(asyncio.create_task(batcher.add(number)))
        await asyncio.sleep(0.01)
    sender.gate.set()
    assert await asyncio.gather(first, *others) == [20, 40, 60]
    assert sender.batches == [[2], [4, 6]]


async def test_a_batch_has_a_maximum_size(sender: Sender) -> None:
    batcher = in_turn(sender, max_size=2)
    assert await asyncio.gather(*(batcher.add(number) for number in range(0, 10, 2))) == [0, 20, 40, 60, 80]
    assert [len(batch) for batch in sender.batches] == [2, 2, 1]


async def test_an_error_of_the_batch_is_raised_by_every_call_and_the_next_batch_is_sent(sender: Sender) -> None:
    sender.error = OSError("the database is unavailable")
    batcher = in_turn(sender)
    results = await asyncio.gather(batcher.add(2), batcher.add(4), return_exceptions=True)
    assert [type(result) for result in results] == [OSError, OSError]
    sender.error = None
    assert await batcher.add(6) == 60


async def test_a_cancelled_call_does_not_disturb_the_others_of_its_batch(sender: Sender) -> None:
    sender.gate.clear()
    batcher = in_turn(sender)
    leaving, staying = asyncio.create_task(batcher.add(2)), asyncio.create_task(batcher.add(4))
    await until_sent(sender)
    leaving.cancel()
    sender.gate.set()
    assert await staying == 40
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_each_call_gets_its_own_result_or_error(sender: Sender) -> None:
    results = await asyncio.gather(*map(keyed(sender).add, (2, 3, 4)), return_exceptions=True)
    assert sender.batches == [[2, 3, 4]]
    assert (results[0], str(results[1]), results[2]) == (20, "3 is odd", 40)


async def test_a_full_batch_is_sent_at_once(sender: Sender) -> None:
    batcher = keyed(sender, max_size=2, idle_seconds=3600)
    assert list(await asyncio.gather(batcher.add(2), batcher.add(4))) == [20, 40]


async def test_two_items_of_one_key_are_never_in_one_batch(sender: Sender) -> None:
    assert await asyncio.gather(*map(keyed(sender).add, (2, 4, 2))) == [20, 40, 20]
    assert sender.batches == [[2, 4], [2]]


async def test_a_failed_request_is_raised_by_every_call(sender: Sender) -> None:
    sender.error = OSError("the whole request failed")
    results = await asyncio.gather(*map(keyed(sender).add, (2, 4)), return_exceptions=True)
    assert [str(result) for result in results] == ["the whole request failed"] * 2


async def test_an_item_cancelled_while_it_waits_is_not_sent_and_a_later_one_is(sender: Sender) -> None:
    batcher = keyed(sender)
    gone = asyncio.create_task(batcher.add(2))
    stays = asyncio.create_task(batcher.add(4))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 40
    assert sender.batches == [[4]]
    assert await batcher.add(2) == 20


async def test_a_batch_that_is_still_open_is_not_sent_when_another_one_finishes(sender: Sender) -> None:
    sender.gate.clear()
    batcher = keyed(sender, max_size=2, idle_seconds=0.5)
    full = [asyncio.create_task(batcher.add(number)) for number in (2, 4)]
    await until_sent(sender)
    single = asyncio.create_task(batcher.add(6))
    await asyncio.sleep(0)
    sender.gate.set()
    assert await asyncio.gather(*full) == [20, 40]
    assert sender.batches == [[2, 4]]
    assert await single == 60


async def test_closing_cancels_waiting_and_sent_items(sender: Sender) -> None:
    batcher = keyed(sender)
    sender.gate.clear()
    waiting = [asyncio.create_task(batcher.add(2))]
    await until_sent(sender)
    waiting.append(asyncio.create_task(batcher.add(4)))
    await asyncio.sleep(0)
    await batcher.close()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
