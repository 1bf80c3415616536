"""Engine events as Prometheus metrics of this process; queue depths and ages are measured at each scrape."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from platform import python_version
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from scrapersky import __version__
from scrapersky.crawl.browser.browser import BrowserVisit
from scrapersky.engine import histogram
from scrapersky.engine.events import (
    BatchSettled,
    CycleEnded,
    DatabaseUnavailable,
    LeaseLost,
    RowsRescued,
    SchedulerJobEvent,
)
from scrapersky.engine.queue import QueueMetrics

BREAKER_STATES = {"closed": 0, "half-open": 1, "open": 2}
QUEUE_STATES = ("ready", "waiting", "processing", "dead")
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
OTHER = "other"  # the label of methods and paths that no route has: clients cannot create labels


class _RowSeconds(Collector):
    """Processing time of rows: the sum of the histograms of cycles, in the form that histogram_quantile() reads."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, workflow: str, counts: Sequence[int]) -> None:
        so_far = self._counts.setdefault(workflow, histogram.empty())
        self._counts[workflow] = [old + new for old, new in zip(so_far, counts, strict=True)]

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily("scrapersky_row_seconds", "Processing time of rows", labels=["workflow"])
        bounds = [*(f"{bound:g}" for bound in histogram.BOUNDS), "+Inf"]
        for workflow, counts in self._counts.items():
            family.add_metric([workflow], list(zip(bounds, accumulate(counts), strict=True)), sum_value=None)
        yield family


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by_workflow, by_call = ["workflow"], ["provider", "method"]
        self.rows = self._counter("rows", "Settled rows", ["workflow", "outcome"])
        self.lost = self._counter("leases_lost", "Rows whose lease was lost to another worker", by_workflow)
        self.rescued = self._counter("rows_rescued", "Rows requeued after an expired lease", by_workflow)
        self.jobs = self._counter("job_events", "Scheduler events of jobs", ["job_id", "event"])
        self.unavailable = self._counter("database_unavailable", "Failed attempts to reach the database", [])
        self.cycles = Histogram("scrapersky_cycle_seconds", "Duration of cycles", by_workflow, registry=self.registry)
        self.loop_blocks = Histogram(
            "scrapersky_loop_block_seconds",
            "Blocks of the event loop over 100 ms",
            buckets=(0.25, 0.5, 1, 2, 5, 10),
            registry=self.registry,
        )
        self.browser_visits = self._counter("browser_visits", "Pages that a browser was to draw", ["drawn"])
        self.browser_seconds = self._counter("browser_seconds", "Time of these visits", [])
        self.browser_bytes = self._counter("browser_bytes", "Bytes that were fetched for these visits", [])
        by_route = ["method", "route"]
        self.requests = self._counter("http_requests", "HTTP requests", [*by_route, "status"])
        self.request_seconds = Histogram(
            "scrapersky_http_request_seconds", "Time until the end of responses", by_route, registry=self.registry
        )
        Info("scrapersky_build", "The version of this process", registry=self.registry).info(
            {"version": __version__, "python": python_version()}
        )
        ProcessCollector(registry=self.registry)  # process_cpu_seconds_total, process_resident_memory_bytes and so on
        self.row_seconds = _RowSeconds()
        self.registry.register(self.row_seconds)
        self.breaker = self._gauge("breaker_state", "0 closed, 1 half-open, 2 open", by_workflow)
        self.paused = self._gauge("workflow_paused", "1 while paused by a user", by_workflow)
        self.workers = self._gauge("workers", "Processes that have reported within 30 seconds", ["version"])
        self.hidden = self._gauge("hidden_sites", "Domains whose home page shows nothing to a plain reader", ["reason"])
        self.depth = self._gauge("queue_rows", "Rows in a queue", ["workflow", "state"])
        self.oldest = self._gauge("queue_oldest_seconds", "Age of the oldest ready row", by_workflow)
        self.calls = self._gauge(
            "provider_calls_this_month", "Calls to providers this month, by all tenants and hosts", by_call
        )
        self.cents = self._gauge(
            "provider_cents_this_month", "Cost of these calls in cents, by all tenants and hosts", by_call
        )

    def _counter(self, name: str, description: str, labels: Sequence[str]) -> Counter:
        return Counter(f"scrapersky_{name}", description, labels, registry=self.registry)

    def _gauge(self, name: str, description: str, labels: Sequence[str]) -> Gauge:
        return Gauge(f"scrapersky_{name}", description, labels, registry=self.registry)

    async def count_event(self, event: Any) -> None:
        """Count an engine event."""
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
            case SchedulerJobEvent():
                self.jobs.labels(event.job_id, event.what).inc()
            case DatabaseUnavailable():
                self.unavailable.inc()

    def count_request(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count an HTTP request by the path of its route, not by that of the request."""
        method, route = method if method in METHODS else OTHER, route or OTHER
        self.requests.labels(method, route, status).inc()
        self.request_seconds.labels(method, route).observe(seconds)

    def count_browser_visit(self, visit: BrowserVisit) -> None:
        """Count a visit of the browser."""
        self.browser_visits.labels("yes" if visit.page is not None else "no").inc()
        self.browser_seconds.inc(visit.seconds)
        self.browser_bytes.inc(visit.bytes)

    def clear_measurements(self) -> None:
        """Remove the measured values: without a measurement, no value is better than an old one."""
        for gauge in (
            self.depth,
            self.oldest,
            self.breaker,
            self.paused,
            self.calls,
            self.cents,
            self.workers,
            self.hidden,
        ):
            gauge.clear()

    def render(
        self,
        queues: Mapping[str, QueueMetrics],
        controls: Mapping[str, tuple[str, bool]],
        spent: Iterable[tuple[str, str, int, int]] = (),
        workers: Mapping[str, int] | None = None,
        hidden_sites: Mapping[str, int] | None = None,
    ) -> bytes:
        """Return the text that Prometheus reads, with the given measurements of all hosts."""
        self.calls.clear()  # calls of the previous month are not in `spent`
        self.cents.clear()
        for provider, method, calls, cents in spent:
            self.calls.labels(provider, method).set(calls)
            self.cents.labels(provider, method).set(cents)
        self.workers.clear()
        for version, count in (workers or {}).items():
            self.workers.labels(version).set(count)
        for reason, sites in (hidden_sites or {}).items():
            self.hidden.labels(reason).set(sites)
        for workflow, (breaker, is_paused) in controls.items():
            self.breaker.labels(workflow).set(BREAKER_STATES[breaker])
            self.paused.labels(workflow).set(is_paused)
        for workflow, measures in queues.items():
            for state in QUEUE_STATES:
                self.depth.labels(workflow, state).set(getattr(measures, state))
            self.oldest.labels(workflow).set(measures.oldest_seconds)
        return generate_latest(self.registry)
