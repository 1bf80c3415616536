"""Periodic maintenance tasks, declared like workflows: each runs on one host at a time."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import asyncpg
import structlog

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Tuning

log = structlog.get_logger(__name__)


class MaintenanceTask(ABC):
    """A task that one host runs once per interval; its return value is stored as the result of its last run."""

    name: ClassVar[str]
    interval_minutes: ClassVar[float]

    @property
    def job_id(self) -> str:
        """The id of the scheduler's job."""
        return f"maintain_{self.name}"

    @property
    def job_name(self) -> str:
        """The name of the scheduler's job."""
        return f"Maintenance - {self.name.replace('_', ' ').title()}"

    @abstractmethod
    async def run_on(self, database: Database) -> str:
        """Do the task and return a short summary."""


class Periodic(MaintenanceTask):
    """A task of a few statements on one connection."""

    async def run_on(self, database: Database) -> str:
        """Run the task on one connection."""
        async with database.engine_connection() as connection:
            return await self.run(connection)

    @abstractmethod
    async def run(self, connection: asyncpg.Connection) -> str:
        """Do the task and return a short summary."""


async def run_periodic(task: MaintenanceTask, database: Database) -> bool:
    """Run the task unless a host ran it within its interval. Return whether it ran."""
    async with database.engine_connection() as connection:
        if not await connection.fetchval(_TAKE, task.name, task.interval_minutes * 60):
            return False
    started = time.monotonic()
    # Behind a transaction pooler a connection is one transaction: the record of this run must survive a failing task.
    try:
        result = await task.run_on(database)
    except Exception as error:
        async with database.engine_connection() as connection:
            await connection.execute(_FAILED, task.name, f"{type(error).__name__}: {error}"[:1024])
        raise
    async with database.engine_connection() as connection:
        await connection.execute(_DONE, task.name, time.monotonic() - started, result)
    return True


async def retention_days(connection: asyncpg.Connection, name: str) -> int:
    """Return after how many days rows of this kind are deleted: a setting of the database, the same for all hosts."""
    return int(await connection.fetchval("SELECT days FROM retention WHERE name = $1", name))


class PruneRuns(Periodic):
    """Deletes run history after the retention of the database."""

    name = "prune_runs"
    interval_minutes = 60

    async def run(self, connection: asyncpg.Connection) -> str:
        """Delete in chunks, so that no lock is held for long."""
        pruned, days = 0, await retention_days(connection, "runs")
        while count := int((await connection.execute(_PRUNE_RUNS, days)).split()[-1]):
            pruned += count
        return f"{pruned} runs older than {days} days removed"


class PruneWorkers(Periodic):
    """Deletes the rows of worker processes that were killed. A frozen one that continues inserts its row again."""

    name = "prune_workers"
    interval_minutes = 1

    async def run(self, connection: asyncpg.Connection) -> str:
        """Delete workers without a heartbeat for five minutes."""
        deleted = await connection.execute("DELETE FROM worker WHERE seen_at < now() - interval '5 minutes'")
        return f"{deleted.split()[-1]} workers removed"


class Statistics(Periodic):
    """Measures the depth of every queue, also when no loop runs."""

    name = "statistics"
    interval_minutes = 0.25

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def run(self, connection: asyncpg.Connection) -> str:
        """Store the depth of every queue."""
        for workflow in self._pipeline:
            measures = await self._pipeline.queues[workflow.name].measure(connection)
            await connection.execute(_DEPTH, workflow.name, measures.ready)
        return f"{len(self._pipeline)} queues measured"


def standard_maintenance(pipeline: Pipeline, tunings: dict[str, Tuning], settings: Settings) -> Sequence[Periodic]:
    """Return the engine's own periodic tasks."""
    return [PruneRuns(), PruneWorkers(), Statistics(pipeline)]


# Ten percent early counts as on time: hosts start at different moments.
_TAKE = """
INSERT INTO maintenance AS m (name, ran_at) VALUES ($1, now())
ON CONFLICT (name) DO UPDATE SET ran_at = now(), error = NULL
WHERE m.ran_at IS NULL OR m.ran_at <= now() - $2::float8 * 0.9 * interval '1 second' RETURNING true"""
_DONE = "UPDATE maintenance SET seconds = $2, result = $3 WHERE name = $1"
_FAILED = "UPDATE maintenance SET error = $2 WHERE name = $1"
_DEPTH = """
INSERT INTO workflow_control AS c (workflow, depth, measured_at) VALUES ($1, $2, now())
ON CONFLICT (workflow) DO UPDATE SET depth = $2, measured_at = now()"""
_PRUNE_RUNS = """
DELETE FROM run WHERE id IN (
    SELECT id FROM run WHERE started_at < now() - $1::int * interval '1 day' ORDER BY started_at LIMIT 5000)"""
