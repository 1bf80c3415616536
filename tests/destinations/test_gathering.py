"""A gathering: who comes within a moment goes together, each gets its own, and nobody is forgotten."""

import asyncio

import pytest

from scrapersky.destinations.gathering import Gathering


class Sender:
    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def send(self, items):
        self.batches.append(list(items))
        await self.gate.wait()
        if 13 in items:
            raise OSError("the whole request failed")
        return [ValueError(f"{item} is odd") if item % 2 else item * 10 for item in items]


@pytest.fixture
def sender() -> Sender:
    return Sender()


def gathering(sender: Sender, most: int = 100) -> Gathering[int, int]:
    return Gathering(sender.send, str, most)


async def test_each_gets_its_own_result_or_error(sender):
    fates = await asyncio.gather(*map(gathering(sender).add, (2, 3, 4)), return_exceptions=True)
    assert sender.batches == [[2, 3, 4]]
    assert (fates[0], str(fates[1]), fates[2]) == (20, "3 is odd", 40)


async def test_a_full_batch_does_not_wait(sender):
    together = gathering(sender, most=2)
    together._seconds = 3600
    assert await asyncio.gather(together.add(2), together.add(4)) == [20, 40]


async def test_a_failed_request_is_told_to_all_of_them(sender):
    fates = await asyncio.gather(*map(gathering(sender).add, (2, 13)), return_exceptions=True)
    assert [str(fate) for fate in fates] == ["the whole request failed"] * 2


async def test_who_was_cancelled_before_is_not_sent_and_who_comes_later_is(sender):
    together = gathering(sender)
    gone = asyncio.create_task(together.add(2))
    stays = asyncio.create_task(together.add(4))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 40
    assert sender.batches == [[4]]
    assert await together.add(2) == 20


async def test_closing_lets_nobody_wait(sender):
    together = gathering(sender)
    sender.gate.clear()
    waiting = [asyncio.create_task(together.add(2))]
    while not sender.batches:
        await asyncio.sleep(0.01)
    waiting.append(asyncio.create_task(together.add(4)))
    await asyncio.sleep(0)
    await together.close()
    fates = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(fate, asyncio.CancelledError) for fate in fates)
