"""A gathering: single things that come within a moment of each other are done by one request."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

MOMENT_SECONDS = 0.15  # nobody came for so long: go
MAX_SECONDS = 1.0  # the first one waits no longer than this, whoever still comes

# Sends them together; for each, in their order, the result or the error that is its own.
SendAll = Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT | Exception]]]


class Gathering(Generic[ItemT, ResultT]):
    """`add` waits for its own result. Two items with the same key never share a request."""

    def __init__(
        self,
        send_all: SendAll[ItemT, ResultT],
        key: Callable[[ItemT], str],
        most: int = 100,
        seconds: float = MOMENT_SECONDS,
    ) -> None:
        self._send_all = send_all
        self._key = key
        self._most = most
        self._seconds = seconds
        self._open: dict[str, tuple[ItemT, asyncio.Future[ResultT]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._go_by = 0.0  # the time of the loop at which the open batch goes, full or not
        self._sending: set[asyncio.Task[None]] = set()

    async def add(self, item: ItemT) -> ResultT:
        """Wait a moment for others, then send; the result of this item, or its error."""
        key = self._key(item)
        if key in self._open:
            self._close_batch()
        loop = asyncio.get_running_loop()
        result: asyncio.Future[ResultT] = loop.create_future()
        self._open[key] = (item, result)
        if len(self._open) >= self._most:
            self._close_batch()
        else:
            self._wait_a_moment(loop)
        return await result

    def _wait_a_moment(self, loop: asyncio.AbstractEventLoop) -> None:
        """For one more: a queue hands out its rows in several bites, and a batch wants to be full."""
        if self._timer is None:
            self._go_by = loop.time() + MAX_SECONDS
        else:
            self._timer.cancel()
        self._timer = loop.call_at(min(loop.time() + self._seconds, self._go_by), self._close_batch)

    def _close_batch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Whoever was cancelled while waiting does not want to be sent any more.
        batch = [(item, result) for item, result in self._open.values() if not result.done()]
        self._open = {}
        if batch:
            task = asyncio.get_running_loop().create_task(self._send(batch), name="gathering")
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, batch: Sequence[tuple[ItemT, "asyncio.Future[ResultT]"]]) -> None:
        try:
            results = await self._send_all([item for item, _ in batch])
        except asyncio.CancelledError:
            for _, waiting in batch:
                waiting.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, each of them is told
            results = [error] * len(batch)
        for (_, waiting), found in zip(batch, results, strict=True):
            if waiting.done():
                continue
            if isinstance(found, Exception):
                waiting.set_exception(found)
            else:
                waiting.set_result(found)

    async def close(self) -> None:
        """Send nothing more, and wait for nobody."""
        if self._timer is not None:
            self._timer.cancel()
        for _, waiting in self._open.values():
            waiting.cancel()
        for task in list(self._sending):
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
