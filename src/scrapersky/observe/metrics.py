"""Engine events as Prometheus metrics of this process; depths and ages are measured when they are asked for."""

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from scrapersky.engine import histogram
from scrapersky.engine.events import (
    BatchSettled,
    BreakerChanged,
    CycleEnded,
    DatabaseAway,
    JobNoticed,
    LeaseLost,
    RowsRescued,
)
from scrapersky.engine.queue import Measures

BREAKER_STATES = {"closed": 0, "half-open": 1, "open": 2}


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.rows = Counter("scrapersky_rows", "Rows settled", ["workflow", "outcome"], registry=self.registry)
        self.lost = Counter("scrapersky_leases_lost", "Rows lost to others", ["workflow"], registry=self.registry)
        self.rescued = Counter("scrapersky_rows_rescued", "Expired leases freed", ["workflow"], registry=self.registry)
        self.cycles = Histogram("scrapersky_cycle_seconds", "Length of cycles", ["workflow"], registry=self.registry)
        self.row_seconds = Counter(
            "scrapersky_row_seconds_bucketed", "Rows by how long they took", ["workflow", "le"], registry=self.registry
        )
        self.jobs = Counter("scrapersky_jobs", "Runs by the scheduler", ["job_id", "what"], registry=self.registry)
        self.away = Counter("scrapersky_database_away", "Times the database was away", registry=self.registry)
        self.breaker = Gauge(
            "scrapersky_breaker", "0 closed, 1 half-open, 2 open", ["workflow"], registry=self.registry
        )
        self.depth = Gauge("scrapersky_queue_rows", "Rows in a queue", ["workflow", "state"], registry=self.registry)
        self.oldest = Gauge(
            "scrapersky_queue_oldest_seconds", "Age of the oldest ready row", ["workflow"], registry=self.registry
        )

    async def count_event(self, event: Any) -> None:
        """A listener: count what happened."""
        match event:
            case BatchSettled():
                for kind, count in event.counts.items():
                    if count:
                        self.rows.labels(event.workflow, str(kind)).inc(count)
            case CycleEnded():
                self.cycles.labels(event.workflow).observe(event.seconds)
                for bound, count in zip([*histogram.BOUNDS, float("inf")], event.histogram, strict=True):
                    if count:
                        self.row_seconds.labels(event.workflow, f"{bound:g}").inc(count)
            case LeaseLost():
                self.lost.labels(event.workflow).inc(len(event.row_ids))
            case RowsRescued():
                self.rescued.labels(event.workflow).inc(event.requeued + event.died)
            case BreakerChanged():
                self.breaker.labels(event.workflow).set(BREAKER_STATES[event.breaker])
            case JobNoticed():
                self.jobs.labels(event.job_id, event.what).inc()
            case DatabaseAway():
                self.away.inc()

    def render(self, queues: Mapping[str, Measures]) -> bytes:
        """The text that Prometheus reads, with the queues as they are now."""
        for workflow, measures in queues.items():
            for state in ("ready", "waiting", "processing", "dead"):
                self.depth.labels(workflow, state).set(getattr(measures, state))
            self.oldest.labels(workflow).set(measures.oldest_seconds)
        return generate_latest(self.registry)
