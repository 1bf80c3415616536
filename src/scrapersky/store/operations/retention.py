"""SQL about retention: after how many days rows are deleted, one setting of the database for all hosts."""

from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import BadRequest
from scrapersky.models import Retention
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor

MAX_DAYS = 36_500


class BadRetention(BadRequest):
    """The retention cannot be set."""


@dataclass(frozen=True)
class Retained:
    """A kind of rows that is deleted after some days: the days of a new database, the fewest, and what it is."""

    default_days: int
    min_days: int  # 0: may be kept for ever
    meaning: str


RETAINED = {
    "contacts": Retained(0, 0, "contacts that no page, file or user has confirmed since; 0 keeps them"),
    "audit": Retained(365, 1, "the audit log"),
    "jobs": Retained(30, 1, "finished jobs"),
    "runs": Retained(30, 1, "the run history"),
}


async def days_of_all(session: AsyncSession) -> dict[str, int]:
    """Return the days of every kind of rows, in the order of RETAINED."""
    stored = {row.name: row.days for row in await session.execute(select(Retention.name, Retention.days))}
    return {name: stored[name] for name in RETAINED}


async def change(session: AsyncSession, actor: Actor, name: str, days: int) -> None:
    """Set the days after which rows of a kind are deleted, in a session of the engine. Raises BadRetention."""
    kind = RETAINED.get(name)
    if kind is None:
        raise BadRetention(f"{name} is not kept for a limited time. Name one of {', '.join(RETAINED)}.")
    if not kind.min_days <= days <= MAX_DAYS:
        raise BadRetention(f"{days} days of {name}: give a number from {kind.min_days} to {MAX_DAYS}.")
    before = await session.scalar(select(Retention.days).where(Retention.name == name).with_for_update())
    await session.execute(_SET, {"name": name, "days": days})
    await audit.record(session, actor, "change", f"retention {name}", {"days": before}, {"days": days})


_SET = text("UPDATE retention SET days = :days, changed_at = now() WHERE name = :name")
