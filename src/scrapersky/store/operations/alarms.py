"""SQL about alarms: which are active, and which destinations were notified. The connection is one of the engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

import asyncpg

from scrapersky.core.uuid7 import new_id
from scrapersky.store.operations.controls import SEEN_WITHIN

KEPT_DAYS = 30
# Kinds of alarms: those that stop a step come before those that slow it down.
WORST_FIRST = ("breaker_open", "provider_failing", "rows_stuck", "maintenance_failed", "queue_age_exceeded")

AlarmEvent = Literal["raised", "resolved"]


class AlarmCondition(NamedTuple):
    """Something that needs attention now."""

    kind: str
    subject: str
    message: str


@dataclass(frozen=True)
class ActiveAlarm:
    """An alarm that is active, or ended within the last day."""

    id: UUID
    kind: str
    subject: str
    message: str
    raised_at: datetime
    resolved_at: datetime | None
    raised_to: Sequence[UUID]
    resolved_to: Sequence[UUID]

    def event_for(self, destination_id: UUID) -> AlarmEvent | None:
        """Return what the destination has to be notified of; an ended alarm only if it knows of the beginning."""
        if self.resolved_at is None:
            return None if destination_id in self.raised_to else "raised"
        is_known = destination_id in self.raised_to and destination_id not in self.resolved_to
        return "resolved" if is_known else None


async def synchronize(
    connection: asyncpg.Connection, conditions: Sequence[AlarmCondition]
) -> tuple[list[AlarmCondition], list[AlarmCondition]]:
    """Raise an alarm for each new condition and resolve those that ended; return both. Old ones are deleted."""
    columns = [list(column) for column in zip(*conditions, strict=True)] or [[], [], []]
    async with connection.transaction():
        raised = await connection.fetch(_RAISE, [new_id() for _ in conditions], *columns)
        resolved = await connection.fetch(_RESOLVE, *columns[:2])
        await connection.execute(_PRUNE, KEPT_DAYS)
    return [AlarmCondition(*row) for row in raised], [AlarmCondition(*row) for row in resolved]


async def unreported(connection: asyncpg.Connection) -> list[ActiveAlarm]:
    """Return the alarms that destinations may have to be notified of, the oldest first."""
    return [ActiveAlarm(*row) for row in await connection.fetch(_RECENT)]


async def active(connection: asyncpg.Connection) -> list[ActiveAlarm]:
    """Return the alarms that have not ended, the worst first; also that of a missing worker, which no worker raises."""
    found = [*await connection.fetch(_NO_WORKER, SEEN_WITHIN), *await connection.fetch(_ACTIVE, WORST_FIRST)]
    return [ActiveAlarm(*row) for row in found]


async def mark_reported(
    connection: asyncpg.Connection, alarm_id: UUID, event: AlarmEvent, destination_id: UUID
) -> None:
    """Note that the destination has accepted the message."""
    await connection.execute(_RAISED_TO if event == "raised" else _RESOLVED_TO, alarm_id, destination_id)


_RAISE = """
INSERT INTO alarm (id, kind, subject, message)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
ON CONFLICT (kind, subject) WHERE resolved_at IS NULL DO NOTHING RETURNING kind, subject, message"""
_RESOLVE = """
UPDATE alarm SET resolved_at = now() WHERE resolved_at IS NULL AND NOT EXISTS (
    SELECT FROM unnest($1::text[], $2::text[]) AS now (kind, subject)
    WHERE (now.kind, now.subject) = (alarm.kind, alarm.subject))
RETURNING kind, subject, message"""
_PRUNE = "DELETE FROM alarm WHERE resolved_at < now() - $1::int * interval '1 day'"
_RECENT = """
SELECT id, kind, subject, message, raised_at, resolved_at, raised_to, resolved_to FROM alarm
WHERE resolved_at IS NULL OR resolved_at > now() - interval '1 day' ORDER BY raised_at, id LIMIT 1000"""
_ACTIVE = """
SELECT id, kind, subject, message, raised_at, resolved_at, raised_to, resolved_to FROM alarm
WHERE resolved_at IS NULL ORDER BY array_position($1::text[], kind), raised_at, id LIMIT 1000"""
_NO_WORKER = """
SELECT gen_random_uuid(), 'no_worker', '', 'No worker runs.',
    coalesce((SELECT max(seen_at) FROM worker), (SELECT max(started_at) FROM run), now()), NULL, '{}', '{}'
WHERE NOT EXISTS (SELECT FROM worker WHERE seen_at > now() - $1::interval)"""
_RAISED_TO = "UPDATE alarm SET raised_to = raised_to || $2::uuid WHERE id = $1"
_RESOLVED_TO = "UPDATE alarm SET resolved_to = resolved_to || $2::uuid WHERE id = $1"
