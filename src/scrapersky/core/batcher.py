"""A desk: what many tasks ask at the same time is asked of the database together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Batcher(Generic[Question, Answer]):
    """Whoever comes while the last group is being served forms the next one; nobody waits for a group to fill."""

    def __init__(self, serve: Callable[[Sequence[Question]], Awaitable[Sequence[Answer]]], most: int = 200) -> None:
        """`serve` answers a group of at most so many questions, in their order."""
        self._serve = serve
        self._most = most
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._serving: asyncio.Task[None] | None = None

    async def ask(self, question: Question) -> Answer:
        """The answer; whoever stops waiting does not disturb the others."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve_all(), name="desk")
        return await answer

    async def _serve_all(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._answer([(question, answer) for question, answer in group if not answer.done()])
        finally:
            self._serving = None
            for _, answer in self._waiting:
                answer.cancel()  # the desk itself was ended: the process is

    async def _answer(self, group: Sequence[tuple[Question, "asyncio.Future[Answer]"]]) -> None:
        try:
            answers = await self._serve([question for question, _ in group]) if group else []
        except Exception as error:  # noqa: BLE001 - it is the answer to each of them
            for _, answer in group:
                if not answer.done():
                    answer.set_exception(error)
            return
        except asyncio.CancelledError:
            for _, answer in group:
                answer.cancel()
            raise
        for (_, future), given in zip(group, answers, strict=True):
            if not future.done():
                future.set_result(given)
