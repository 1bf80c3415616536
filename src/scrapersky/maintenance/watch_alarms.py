"""Alarms: finds what needs attention, logs its beginning and its end, and notifies destinations of both."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import asyncpg
import structlog
from sqlalchemy import select

from scrapersky.core.database import Database
from scrapersky.core.secrets.vault import Vault
from scrapersky.destinations.errors import NotDelivered
from scrapersky.destinations.kind import Endpoint
from scrapersky.destinations.registry import DestinationAdapters
from scrapersky.engine.maintenance import MaintenanceTask
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Tuning
from scrapersky.models import Destination
from scrapersky.store.deliveries.destinations import endpoint_of
from scrapersky.store.operations import alarms
from scrapersky.store.operations.alarms import ActiveAlarm, AlarmCondition
from scrapersky.store.shared.provider_cooldowns import FREE_FAILURES

log = structlog.get_logger(__name__)

_BREAKERS = "SELECT workflow, breaker, breaker_reason FROM workflow_control WHERE breaker <> 'closed'"
# One whose cooldown ended long ago is called by no row any more, or has got a new key.
_FAILING_PROVIDERS = """
SELECT split_part(name, ' ', 1) AS provider, reason FROM provider_cooldown
WHERE failures >= $1 AND until > now() - interval '1 hour' ORDER BY until"""
_FAILED_TASKS = "SELECT name, error FROM maintenance WHERE error IS NOT NULL"
_OPERATOR_TENANTS = "SELECT id FROM tenant WHERE is_operator AND disabled_at IS NULL"


class WatchAlarms(MaintenanceTask):
    """Raises and resolves alarms, and notifies the destinations of operator tenants that have the rule `alarms`.

    Each destination gets one message about the beginning and one about the end; a message that was not accepted is
    sent again with the same id at the next run. No connection is held meanwhile.
    """

    name = "watch_alarms"
    interval_minutes = 0.5

    def __init__(
        self, pipeline: Pipeline, tunings: dict[str, Tuning], adapters: DestinationAdapters, vault: Vault
    ) -> None:
        self._pipeline, self._tunings = pipeline, tunings
        self._adapters, self._vault = adapters, vault

    async def run_on(self, database: Database) -> str:
        """Compare the conditions with the active alarms, then notify."""
        async with database.engine_connection() as connection:
            conditions = await find_conditions(connection, self._pipeline, self._tunings)
            raised, resolved = await alarms.synchronize(connection, conditions)
            recent = await alarms.unreported(connection)
            tenants = [row["id"] for row in await connection.fetch(_OPERATOR_TENANTS)] if recent else []
        for one in raised:
            log.warning("alarm_raised", kind=one.kind, subject=one.subject, message=one.message)
        for one in resolved:
            log.info("alarm_resolved", kind=one.kind, subject=one.subject)
        endpoints = [endpoint for tenant_id in tenants for endpoint in await self._endpoints(database, tenant_id)]
        await asyncio.gather(*(self._notify(database, endpoint, recent) for endpoint in endpoints))
        return f"{len(conditions)} alarms"

    async def _endpoints(self, database: Database, tenant_id: UUID) -> list[Endpoint]:
        wanted = select(Destination).where(
            Destination.tenant_id == tenant_id,
            Destination.disabled_at.is_(None),
            Destination.rule["alarms"].as_boolean(),
        )
        async with database.session(tenant_id) as session:
            found = list(await session.scalars(wanted))
        endpoints = []
        for destination in found:
            try:
                endpoints.append(endpoint_of(destination, self._vault))
            except NotDelivered as error:  # its secret cannot be read
                log.warning("alarm_not_delivered", destination=str(destination.id), error=str(error))
        return endpoints

    async def _notify(self, database: Database, endpoint: Endpoint, recent: Sequence[ActiveAlarm]) -> None:
        """Send what the destination has not accepted yet, in order; after a failure the rest waits for the next run."""
        for alarm in recent:
            event = alarm.event_for(endpoint.destination_id)
            if event is None:
                continue
            facts = {
                "alarm_id": str(alarm.id),
                "kind": alarm.kind,
                "subject": alarm.subject,
                "message": alarm.message,
                "raised_at": alarm.raised_at.isoformat(),
                "resolved_at": alarm.resolved_at.isoformat() if alarm.resolved_at else None,
            }
            try:
                await self._adapters.notify(endpoint, f"alarm.{event}", f"alm_{alarm.id.hex}_{event}", facts)
            except NotDelivered as error:
                log.warning("alarm_not_delivered", destination=str(endpoint.destination_id), error=str(error))
                return
            async with database.engine_connection() as connection:
                await alarms.mark_reported(connection, alarm.id, event, endpoint.destination_id)


async def find_conditions(
    connection: asyncpg.Connection, pipeline: Pipeline, tunings: dict[str, Tuning]
) -> list[AlarmCondition]:
    """Return what needs attention now."""
    found = [
        AlarmCondition("breaker_open", row["workflow"], f"Its breaker is {row['breaker']}: {row['breaker_reason']}.")
        for row in await connection.fetch(_BREAKERS)
    ]
    found += [
        AlarmCondition("maintenance_failed", row["name"], row["error"])
        for row in await connection.fetch(_FAILED_TASKS)
        if row["name"] != WatchAlarms.name
    ]
    failing = {row["provider"]: row["reason"] for row in await connection.fetch(_FAILING_PROVIDERS, FREE_FAILURES)}
    found += [AlarmCondition("provider_failing", provider, reason) for provider, reason in failing.items()]
    for workflow in pipeline:
        queue, tuning = pipeline.queues[workflow.name], tunings[workflow.name]
        oldest = (await queue.measure(connection)).oldest_seconds
        if overdue := await queue.overdue(connection, tuning.lease_seconds + tuning.interval):
            found.append(AlarmCondition("rows_stuck", workflow.name, f"{overdue} rows are past their lease."))
        if oldest > tuning.oldest_age_limit_seconds:
            limit = f"the limit is {tuning.oldest_age_limit_seconds:g} s"
            found.append(
                AlarmCondition(
                    "queue_age_exceeded", workflow.name, f"A row has been ready for {oldest:.0f} s; {limit}."
                )
            )
    return found
