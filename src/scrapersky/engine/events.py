"""The events that the engine publishes after the fact."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from scrapersky.core.cancellation import raise_if_cancelled
from scrapersky.engine.outcomes import OutcomeKind

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class BatchSettled:
    """Rows of one workflow were settled together."""

    workflow: str
    counts: Mapping[OutcomeKind, int]


@dataclass(frozen=True)
class RowFailed:
    """A row will be tried again, or has become a dead letter."""

    workflow: str
    row_id: str
    tries: int
    kind: OutcomeKind
    error: str


@dataclass(frozen=True)
class LeaseLost:
    """This worker lost the lease of rows, and wrote nothing about them."""

    workflow: str
    row_ids: list[str]
    where: str


@dataclass(frozen=True)
class RowsRescued:
    """Leases had expired: the rows were queued again, or became dead letters."""

    workflow: str
    requeued: int
    died: int


@dataclass(frozen=True)
class BreakerChanged:
    """The breaker of a workflow opened, half-opened or closed."""

    workflow: str
    breaker: str
    reason: str | None
    until: datetime | None


@dataclass(frozen=True)
class CycleEnded:
    """One run of the loop has ended."""

    workflow: str
    started_at: datetime
    seconds: float
    claimed: int
    counts: Mapping[OutcomeKind, int]
    lost: int
    histogram: list[int]
    error: str | None = None


@dataclass(frozen=True)
class SchedulerJobEvent:
    """An event of the scheduler about a job: executed, error, missed, max_instances."""

    job_id: str
    what: str
    error: str | None = None


@dataclass(frozen=True)
class DatabaseUnavailable:
    """The database is unavailable; the engine waits and tries again."""

    where: str
    error: str


@dataclass(frozen=True)
class DatabaseAvailable:
    """The database responds again, so many seconds after it was first unavailable."""

    seconds: float


Listener = Callable[[Any], Awaitable[None]]


@dataclass
class Events:
    """The listeners of a process. A failing listener is logged and does not affect the others."""

    listeners: list[Listener] = field(default_factory=list)

    def subscribe(self, listener: Listener) -> None:
        """Call this listener for every event from now on."""
        self.listeners.append(listener)

    async def publish(self, event: Any) -> None:
        """Call every listener with the event."""
        for listener in self.listeners:
            try:
                await listener(event)
            except Exception as error:  # a listener must not stop the engine
                raise_if_cancelled(error)
                log.exception("listener_failed", event_type=type(event).__name__)
