"""A micro-batcher: single calls that arrive together are sent as one batch, and each call gets its own result."""

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

MAX_WAIT_SECONDS = 1.0  # the first call of a batch waits no longer than this, however many calls follow
UNLIMITED = 1_000_000

# Sends a batch; returns for each item, in order, its result or its error.
SendBatch = Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT | Exception]]]


class Batcher(Generic[ItemT, ResultT]):
    """Collects items until no further one came for `idle_seconds` or a batch is full, then sends the batch.

    While `max_in_flight` batches are in flight, further items form the next batch. Two items with the same `key` are
    never in one batch; without a `key` any two items can be.
    """

    def __init__(
        self,
        send: SendBatch[ItemT, ResultT],
        *,
        key: Callable[[ItemT], Hashable] | None = None,
        max_size: int = 200,
        idle_seconds: float = 0.0,
        max_in_flight: int = UNLIMITED,
    ) -> None:
        numbers = itertools.count()
        self._send_batch = send
        self._key = key or (lambda _: next(numbers))
        self._max_size = max_size
        self._idle_seconds = idle_seconds
        self._max_in_flight = max_in_flight
        self._batches: deque[dict[Hashable, tuple[ItemT, asyncio.Future[ResultT]]]] = deque()  # the last one is open
        self._timer: asyncio.TimerHandle | None = None  # of the open batch; None when that batch is due
        self._deadline = 0.0
        self._in_flight: set[asyncio.Task[None]] = set()

    async def add(self, item: ItemT) -> ResultT:
        """Add an item to the open batch; return its result or raise its error."""
        key, loop = self._key(item), asyncio.get_running_loop()
        result: asyncio.Future[ResultT] = loop.create_future()
        if not self._batches or key in self._batches[-1] or len(self._batches[-1]) >= self._max_size:
            self._stop_timer()
            self._batches.append({})
            self._deadline = loop.time() + MAX_WAIT_SECONDS
        self._batches[-1][key] = (item, result)
        self._start_timer(loop)
        if len(self._batches) > 1 or len(self._batches[-1]) >= self._max_size:
            self._send_due()
        return await result

    async def close(self) -> None:
        """Cancel every waiting and every sent item."""
        self._cancel_waiting()
        for task in list(self._in_flight):
            task.cancel()
        await asyncio.gather(*self._in_flight, return_exceptions=True)

    def _start_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            if not self._idle_seconds:
                return
            self._timer.cancel()
        self._timer = loop.call_at(min(loop.time() + self._idle_seconds, self._deadline), self._close_open_batch)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_open_batch(self) -> None:
        self._timer = None
        self._send_due()

    def _send_due(self) -> None:
        """Send the batches that are closed, full or due, as far as `max_in_flight` allows."""
        while self._batches and len(self._in_flight) < self._max_in_flight:
            if len(self._batches) == 1:
                if self._timer is not None and len(self._batches[0]) < self._max_size:
                    return
                self._stop_timer()
            # An item whose caller was cancelled is not sent.
            batch = [(item, result) for item, result in self._batches.popleft().values() if not result.done()]
            if batch:
                task = asyncio.get_running_loop().create_task(self._send(batch), name="batch")
                self._in_flight.add(task)
                task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        if task.cancelled():  # the process is ending
            self._cancel_waiting()
        else:
            self._send_due()

    async def _send(self, batch: Sequence[tuple[ItemT, "asyncio.Future[ResultT]"]]) -> None:
        try:
            results = await self._send_batch([item for item, _ in batch])
        except asyncio.CancelledError:
            for _, waiting in batch:
                waiting.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - every caller of this batch gets it
            results = [error] * len(batch)
        for (_, waiting), result in zip(batch, results, strict=True):
            if waiting.done():
                continue
            if isinstance(result, Exception):
                waiting.set_exception(result)
            else:
                waiting.set_result(result)

    def _cancel_waiting(self) -> None:
        self._stop_timer()
        while self._batches:
            for _, waiting in self._batches.popleft().values():
                waiting.cancel()
