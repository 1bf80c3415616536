"""Liveness, readiness and the metrics of this process."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable
from typing import Annotated, Any, Literal, TypeVar

import structlog
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from sqlalchemy.exc import TimeoutError as PoolTimeout

from scrapersky import __version__
from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, public, requires
from scrapersky.core.database import is_connection_error
from scrapersky.engine.breaker import CLOSED
from scrapersky.engine.queue import QueueMetrics
from scrapersky.engine.settle import driver_connection
from scrapersky.store.line import hidden_sites
from scrapersky.store.money import spending
from scrapersky.store.money.spending import Spent
from scrapersky.store.operations import controls, queue_rows, schema_revision

log = structlog.get_logger(__name__)

router = APIRouter(tags=["health"])

PROBE_SECONDS = 2.0  # probes usually time out after a few seconds
SCRAPE_SECONDS = 8.0  # Prometheus times out after ten

NOT_READY = "The database, the schema or the scheduler is not ready."

Found = TypeVar("Found")


METRICS = {
    "type": "string",
    "description": "The metrics in the text format of Prometheus.",
    "examples": ['scrapersky_queue_rows{state="ready",workflow="deep_scan"} 12.0\n'],
}


class Liveness(BaseModel):
    """The process is alive."""

    status: Literal["alive"] = Field("alive", description="always `alive`: the process responds")


class HealthCheck(BaseModel):
    """One check."""

    ok: bool = Field(description="whether the check passed")
    detail: str = Field(description="the result in words", examples=["it responds"])


class Readiness(BaseModel):
    """`ready`; `degraded`: the process works, but needs attention; `unready`: it cannot work now (status 503)."""

    status: Literal["ready", "degraded", "unready"] = Field(description="whether the process can work")
    checks: dict[Annotated[str, Field(examples=["database"])], HealthCheck] = Field(
        description="database, schema, scheduler, queues and workflows"
    )
    degraded_workflows: dict[str, str] = Field(
        description="workflows that need attention, and why",
        examples=[{"deep_scan": "its breaker is not closed: 80 % of its rows failed with TimedOut"}],
    )


class ReadinessSummary(BaseModel):
    """The readiness without details; `/health/details` has them for operators of the operator tenant."""

    status: Literal["ready", "degraded", "unready"] = Field(description="whether the process can work")


class _State(BaseModel):
    blocking_revision: str | None
    oldest_seconds: dict[str, float]
    breakers: dict[str, str]


@router.get("/health/live", summary="Liveness", operation_id="health_live", **public())
async def live() -> Liveness:
    """Respond with 200. Restart the process if it does not respond."""
    return Liveness()


@router.get(
    "/health/ready",
    summary="Readiness",
    operation_id="health_ready",
    **public(responses={503: {"model": ReadinessSummary, "description": NOT_READY}}),
)
async def ready(application: CurrentApplication, response: Response) -> ReadinessSummary:
    """Respond with 200 if the process is ready or degraded, with 503 if not; without details."""
    return ReadinessSummary(status=(await details(application, response)).status)


@router.get(
    "/health/details",
    summary="Readiness in detail",
    operation_id="health_details",
    **requires(OPERATOR, operators=True, scraper=True, responses={503: {"model": Readiness, "description": NOT_READY}}),
)
async def details(application: CurrentApplication, response: Response) -> Readiness:
    """Check the database, its schema, the scheduler, the age of the queues and the workflows, within two seconds.

    Old queues, open breakers and jobs that could not be registered make the process `degraded`, not `unready`:
    restarting it would not help.
    """
    state, detail = await _try(_query_state(application), PROBE_SECONDS)
    checks = {
        "database": HealthCheck(ok=state is not None, detail=detail),
        "schema": _schema(application, state),
        "scheduler": _scheduler(application),
    }
    degraded: dict[str, str] = {}
    if state:
        old, stopped = _old_queues(application, state), _stopped_workflows(application, state)
        checks["queues"] = HealthCheck(ok=not old, detail=_named(old, "too old") or "no queue is older than its limit")
        checks["workflows"] = HealthCheck(ok=not stopped, detail=_named(stopped, "degraded") or "all work")
        degraded = {**old, **stopped}
    unready = not all(checks[name].ok for name in ("database", "schema", "scheduler"))
    response.status_code = 503 if unready else 200
    status: Literal["ready", "degraded", "unready"] = "unready" if unready else "degraded" if degraded else "ready"
    return Readiness(status=status, checks=checks, degraded_workflows=degraded)


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    operation_id="metrics",
    response_class=Response,
    **requires(
        OPERATOR,
        operators=True,
        scraper=True,
        responses={200: {"content": {"text/plain": {"schema": METRICS}}}},
    ),
)
async def metrics(application: CurrentApplication) -> Response:
    """Return the counters of this process and the depth of every queue; without the database only the counters."""
    measured, detail = await _try(_measure(application), SCRAPE_SECONDS)
    if measured is None:
        log.warning("queue_metrics_unavailable", error=detail)
        application.metrics.clear_measurements()

    return Response(application.metrics.render(*(measured or ({}, {}))), media_type=CONTENT_TYPE_LATEST)


async def _try(query: Coroutine[Any, Any, Found], seconds: float) -> tuple[Found | None, str]:
    try:
        return await _within(seconds, query), "it responds"
    except TimeoutError:
        return None, f"it did not respond within {seconds:g} seconds"
    except Exception as error:
        if not (is_connection_error(error) or isinstance(error, PoolTimeout)):
            raise
        return None, "it is unavailable"


async def _query_state(application: WebApplication) -> _State:
    """Run a few short queries. None counts rows: a deep queue must not look like an unavailable database."""
    async with application.database.engine_session() as session:
        blocking = await schema_revision.blocking(session, application.revision)
        control_of = await controls.by_workflow(session)
        oldest = {
            workflow.name: await queue_rows.oldest_seconds(session, workflow) for workflow in application.pipeline
        }
    breakers = {name: row.breaker_reason or "" for name, row in control_of.items() if row.breaker != CLOSED}
    return _State(blocking_revision=blocking, oldest_seconds=oldest, breakers=breakers)


async def _measure(
    application: WebApplication,
) -> tuple[dict[str, QueueMetrics], dict[str, tuple[str, bool]], list[Spent], dict[str, int], dict[str, int]]:
    async with application.database.engine_session() as session:
        spent = await spending.spent_this_month(session)
        hidden = await hidden_sites.of_all_tenants(session)
        seen = Counter(worker.version for worker in await controls.workers(session))
        control_of, driver = await controls.by_workflow(session), await driver_connection(session)
        measures = {name: await queue.measure(driver) for name, queue in application.pipeline.queues.items()}
    untouched = (CLOSED, False)
    states = {name: (row.breaker, row.paused_at is not None) for name, row in control_of.items() if name in measures}
    workers = {__version__: 0, **seen}  # without a worker there is a zero, not a gap
    return measures, {**dict.fromkeys(measures, untouched), **states}, spent, workers, hidden


async def _within(seconds: float, query: Coroutine[Any, Any, Found]) -> Found:
    """Return the result. Raises TimeoutError without waiting for the cancellation of the query."""
    task = asyncio.create_task(query)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        return task.result()
    task.add_done_callback(lambda late: late.cancelled() or late.exception())
    task.cancel()
    raise TimeoutError


def _schema(application: WebApplication, state: _State | None) -> HealthCheck:
    if state is None:
        return HealthCheck(ok=False, detail="unknown while the database is unavailable")
    if state.blocking_revision is not None:
        return HealthCheck(
            ok=False, detail=f"this version, of {application.revision}, cannot run on {state.blocking_revision}"
        )
    return HealthCheck(ok=True, detail=application.revision)


def _scheduler(application: WebApplication) -> HealthCheck:
    if not application.runs_engine:
        return HealthCheck(ok=True, detail="not run by this process")
    alive = application.runtime.is_alive
    return HealthCheck(ok=alive, detail="it runs" if alive else "it does not run, or has not polled the queues lately")


def _old_queues(application: WebApplication, state: _State) -> dict[str, str]:
    """Return the workflows whose oldest row has waited for too long, each with a sentence."""
    limits = {name: application.tunings[name].oldest_age_limit_seconds for name in state.oldest_seconds}
    return {
        name: f"its oldest row has waited for {seconds:.0f} s; the limit is {limits[name]:g} s"
        for name, seconds in state.oldest_seconds.items()
        if seconds > limits[name]
    }


def _stopped_workflows(application: WebApplication, state: _State) -> dict[str, str]:
    """Return the workflows whose breaker is open or that have no job, each with a sentence."""
    found = {name: f"its breaker is not closed: {reason}" for name, reason in state.breakers.items()}
    jobs = {workflow.job_id: workflow.name for workflow in application.pipeline}
    failed = {
        jobs.get(job_id, job_id): "its job could not be registered"
        for job_id in application.runtime.failed_registrations
    }
    return {**found, **failed}


def _named(names: Iterable[str], what: str) -> str:
    return f"{what}: {', '.join(sorted(names))}" if names else ""
