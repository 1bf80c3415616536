"""The timeouts of the rows that are being worked on: one timer for all rows of a cycle."""

import asyncio
import time

from scrapersky.engine.settle import Claim


class Timeouts:
    """Cancels the task of each row that takes longer than the timeout, and marks the row as late.

    A timer of its own for each row costs more than all the rest that the engine does for a short row. All rows have the
    same timeout, so that the row that started first is the first to be late.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[Claim, None] = {}  # in the order of their start
        self._timer: asyncio.TimerHandle | None = None

    def start(self, claim: Claim) -> None:
        """Watch a row from now on; its `runner` is the task to cancel."""
        claim.started_at = time.monotonic()
        self._running[claim] = None
        if self._timer is None:
            self._set_timer(self._seconds)

    def end(self, claim: Claim) -> float:
        """Stop watching a row and return how many seconds it took."""
        del self._running[claim]
        return time.monotonic() - (claim.started_at or 0.0)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _set_timer(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._cancel_late)

    def _cancel_late(self) -> None:
        self._timer = None
        now = time.monotonic()
        for claim in self._running:
            if (left := (claim.started_at or 0.0) + self._seconds - now) > 0:
                self._set_timer(left)
                return
            if not claim.is_late and claim.runner is not None:
                claim.is_late = True
                claim.runner.cancel()
