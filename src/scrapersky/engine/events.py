"""What the engine tells whoever listens: facts, after they happened."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from scrapersky.core.cancellation import heed_cancel
from scrapersky.engine.outcomes import Kind

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class BatchSettled:
    """Rows of one workflow were settled together."""

    workflow: str
    counts: Mapping[Kind, int]


@dataclass(frozen=True)
class RowFailed:
    """A row will be tried again, or has become a dead letter."""

    workflow: str
    row_id: str
    tries: int
    kind: Kind
    error: str


@dataclass(frozen=True)
class LeaseLost:
    """A row was taken from this worker, which therefore wrote nothing about it."""

    workflow: str
    row_ids: list[str]
    where: str


@dataclass(frozen=True)
class RowsRescued:
    """Leases had expired: their rows went back to the queue, or died of too many attempts."""

    workflow: str
    requeued: int
    died: int


@dataclass(frozen=True)
class BreakerChanged:
    """A workflow was paused by its failures, is being probed, or goes on."""

    workflow: str
    breaker: str
    reason: str | None


@dataclass(frozen=True)
class CycleEnded:
    """One run of the loop is over."""

    workflow: str
    started_at: datetime
    seconds: float
    claimed: int
    counts: Mapping[Kind, int]
    lost: int
    histogram: list[int]
    error: str | None = None


@dataclass(frozen=True)
class JobNoticed:
    """The scheduler says something about a job: executed, error, missed, max_instances."""

    job_id: str
    what: str
    error: str | None = None


@dataclass(frozen=True)
class DatabaseAway:
    """The database does not answer; the engine waits and tries again."""

    where: str
    error: str


Listener = Callable[[Any], Awaitable[None]]


@dataclass
class Events:
    """The listeners of a process. One that fails is reported and disturbs nobody."""

    listeners: list[Listener] = field(default_factory=list)

    def subscribe(self, listener: Listener) -> None:
        """Have every event from now on handed to this listener."""
        self.listeners.append(listener)

    async def publish(self, event: Any) -> None:
        """Hand an event to every listener in turn."""
        for listener in self.listeners:
            try:
                await listener(event)
            except Exception as error:  # a listener must never stop the line
                heed_cancel(error)
                log.exception("listener_failed", event_type=type(event).__name__)
