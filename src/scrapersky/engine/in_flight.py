"""The rows of one cycle that are in flight: being worked on, or finished and not yet settled."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from scrapersky.engine.queue import ClaimResult
from scrapersky.engine.settle import Claim


class InFlight:
    """Rows that are claimed and not settled; `changed` is set on every change."""

    def __init__(self) -> None:
        self.claims: dict[UUID, Claim] = {}
        self.finished: list[Claim] = []
        self.changed = asyncio.Event()
        self.claimed = 0
        self.lost = 0

    @property
    def unfinished(self) -> int:
        """The number of rows still being worked on."""
        return len(self.claims) - len(self.finished)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to work on or to settle."""
        return not self.claims and not self.finished

    def finish(self, claim: Claim) -> None:
        """Add a row that has its outcome."""
        self.finished.append(claim)
        self.changed.set()

    def take_finished(self) -> list[Claim]:
        """Return the finished rows and mark them as being settled."""
        done, self.finished = self.finished, []
        for claim in done:
            claim.settling = True
        return done

    def put_back(self, done: list[Claim]) -> None:
        """Put rows back after a failed settle; the fence prevents a double write."""
        for claim in done:
            claim.settling = False
        self.finished = done + self.finished

    def apply(self, result: ClaimResult, done: Iterable[Claim], requested_at: float) -> list[Claim]:
        """Drop the settled rows and add the claimed ones, whose lease starts no earlier than `requested_at`."""
        for claim in done:
            if self.claims.get(claim.row_id) is claim:  # a row that was queued again may have been claimed meanwhile
                del self.claims[claim.row_id]
        taken = [Claim(row, renewed_at=requested_at) for row in result.claimed]
        self.claims.update((claim.row_id, claim) for claim in taken)
        self.claimed += len(taken)
        return taken

    def drop(self, rows: Iterable[Claim]) -> None:
        """Drop rows whose lease is lost: their results are not written."""
        for claim in rows:
            claim.lost = True
            self.claims.pop(claim.row_id, None)
            if claim in self.finished:
                self.finished.remove(claim)
            if claim.runner is not None:
                claim.runner.cancel()
            self.lost += 1
        self.changed.set()
