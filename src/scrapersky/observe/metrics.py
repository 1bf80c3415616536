"""Engine events as Prometheus metrics of this process; depths and ages are measured when they are asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from scrapersky.engine import histogram
from scrapersky.engine.events import (
    BatchSettled,
    CycleEnded,
    DatabaseAway,
    JobNoticed,
    LeaseLost,
    RowsRescued,
)
from scrapersky.engine.queue import Measures

BREAKER_STATES = {"closed": 0, "half-open": 1, "open": 2}


class _RowSeconds(Collector):
    """How long rows took: the histograms of cycles added up, in the form that histogram_quantile() reads."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, workflow: str, counts: Sequence[int]) -> None:
        so_far = self._counts.setdefault(workflow, histogram.empty())
        self._counts[workflow] = [old + new for old, new in zip(so_far, counts, strict=True)]

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily("scrapersky_row_seconds", "How long rows took", labels=["workflow"])
        bounds = [*(f"{bound:g}" for bound in histogram.BOUNDS), "+Inf"]
        for workflow, counts in self._counts.items():
            family.add_metric([workflow], list(zip(bounds, accumulate(counts), strict=True)), sum_value=None)
        yield family


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.rows = Counter("scrapersky_rows", "Rows settled", ["workflow", "outcome"], registry=self.registry)
        self.lost = Counter("scrapersky_leases_lost", "Rows lost to others", ["workflow"], registry=self.registry)
        self.rescued = Counter("scrapersky_rows_rescued", "Expired leases freed", ["workflow"], registry=self.registry)
        self.cycles = Histogram("scrapersky_cycle_seconds", "Length of cycles", ["workflow"], registry=self.registry)
        self.row_seconds = _RowSeconds()
        self.registry.register(self.row_seconds)
        self.jobs = Counter("scrapersky_jobs", "Runs by the scheduler", ["job_id", "what"], registry=self.registry)
        self.away = Counter("scrapersky_database_away", "Times the database was away", registry=self.registry)
        self.breaker = Gauge(
            "scrapersky_breaker", "0 closed, 1 half-open, 2 open", ["workflow"], registry=self.registry
        )
        self.paused = Gauge("scrapersky_paused", "1 while paused by a person", ["workflow"], registry=self.registry)
        self.depth = Gauge("scrapersky_queue_rows", "Rows in a queue", ["workflow", "state"], registry=self.registry)
        self.oldest = Gauge(
            "scrapersky_queue_oldest_seconds", "Age of the oldest ready row", ["workflow"], registry=self.registry
        )

        self.calls = Gauge(
            "scrapersky_provider_calls_this_month",
            "Calls to providers since the first of the month, by all tenants and hosts",
            ["provider", "method"],
            registry=self.registry,
        )
        self.cents = Gauge(
            "scrapersky_provider_cents_this_month", "What they cost", ["provider", "method"], registry=self.registry
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
                self.row_seconds.add(event.workflow, event.histogram)
            case LeaseLost():
                self.lost.labels(event.workflow).inc(len(event.row_ids))
            case RowsRescued():
                self.rescued.labels(event.workflow).inc(event.requeued + event.died)
            case JobNoticed():
                self.jobs.labels(event.job_id, event.what).inc()
            case DatabaseAway():
                self.away.inc()

    def forget_queues(self) -> None:
        """What was measured is no longer true: yesterday's depth is worse than none."""
        for gauge in (self.depth, self.oldest, self.breaker, self.paused, self.calls, self.cents):
            gauge.clear()

    def render(
        self,
        queues: Mapping[str, Measures],
        controls: Mapping[str, tuple[str, bool]],
        spent: Iterable[tuple[str, str, int, int]] = (),
    ) -> bytes:
        """The text that Prometheus reads, with queues, breakers, pauses and spending of all hosts as they are now."""
        self.calls.clear()  # a new month begins with nothing
        self.cents.clear()
        for provider, method, calls, cents in spent:
            self.calls.labels(provider, method).set(calls)
            self.cents.labels(provider, method).set(cents)
        for workflow, (breaker, is_paused) in controls.items():
            self.breaker.labels(workflow).set(BREAKER_STATES[breaker])
            self.paused.labels(workflow).set(is_paused)
        for workflow, measures in queues.items():
            for state in ("ready", "waiting", "processing", "dead"):
                self.depth.labels(workflow, state).set(getattr(measures, state))
            self.oldest.labels(workflow).set(measures.oldest_seconds)
        return generate_latest(self.registry)
