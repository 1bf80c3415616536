"""What a person was shown when choosing all matching rows: an action changes no other rows, and not more of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, false, func, literal, literal_column, not_, or_, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import Conflict
from scrapersky.core.vocabularies import Status
from scrapersky.store.listing.paginate import Count, Filters, matching_unmerged
from scrapersky.store.listing.resources import Resource

MAX_COUNTED = 1_000_000  # a preview counts up to this number
TOLERATED_ROWS, TOLERATED_SHARE = 10, 0.02  # by which the number of rows may have changed since it was shown


class CountChanged(Conflict):
    """Other rows match the filter than when it was shown."""

    def __init__(self, message: str, members: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.members = members


@dataclass(frozen=True)
class Shown:
    """The rows as they were shown: when, how many, and the rows that the person took out."""

    as_of: datetime | None = None
    expected: int | None = None  # without the rows that were taken out
    excluded: tuple[UUID, ...] = field(default=())

    def check(self, matched: int) -> None:
        """Compare the number of rows with the one that was shown. Raises CountChanged."""
        if self.expected is None:
            return
        if abs(matched - self.expected) > max(TOLERATED_ROWS, self.expected * TOLERATED_SHARE):
            raise CountChanged(
                f"{matched:,} rows match now, {self.expected:,} were shown. Look at them again.",
                {"matched": matched, "expected": self.expected},
            )


@dataclass(frozen=True)
class Effects:
    """What a decision would do to rows: how many there are, and those that it would queue or withdraw."""

    matched: int
    queued: Mapping[str, int]  # by workflow, if they become Selected
    withdrawn: int  # if they get any other decision


def matching_shown(
    wanted: Select[Any], resource: Resource, tenant_id: UUID, filters: Filters, shown: Shown
) -> Select[Any]:
    """Limit a query to matching rows that existed when they were shown and were not taken out."""
    wanted = matching_unmerged(wanted, resource, tenant_id, filters)
    if shown.as_of is not None:
        wanted = wanted.where(resource.model.created_at <= shown.as_of)
    if shown.excluded:
        wanted = wanted.where(resource.model.id.not_in(shown.excluded))
    return wanted


async def count(
    session: AsyncSession, resource: Resource, tenant_id: UUID, filters: Filters, shown: Shown, cap: int = MAX_COUNTED
) -> Count:
    """Count the rows, up to the cap."""
    rows = matching_shown(select(resource.model.id), resource, tenant_id, filters, shown).limit(cap + 1).subquery()
    found = int(await session.scalar(select(func.count()).select_from(rows)) or 0)
    return Count(min(found, cap), found > cap)


async def ids(
    session: AsyncSession, resource: Resource, tenant_id: UUID, filters: Filters, shown: Shown, limit: int
) -> list[UUID] | None:
    """Return the ids of the rows; None if there are more than the limit. Raises CountChanged.

    There are never more ids than were shown: rows that match only since then have changed last, and are left out.
    """
    model = resource.model
    rows = matching_shown(select(model.id), resource, tenant_id, filters, shown)
    if shown.expected is not None:
        rows = rows.order_by(model.updated_at, model.id)
    found = list(await session.scalars(rows.limit(limit + 1)))
    if len(found) > limit:
        return None
    shown.check(len(found))
    return found[: shown.expected]


async def effects(
    session: AsyncSession, resource: Resource, tenant_id: UUID, filters: Filters, shown: Shown
) -> Effects:
    """Count what a decision would do to the rows, as actions.curation does it; up to MAX_COUNTED rows."""
    statuses = {step.workflow: getattr(resource.model, f"{step.queue}_status") for step in resource.steps}
    columns: list[Any] = [status.label(workflow) for workflow, status in statuses.items()]
    columns += [
        literal_column(step.needed.format(row=step.table)).label(f"{step.workflow}_is_needed")
        for step in resource.steps
    ]
    is_shown = literal(True) if resource.shown_as is None else resource.shown_as.is_(None)
    wanted = select(resource.model.id, is_shown.label("is_shown"), *columns)
    matched_rows = matching_shown(wanted, resource, tenant_id, filters, shown).limit(MAX_COUNTED)
    rows: Any = matched_rows.subquery()
    if resource.shown_as is not None:  # the other records of a business have work of their own
        found = matched_rows.cte("matched")
        others = wanted.join(found, resource.shown_as == found.c.id)
        rows = union_all(select(found), others).subquery()
    counts: list[ColumnElement[int]] = [func.count().filter(rows.c.is_shown)]
    before: list[ColumnElement[bool]] = []
    for workflow in statuses:
        is_needed = rows.c[f"{workflow}_is_needed"]
        is_idle = rows.c[workflow].not_in((Status.COMPLETED, Status.QUEUED, Status.PROCESSING))
        counts.append(func.count().filter(and_(*before, is_idle, is_needed)))
        before.append(or_(rows.c[workflow] == Status.COMPLETED, and_(is_idle, not_(is_needed))))
    counts.append(func.count().filter(or_(false(), *(rows.c[workflow] == Status.QUEUED for workflow in statuses))))
    matched, *queued, withdrawn = (await session.execute(select(*counts).select_from(rows))).one()
    return Effects(matched, dict(zip(statuses, queued, strict=True)), withdrawn)
