"""How long `find` waits for rows that pause: not silently, not for ever, and not at all if it would be in vain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command's help must not wait for the database's library
    from scrapersky.store.searches.progress import StepCount, Wait

DEFAULT_SECONDS = 45.0
HELD_SECONDS = 5.0  # a row that is ready is taken up sooner than this, unless something holds it


class Patience:
    """Counts the time in which nothing is worked on. It begins anew whenever a row is through with a step.

    It is over when so much time has passed, or as soon as every row that is left waits for longer than what is left.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._idle = 0.0
        self._told: list[str] = []
        self._idle_since: float | None = None  # the latest look at which nothing was worked on
        self._before: list[tuple[int, int]] = []

    def is_over(self, steps: "Sequence[StepCount]", waits: "Sequence[Wait]", now: float) -> bool:
        """Whether to leave what is left for the next time; to be asked again and again."""
        state, since = [(step.settled, step.open) for step in steps], self._idle_since
        is_busy = any(step.working for step in steps)
        self._idle_since = None if is_busy else now
        if state != self._before:
            self._before, self._idle = state, 0.0
        elif since is not None:
            self._idle += now - since
        left = self.seconds - self._idle
        in_vain = all_wait(steps, waits) and min(wait.seconds for wait in waits) > left
        return not is_busy and (left <= 0 or in_vain)

    def held(self, steps: "Sequence[StepCount]") -> str | None:
        """Rows could be worked on, and for a while nobody has: a sentence about it, once for the same steps."""
        open_steps = [step.workflow for step in steps if step.open]
        if self._idle < HELD_SECONDS or open_steps == self._told:
            return None
        self._told = open_steps
        return f"Nothing is worked on, although {', '.join(open_steps)} could. Is it paused? `scrapersky status` tells."


def all_wait(steps: "Sequence[StepCount]", waits: "Sequence[Wait]") -> bool:
    """Whether every row that is open waits for a moment that is known."""
    return 0 < sum(wait.rows for wait in waits) == sum(step.open for step in steps)
