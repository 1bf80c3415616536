"""Fault injection: the next calls to a fake provider fail in a chosen way."""

from collections import deque
from collections.abc import Iterable

from scrapersky.core.errors import ScraperSkyError


class UnknownFault(ScraperSkyError):
    """This provider does not know this fault."""


class FaultInjector:
    """The faults of the next calls, in their order."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds = tuple(kinds)
        self._waiting: deque[str] = deque()

    def order(self, kind: str, times: int) -> None:
        """Let the next `times` calls fail like this; raise UnknownFault for an unknown kind."""
        if kind not in self._kinds:
            raise UnknownFault(f"{kind or 'nothing'} is none of {', '.join(self._kinds)}.")
        self._waiting.extend([kind] * times)

    def next(self) -> str | None:
        """Return the fault of this call, or None."""
        return self._waiting.popleft() if self._waiting else None
