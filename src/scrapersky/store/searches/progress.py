"""Queries about the progress of a search, step by step: counts of rows, what they wait for, why they failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.steps import ROWS_OF_SEARCH, STEPS, LineStep, contacts_of_search

STATUSES = ("Queued", "Processing", "Completed", "Skipped", "Error")
NO_REASON = "it is scheduled for a later day: a quota of the tenant"  # the schedule of quotas stores no reason


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


def _of_each_step(query: Callable[[LineStep, str], str]) -> str:
    """Join a query for each step; it gets the step and the FROM clause of the search's rows that have entered it."""
    return " UNION ALL ".join(query(step, f"{rows_of(step)} AND t.{step.queue}_status <> 'New'") for step in STEPS)


def _counts(step: LineStep, rows: str) -> str:
    counts = ", ".join(f"count(*) FILTER (WHERE t.{step.queue}_status = '{status}')" for status in STATUSES)
    return f"SELECT '{step.workflow}' AS workflow, {counts} FROM {rows}"  # noqa: S608 - our own names


def _waiting(step: LineStep, rows: str) -> str:
    due, reason = f"t.{step.queue}_due_at", f"t.{step.queue}_error"
    return (
        f"SELECT '{step.workflow}' AS workflow, count(*) AS rows, min({due}) AS until, "  # noqa: S608 - our own names
        f"greatest(0, extract(epoch FROM min({due}) - now())) AS seconds, "
        f"(array_agg({reason} ORDER BY {due}))[1] AS reason "
        f"FROM {rows} AND t.{step.queue}_status = 'Queued' AND {due} > now() HAVING count(*) > 0"
    )


# Host names and numbers differ from row to row; HTTP status codes and names of well-known files are part of a reason.
_SITE = (
    r"https?://[^[:space:]]*[^[:space:].,;:)]"
    r"|\m(?!robots[.]txt\M|sitemap[^[:space:]]*[.]xml\M)[[:alnum:]@_-]+([.][[:alnum:]@_-]+)*[.]([a-z]{2,}|[0-9]+)(:[0-9]+)?\M"
)
_NUMBER = r"\m(?![345][0-9][0-9]\M(?! (s|ms|seconds|minutes|bytes|KB|MB)\M))[0-9]+([.,][0-9]+)*"


def _left_behind(step: LineStep, rows: str) -> str:
    status, message = f"t.{step.queue}_status", f"coalesce(t.{step.queue}_error, '')"
    reason = f"regexp_replace(regexp_replace({message}, '{_SITE}', 'a site', 'gi'), '{_NUMBER}', '…', 'g')"
    return (
        f"SELECT '{step.workflow}' AS workflow, {status} AS status, {reason} AS reason, {message} AS message "  # noqa: S608
        f"FROM {rows} AND {status} IN ('Skipped', 'Error', 'Queued') "  # a list, which an index can look up
        f"AND ({status} <> 'Queued' OR t.{step.queue}_error IS NOT NULL)"
    )


_PROGRESS = text(_of_each_step(_counts))
_WAITS = text(f"{_of_each_step(_waiting)} ORDER BY until")
_REASONS = text(
    "SELECT workflow, status, CASE WHEN min(message) = max(message) THEN min(message) ELSE reason END AS reason, "  # noqa: S608
    f"count(*) AS rows FROM ({_of_each_step(_left_behind)}) r "
    "GROUP BY workflow, status, r.reason ORDER BY workflow <> 'place_search', 4 DESC, 1, 3 LIMIT :limit"
)
