"""The rows that one cycle has in hand: being worked on, or finished and not yet settled."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from scrapersky.engine.queue import Exchange
from scrapersky.engine.settle import Held


class Hand:
    """What was claimed and is not settled; `stirred` is set whenever there is something to look at."""

    def __init__(self) -> None:
        self.held: dict[UUID, Held] = {}
        self.finished: list[Held] = []
        self.stirred = asyncio.Event()
        self.claimed = 0
        self.lost = 0

    @property
    def unfinished(self) -> int:
        """How many rows are still being worked on."""
        return len(self.held) - len(self.finished)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to work on or to settle."""
        return not self.held and not self.finished

    def finish(self, held: Held) -> None:
        """A row has its outcome."""
        self.finished.append(held)
        self.stirred.set()

    def offer(self) -> list[Held]:
        """The finished rows, to be settled now."""
        done, self.finished = self.finished, []
        for held in done:
            held.settling = True
        return done

    def keep(self, done: list[Held]) -> None:
        """Nothing is known to be written: the fence decides next time."""
        for held in done:
            held.settling = False
        self.finished = done + self.finished

    def exchange(self, exchange: Exchange, done: Iterable[Held], asked_at: float) -> list[Held]:
        """Let go of what is settled and take up what was claimed; its lease begins no earlier than `asked_at`."""
        for held in done:
            self.held.pop(held.row_id, None)
        taken = [Held(row, renewed_at=asked_at) for row in exchange.claimed]
        self.held.update((held.row_id, held) for held in taken)
        self.claimed += len(taken)
        return taken

    def lose(self, rows: Iterable[Held]) -> None:
        """These are somebody else's now: whatever is done about them is not written."""
        for held in rows:
            held.lost = True
            self.held.pop(held.row_id, None)
            if held in self.finished:
                self.finished.remove(held)
            if held.runner is not None:
                held.runner.cancel()
            self.lost += 1
        self.stirred.set()
