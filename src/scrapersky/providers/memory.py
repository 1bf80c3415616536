"""Answers that are still good: a small cache with an age limit, so that nobody is asked the same thing twice."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Memory(Generic[Answer]):
    """Remembers the latest answers by question, at most so many and for so long."""

    def __init__(self, most: int, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._now = now
        self._answers: OrderedDict[str, tuple[float, Answer]] = OrderedDict()

    def get(self, question: str) -> Answer | None:
        """The answer, unless there is none or it is too old."""
        kept = self._answers.get(question)
        return kept[1] if kept is not None and self._now() - kept[0] < self._seconds else None

    def keep(self, question: str, answer: Answer) -> Answer:
        """Remember the answer; the oldest makes room."""
        self._answers.pop(question, None)
        self._answers[question] = (self._now(), answer)
        while len(self._answers) > self._most:
            self._answers.popitem(last=False)
        return answer

    def forget(self, question: str) -> None:
        """Drop the answer, if there is one."""
        self._answers.pop(question, None)
