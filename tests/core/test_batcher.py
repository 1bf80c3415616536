"""Questions asked at the same time are served together, and each gets its own answer."""

import asyncio
from collections.abc import Sequence

import pytest

from scrapersky.core.batcher import Batcher


class Clerk:
    """Doubles numbers, group by group; closed until the door is opened."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.door = asyncio.Event()
        self.error: Exception | None = None

    async def serve(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        await self.door.wait()
        if self.error is not None:
            raise self.error
        return [2 * number for number in numbers]


async def test_whoever_comes_meanwhile_forms_the_next_group():
    clerk = Clerk()
    desk = Batcher(clerk.serve)
    first = asyncio.create_task(desk.ask(1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = [asyncio.create_task(desk.ask(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    clerk.door.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6]
    assert clerk.groups == [[1], [2, 3]]


async def test_a_group_has_a_largest_size():
    clerk = Clerk()
    clerk.door.set()
    desk = Batcher(clerk.serve, most=2)
    assert await asyncio.gather(*(desk.ask(number) for number in range(5))) == [0, 2, 4, 6, 8]
    assert [len(group) for group in clerk.groups] == [2, 2, 1]


async def test_an_error_is_everybodys_answer_and_the_next_are_served():
    clerk = Clerk()
    clerk.door.set()
    clerk.error = OSError("the database is away")
    desk = Batcher(clerk.serve)
    answers = await asyncio.gather(desk.ask(1), desk.ask(2), return_exceptions=True)
    assert [type(answer) for answer in answers] == [OSError, OSError]
    clerk.error = None
    assert await desk.ask(3) == 6


async def test_whoever_stops_waiting_disturbs_nobody():
    clerk = Clerk()
    desk = Batcher(clerk.serve)
    leaving, staying = asyncio.create_task(desk.ask(1)), asyncio.create_task(desk.ask(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    leaving.cancel()
    clerk.door.set()
    assert await staying == 4
    with pytest.raises(asyncio.CancelledError):
        await leaving
