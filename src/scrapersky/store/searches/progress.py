"""Queries about the progress of a search, step by step: counts of rows, what they wait for, why they failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.left_behind import NO_REASON, is_left_behind, reason_of, without_names
from scrapersky.store.steps import LISTED_OF_SEARCH, ROWS_OF_SEARCH, STEPS, LineStep, contacts_of_search

STATUSES = ("Queued", "Processing", "Completed", "Skipped", "Error")

MIN_SHARE = 0.05  # of the rows of a search: before, its pace says little
MAX_PREDICTED = timedelta(hours=6)  # the pace of an older search says little


@dataclass(frozen=True)
class StepCount:
    """How many rows of a search have which status in one step."""

    workflow: str
    waiting: int
    working: int
    completed: int
    skipped: int
    failed: int

    @property
    def open(self) -> int:
        """Rows that the step has not finished."""
        return self.waiting + self.working

    @property
    def settled(self) -> int:
        """Rows that the step has finished."""
        return self.completed + self.skipped + self.failed


@dataclass(frozen=True)
class Wait:
    """The rows of a step that are queued for a later time: their number, the earliest time, and its reason."""

    workflow: str
    rows: int
    until: datetime
    seconds: float
    reason: str


class StepReason(NamedTuple):
    """Why rows of a step were skipped, failed or postponed."""

    step: str
    status: str
    reason: str
    rows: int
    until: datetime | None = None  # the earliest time at which a postponed row is tried again


NOT_COUNTED = [StepCount(step.workflow, 0, 0, 0, 0, 0) for step in STEPS]


async def progress(session: AsyncSession, search_id: UUID) -> list[StepCount]:
    """Count the search's rows in each step, in the order of the line."""
    return [StepCount(*row) for row in await session.execute(_PROGRESS, {"search": search_id})]


async def waits(session: AsyncSession, search_id: UUID) -> list[Wait]:
    """Return what each step waits for, the earliest first."""
    found = await session.execute(_WAITS, {"search": search_id})
    return [Wait(row.workflow, row.rows, row.until, float(row.seconds), row.reason or NO_REASON) for row in found]


async def top_reasons(session: AsyncSession, search_id: UUID, limit: int = 8) -> list[StepReason]:
    """Return why rows of the search were skipped, failed or postponed, the most frequent reasons first.

    Those of searches come before all others: what a campaign could not search for is missing as a whole.
    Reasons that differ in host names and numbers only are counted as one.
    """
    return [StepReason(*row) for row in await session.execute(_REASONS, {"search": search_id, "limit": limit})]


def is_done(steps: Sequence[StepCount]) -> bool:
    """Return whether no step has anything left to do for the search."""
    return not any(step.open for step in steps)


def seconds_left(
    begun_at: datetime, counted_at: datetime, share_done: float, until: Sequence[datetime]
) -> float | None:
    """Return about how long a search still takes at its pace so far, and not less than what it waits for.

    None if that cannot be said: nothing is left, little is done, or it began long ago.
    """
    passed = counted_at - begun_at
    if share_done >= 1 or share_done < MIN_SHARE or passed > MAX_PREDICTED:
        return None
    waits = [(moment - counted_at).total_seconds() for moment in until]
    return max(passed.total_seconds() * (1 - share_done) / share_done, *waits, 1.0)


def as_json(steps: Sequence[StepCount]) -> dict[str, Any]:
    """Return the counts by step, as JSON."""
    return {step.workflow: {key: value for key, value in vars(step).items() if key != "workflow"} for step in steps}


def rows_of(step: LineStep) -> str:
    """Build the FROM clause of a step's rows of the search, named `t`, up to further conditions.

    Contacts are read by their domains and businesses: by their ids they would be read twice. Those that were merged
    into others count as one with them.
    """
    if step.table == "contact":
        return f"({contacts_of_search('c.*')}) t WHERE t.merged_into_id IS NULL"
    return f"{step.table} t WHERE {ROWS_OF_SEARCH[step.table].found.format(row='t')}"


def listed_rows_of(step: LineStep) -> str:
    """Build the FROM clause of a step's rows as lists show them, named `t`: a business once, whatever its records."""
    if step.table != "local_business":
        return rows_of(step)
    return f"local_business t WHERE t.same_as_id IS NULL AND {LISTED_OF_SEARCH[step.table].found.format(row='t')}"


def _of_each_step(query: Callable[[LineStep], str]) -> str:
    return " UNION ALL ".join(query(step) for step in STEPS)


def _entered(step: LineStep, rows: str) -> str:
    """Limit the FROM clause to rows that have entered the step."""
    return f"{rows} AND t.{step.queue}_status <> 'New'"


def _counts(step: LineStep) -> str:
    """Count the rows by status: the work that is left in all records, the rest as lists show it."""
    of = {status: f"count(*) FILTER (WHERE t.{step.queue}_status = '{status}') AS {status}" for status in STATUSES}
    rows, listed = _entered(step, rows_of(step)), _entered(step, listed_rows_of(step))
    if rows == listed:
        return f"SELECT '{step.workflow}' AS workflow, {', '.join(of.values())} FROM {rows}"  # noqa: S608 - our own names
    left, settled = (", ".join(of[status] for status in part) for part in (STATUSES[:2], STATUSES[2:]))
    return (
        f"SELECT '{step.workflow}' AS workflow, l.*, s.* FROM (SELECT {left} FROM {rows}) l, "  # noqa: S608
        f"(SELECT {settled} FROM {listed}) s"
    )


def _waiting(step: LineStep) -> str:
    due, reason = f"t.{step.queue}_due_at", f"t.{step.queue}_error"
    return (
        f"SELECT '{step.workflow}' AS workflow, count(*) AS rows, min({due}) AS until, "  # noqa: S608 - our own names
        f"greatest(0, extract(epoch FROM min({due}) - now())) AS seconds, "
        f"(array_agg({reason} ORDER BY {due}))[1] AS reason "
        f"FROM {rows_of(step)} AND t.{step.queue}_status = 'Queued' AND {due} > now() HAVING count(*) > 0"
    )


def _left_behind(step: LineStep) -> str:
    message = reason_of(step.queue, "t")
    return (
        f"SELECT '{step.workflow}' AS workflow, t.{step.queue}_status AS status, {without_names(message)} AS reason, "  # noqa: S608
        f"{message} AS message, CASE WHEN t.{step.queue}_status = 'Queued' THEN t.{step.queue}_due_at END AS due "
        f"FROM {_entered(step, listed_rows_of(step))} AND {is_left_behind(step.queue, 't')}"
    )


_PROGRESS = text(_of_each_step(_counts))
_WAITS = text(f"{_of_each_step(_waiting)} ORDER BY until")
_REASONS = text(
    "SELECT workflow, status, CASE WHEN min(message) = max(message) THEN min(message) ELSE reason END AS reason, "  # noqa: S608
    f"count(*) AS rows, min(due) AS until FROM ({_of_each_step(_left_behind)}) r "
    "GROUP BY workflow, status, r.reason ORDER BY workflow <> 'place_search', 4 DESC, 1, 3 LIMIT :limit"
)
