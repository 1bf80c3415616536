"""Answers that are still good, so that nobody is asked the same thing twice."""

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

MAX_IN_MEMORY = 64


class ResponseCache(Protocol):
    """Where answers are kept, by their question: in this process, or in the database that all workers share."""

    async def find(self, question: str) -> Any | None:
        """The answer as JSON can hold it; none if nobody asked, or it is too old."""

    async def keep(self, question: str, answer: Any, good_for: timedelta) -> None:
        """Remember the answer for so long, or until others need its room."""


class InMemoryResponseCache:
    """Answers that only this process knows; the oldest makes room."""

    def __init__(self, most: int = MAX_IN_MEMORY, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._answers: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    async def find(self, question: str) -> Any | None:
        """The answer, unless there is none or it is too old."""
        good_until, answer = self._answers.get(question, (self._now(), None))
        return answer if self._now() < good_until else None

    async def keep(self, question: str, answer: Any, good_for: timedelta) -> None:
        """In this process only."""
        self._answers.pop(question, None)
        self._answers[question] = (self._now() + good_for.total_seconds(), answer)
        while len(self._answers) > self._most:
            self._answers.popitem(last=False)
