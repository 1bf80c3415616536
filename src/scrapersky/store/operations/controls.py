"""SQL about the shared state of workflows: pauses, breakers, requested runs and active workers.

These tables belong to no tenant: the session is one of the engine.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict
from scrapersky.engine import admission
from scrapersky.engine.breaker import CLOSED, OPEN
from scrapersky.engine.settle import driver_connection
from scrapersky.models import Worker, WorkflowControl
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

SEEN_WITHIN = timedelta(seconds=30)  # a worker reports every five seconds; a silent one is not listed


class AlreadyPaused(Conflict):
    """The workflow is paused already."""


class NotPaused(Conflict):
    """The workflow is running: there is nothing to resume."""


class MayNotRun(Conflict):
    """The workflow claims no rows at present."""


@dataclass(frozen=True)
class Hold:
    """Why a workflow claims no rows, or only one at a time."""

    workflow: str
    state: str  # one or two words, for a table
    reason: str  # continues a sentence that begins with the name of the workflow
    until: datetime | None = None
    is_resumable: bool = True  # whether `scrapersky resume` ends it


def hold_of(control: WorkflowControl | None) -> Hold | None:
    """Return why the workflow claims no rows; None if it does."""
    if control is None:  # no host has polled it yet
        return None
    name = control.workflow
    if control.paused_at is not None:
        return Hold(name, "paused", f"was paused{_by_whom(control)}")
    if control.breaker != CLOSED:
        until = control.breaker_until if control.breaker == OPEN else None
        probe = "" if until else "; one row at a time is tried"
        reason = f"waits for its breaker, which is {control.breaker} ({control.breaker_reason}){probe}"
        return Hold(name, "breaker", reason, until)
    if control.held_by:
        return Hold(name, "held back", f"waits until the queue of {control.held_by} is shorter", is_resumable=False)
    return None


async def holds(session: AsyncSession, workflows: Iterable[str]) -> list[Hold]:
    """Return why these workflows claim no rows, in their order; those that claim rows are left out."""
    control_of = await by_workflow(session)
    return [hold for name in workflows if (hold := hold_of(control_of.get(name)))]


async def by_workflow(session: AsyncSession) -> dict[str, WorkflowControl]:
    """Return the control row of each workflow that has one."""
    rows = await session.scalars(select(WorkflowControl).execution_options(populate_existing=True))
    return {row.workflow: row for row in rows}


async def workers(session: AsyncSession) -> list[Worker]:
    """Return the active processes, oldest first."""
    return list(await session.scalars(workers_query()))


def workers_query() -> Select[Worker]:
    """Build the query of the active processes."""
    return select(Worker).where(Worker.seen_at > func.now() - SEEN_WITHIN).order_by(Worker.started_at, Worker.id)


async def has_worker(session: AsyncSession) -> bool:
    """Return whether any process works on the queues."""
    return bool(await session.scalar(select(workers_query().exists())))


async def round_trip_seconds(session: AsyncSession) -> float:
    """Return how long the database takes to answer the simplest statement."""
    await session.connection()
    started = time.perf_counter()
    await session.execute(select(literal(1)))
    return time.perf_counter() - started


async def pause(session: AsyncSession, actor: Actor, workflow: str, reason: str | None) -> None:
    """Stop claiming on every host, or raise AlreadyPaused."""
    before = await _locked(session, workflow)
    if not await admission.pause(await driver_connection(session), workflow, actor.name, reason):
        raise AlreadyPaused(f"{workflow} was paused{_by_whom(before)}. Resume it before you pause it again.")
    await audit.record(session, actor, "pause", workflow, _state(before), {"paused": True, "reason": reason})


async def resume(session: AsyncSession, actor: Actor, workflow: str) -> None:
    """Resume and close the breaker on every host, or raise NotPaused."""
    before = await _locked(session, workflow)
    if not await admission.resume(await driver_connection(session), workflow):
        raise NotPaused(f"{workflow} is neither paused nor stopped by its breaker.")
    await audit.record(session, actor, "resume", workflow, _state(before), {"paused": False, "breaker": "closed"})


async def request_run(session: AsyncSession, actor: Actor, workflow: str) -> None:
    """Request a run on every host; raise MayNotRun while the workflow is paused or its breaker open."""
    before = await _locked(session, workflow)
    if before is not None and before.paused_at is not None:
        raise MayNotRun(f"{workflow} was paused{_by_whom(before)}. Resume it first.")
    if before is not None and before.breaker == OPEN:
        raise MayNotRun(
            f"The breaker of {workflow} is open ({before.breaker_reason}) until {before.breaker_until:%H:%M:%S} UTC. "
            "Resume it to close the breaker now."
        )
    await admission.request_run(await driver_connection(session), workflow)
    await audit.record(session, actor, "run", workflow)


async def _locked(session: AsyncSession, workflow: str) -> WorkflowControl | None:
    # Statements of the engine change the row without the session: the session must not use its cached copy.
    found: WorkflowControl | None = await session.scalar(
        select(WorkflowControl)
        .where(WorkflowControl.workflow == workflow)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return found


def _by_whom(before: WorkflowControl | None) -> str:
    if before is None:
        return ""
    return f" by {before.paused_by}" + (f": {before.pause_reason}" if before.pause_reason else "")


def _state(before: WorkflowControl | None) -> dict[str, Any]:
    if before is None:
        return {"paused": False, "breaker": "closed"}
    return {"paused": before.paused_at is not None, "reason": before.pause_reason, "breaker": before.breaker}
