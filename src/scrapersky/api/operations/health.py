"""Whether this process lives, whether it can do its work, and its numbers for Prometheus."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

import structlog
from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError as PoolTimeout

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import OPERATOR, public, requires
from scrapersky.core.database import is_connection_error
from scrapersky.engine.breaker import CLOSED
from scrapersky.engine.queue import QueueMetrics
from scrapersky.engine.settle import driver_connection
from scrapersky.store.money import spending
from scrapersky.store.money.spending import Spent
from scrapersky.store.operations import controls, queue_rows

log = structlog.get_logger(__name__)

router = APIRouter(tags=["health"])

PROBE_SECONDS = 2.0  # a probe must be answered sooner than a person gives up
SCRAPE_SECONDS = 8.0  # Prometheus gives up after ten

NOT_READY = "The database, the schema or the scheduler does not do."

Found = TypeVar("Found")


class Liveness(BaseModel):
    """The loop turns."""

    status: Literal["alive"] = "alive"


class HealthCheck(BaseModel):
    """One thing that was looked at."""

    ok: bool
    detail: str = Field(description="what was found, in words")


class Readiness(BaseModel):
    """`ready`; `degraded`: it works, but somebody should look; `unready`: it cannot work now (status 503)."""

    status: Literal["ready", "degraded", "unready"]
    checks: dict[str, HealthCheck] = Field(description="database, schema, scheduler, queues and workflows")
    degraded_workflows: dict[str, str] = Field(description="workflows that need a look, and why")


class ReadinessStatus(BaseModel):
    """Enough for a load balancer; `/health/details` tells the rest to those who run the house."""

    status: Literal["ready", "degraded", "unready"]


class _Seen(BaseModel):
    revision: str | None
    oldest_seconds: dict[str, float]
    breakers: dict[str, str]


@router.get("/health/live", summary="Whether the process lives", operation_id="health_live", openapi_extra=public())
async def live() -> Liveness:
    """Always 200 while the process answers at all. Restart it when it does not."""
    return Liveness()


@router.get(
    "/health/ready",
    summary="Whether the process can do its work",
    operation_id="health_ready",
    responses={503: {"model": ReadinessStatus, "description": NOT_READY}},
    openapi_extra=public(),
)
async def ready(application: CurrentApplication, response: Response) -> ReadinessStatus:
    """In one word: 200 if it is ready or degraded, 503 if not. Strangers learn no more."""
    return ReadinessStatus(status=(await details(application, response)).status)


@router.get(
    "/health/details",
    summary="What is well and what is not",
    operation_id="health_details",
    responses={503: {"model": Readiness, "description": NOT_READY}},
    openapi_extra=requires(OPERATOR, operators=True, scraper=True),
)
async def details(application: CurrentApplication, response: Response) -> Readiness:
    """Looks at the database, its schema, the scheduler, the age of the queues and the workflows, within two seconds.

    Old queues, open breakers and jobs that could not be registered are named and make it `degraded`, not `unready`:
    taking the process away would not help them.
    """
    seen, why = await _look(_ask(application), PROBE_SECONDS)
    checks = {
        "database": HealthCheck(ok=seen is not None, detail=why),
        "schema": _schema(application, seen),
        "scheduler": _scheduler(application),
    }
    degraded = _degraded(application, seen) if seen else {}
    if seen:
        old = {name for name, reason in degraded.items() if reason.startswith("its oldest row")}
        checks["queues"] = HealthCheck(ok=not old, detail=_named(old, "too old") or "none is older than its limit")
        ill = degraded.keys() - old
        checks["workflows"] = HealthCheck(ok=not ill, detail=_named(ill, "needing a look") or "all go")
    unready = not all(checks[name].ok for name in ("database", "schema", "scheduler"))
    response.status_code = 503 if unready else 200
    status: Literal["ready", "degraded", "unready"] = "unready" if unready else "degraded" if degraded else "ready"
    return Readiness(status=status, checks=checks, degraded_workflows=degraded)


@router.get(
    "/metrics",
    summary="The numbers of this process for Prometheus",
    operation_id="metrics",
    response_class=Response,
    openapi_extra=requires(OPERATOR, operators=True, scraper=True),
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(application: CurrentApplication) -> Response:
    """Counters of this process and the depth of every queue; without the database only the counters."""
    measured, why = await _look(_measure(application), SCRAPE_SECONDS)
    if measured is None:
        log.warning("queue_metrics_unavailable", error=why)
        application.metrics.clear_measurements()
    return Response(application.metrics.render(*(measured or ({}, {}, []))), media_type=CONTENT_TYPE_LATEST)


async def _look(question: Coroutine[Any, Any, Found], seconds: float) -> tuple[Found | None, str]:
    try:
        return await _within(seconds, question), "it answers"
    except TimeoutError:
        return None, f"it did not answer within {seconds:g} seconds"
    except Exception as error:
        if not (is_connection_error(error) or isinstance(error, PoolTimeout)):
            raise
        return None, "it is away"


async def _ask(application: WebApplication) -> _Seen:
    """Few short questions, none of which counts rows: a deep queue must not look like a lost database."""
    async with application.database.engine_session() as session:
        revision = await session.scalar(text("SELECT version_num FROM alembic_version"))
        control_of = await controls.by_workflow(session)
        oldest = {
            workflow.name: await queue_rows.oldest_seconds(session, workflow) for workflow in application.pipeline
        }
    breakers = {name: row.breaker_reason or "" for name, row in control_of.items() if row.breaker != CLOSED}
    return _Seen(revision=revision, oldest_seconds=oldest, breakers=breakers)


async def _measure(
    application: WebApplication,
) -> tuple[dict[str, QueueMetrics], dict[str, tuple[str, bool]], list[Spent]]:
    async with application.database.engine_session() as session:
        spent = await spending.this_month(session)
        control_of, driver = await controls.by_workflow(session), await driver_connection(session)
        measures = {name: await queue.measure(driver) for name, queue in application.pipeline.queues.items()}
    untouched = (CLOSED, False)
    states = {name: (row.breaker, row.paused_at is not None) for name, row in control_of.items() if name in measures}
    return measures, {**dict.fromkeys(measures, untouched), **states}, spent


async def _within(seconds: float, question: Coroutine[Any, Any, Found]) -> Found:
    """The answer, or TimeoutError. A question that cannot even be called off at once is left behind."""
    task = asyncio.create_task(question)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        return task.result()
    task.add_done_callback(lambda late: late.cancelled() or late.exception())
    task.cancel()
    raise TimeoutError


def _schema(application: WebApplication, seen: _Seen | None) -> HealthCheck:
    if seen is None:
        return HealthCheck(ok=False, detail="unknown while the database is away")
    if seen.revision != application.revision:
        return HealthCheck(
            ok=False, detail=f"it is at {seen.revision}; this process was started on {application.revision}"
        )
    return HealthCheck(ok=True, detail=application.revision)


def _scheduler(application: WebApplication) -> HealthCheck:
    if not application.runs_engine:
        return HealthCheck(ok=True, detail="not run by this process")
    alive = application.runtime.is_alive
    return HealthCheck(
        ok=alive, detail="it runs" if alive else "it does not run, or has not looked at the queues lately"
    )


def _degraded(application: WebApplication, seen: _Seen) -> dict[str, str]:
    found = {name: f"its breaker is not closed: {reason}" for name, reason in seen.breakers.items()}
    for name, seconds in seen.oldest_seconds.items():
        limit = application.tunings[name].oldest_age_limit_seconds
        if seconds > limit:
            found[name] = f"its oldest row waits for {seconds:.0f} s; the limit is {limit:g} s"
    jobs = {workflow.job_id: workflow.name for workflow in application.pipeline}
    failed = {
        jobs.get(job_id, job_id): "its job could not be registered"
        for job_id in application.runtime.failed_registrations
    }
    return {**found, **failed}


def _named(names: set[str], what: str) -> str:
    return f"{what}: {', '.join(sorted(names))}" if names else ""
