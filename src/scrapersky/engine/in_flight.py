"""The rows that one cycle has in hand: being worked on, or finished and not yet settled."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from scrapersky.engine.queue import Exchange
from scrapersky.engine.settle import Claim


class InFlight:
    """What was claimed and is not settled; `stirred` is set whenever there is something to look at."""

    def __init__(self) -> None:
        self.held: dict[UUID, Claim] = {}
        self.finished: list[Claim] = []
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

    def finish(self, held: Claim) -> None:
        """A row has its outcome."""
        self.finished.append(held)
        self.stirred.set()

    def offer(self) -> list[Claim]:
        """The finished rows, to be settled now."""
        done, self.finished = self.finished, []
        for held in done:
            held.settling = True
        return done

    def keep(self, done: list[Claim]) -> None:
        """Nothing is known to be written: the fence decides next time."""
        for held in done:
            held.settling = False
        self.finished = done + self.finished

    def exchange(self, exchange: Exchange, done: Iterable[Claim], asked_at: float) -> list[Claim]:
        """Let go of what is settled and take up what was claimed; its lease begins no earlier than `asked_at`."""
        for held in done:
            self.held.pop(held.row_id, None)
        taken = [Claim(row, renewed_at=asked_at) for row in exchange.claimed]
        self.held.update((held.row_id, held) for held in taken)
        self.claimed += len(taken)
        return taken

    def lose(self, rows: Iterable[Claim]) -> None:
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
