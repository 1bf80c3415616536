"""Settling rows: fence, write, queue the next step, claim again, in one transaction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import asyncpg
import structlog
from sqlalchemy import Uuid, any_, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.database import ACT_AS_ENGINE, ACT_AS_TENANT, CONNECTION_ERRORS, is_connection_error
from scrapersky.engine.outcomes import COMPLETED, Outcome, OutcomeKind, WriteFailed, outcome_of
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.queue import ClaimResult, Settlement
from scrapersky.engine.workflow import Claimed, Produced

log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Claim:
    """A row whose lease this process holds."""

    row: Claimed
    renewed_at: float
    started_at: float | None = None
    runner: Any = None
    lost: bool = False
    is_late: bool = False  # whether its timeout has passed
    settling: bool = False
    outcome: Outcome | None = None
    found: Any = None
    row_id: UUID = field(init=False)
    attempts: int = field(init=False)
    tries: int = field(init=False)
    tenant_id: UUID = field(init=False)

    def __post_init__(self) -> None:
        self.row_id, self.attempts, self.tenant_id = self.row["id"], self.row["attempts"], self.row["tenant_id"]
        self.tries = self.attempts - self.row["allowance"]

    @property
    def settlement(self) -> Settlement:
        """The row with its attempt and outcome."""
        if self.outcome is None:
            raise TypeError("A row without an outcome cannot be settled.")
        return Settlement(self.row_id, self.attempts, self.outcome)


async def settle_and_claim(
    processor: QueueProcessor, done: Sequence[Claim], count: int, renotify: bool = False
) -> ClaimResult:
    """Settle finished rows and claim up to `count` more. A failing write affects only its own row."""
    try:
        if processor.workflow.writes and any(claim.outcome is COMPLETED for claim in done):
            return await _write_and_claim(processor, done, count)
        async with processor.database.engine_connection() as connection:
            settlements = [claim.settlement for claim in done]
            lease, options = processor.tuning.lease_seconds, {**processor.claim_options, "renotify": renotify}
            return await processor.queue.settle_and_claim(connection, settlements, count, lease, **options)
    except Exception as error:
        if is_connection_error(error) or not done:
            raise
        return await _one_by_one(processor, done, error)


async def _write_and_claim(processor: QueueProcessor, done: Sequence[Claim], count: int) -> ClaimResult:
    async with processor.database.engine_session() as session:
        await session.execute(text(ACT_AS_ENGINE))  # opens the transaction before the driver connection is used
        driver = await driver_connection(session)
        lost = await processor.queue.settle(driver, [claim.settlement for claim in done])
        gone = set(lost)
        await _write(
            processor, session, [claim for claim in done if claim.outcome is COMPLETED and claim.row_id not in gone]
        )
        await driver.execute(ACT_AS_ENGINE)
        lease, options = processor.tuning.lease_seconds, processor.claim_options
        claimed = await processor.queue.claim(driver, count, lease, **options) if count else []
        # The claim turned off waiting for the disk; the results in this transaction need it.
        await driver.execute("SET LOCAL synchronous_commit = on")
    return ClaimResult(claimed, lost)


async def _write(processor: QueueProcessor, session: AsyncSession, completed: Sequence[Claim]) -> None:
    """Let the workflow write its results, one tenant at a time and as that tenant; queue the next step's rows."""
    by_tenant: dict[UUID, list[Claim]] = defaultdict(list)
    for claim in completed:
        by_tenant[claim.tenant_id].append(claim)
    workflow, driver = processor.workflow, await driver_connection(session)
    for tenant_id, group in sorted(by_tenant.items()):  # one order on all hosts: no deadlock over quotas
        await driver.execute(ACT_AS_TENANT, str(tenant_id))
        # One array, not one parameter per row: the statement stays the same, and with it its plan.
        ids = bindparam("ids", [claim.row_id for claim in group], ARRAY(Uuid()))
        rows = await session.scalars(select(workflow.model).where(workflow.model.id == any_(ids)))
        found = {claim.row_id: claim.found for claim in group}
        in_order = {row.id: row for row in rows}
        pairs = [(in_order[claim.row_id], found[claim.row_id]) for claim in group if claim.row_id in in_order]
        try:
            written = await workflow.write_batch(session, pairs)
            await session.flush()
        except OSError as error:
            if await _is_connected(driver):  # a missing file and a lost connection raise the same type
                raise WriteFailed(f"{type(error).__name__}: {error}") from error
            raise
        await _feed(processor, driver, written if isinstance(written, Produced) else Produced(written))


async def _feed(processor: QueueProcessor, driver: asyncpg.Connection, produced: Produced) -> None:
    """Queue the rows of the next workflow, and those of the workflows that are fed besides."""
    products = list(produced.next)
    if processor.next_queue is not None and products:
        await processor.next_queue.open(driver, products)
    for name, row_ids in produced.also.items():
        if row_ids:
            await processor.also_fed[name].open(driver, row_ids)


async def _is_connected(driver: asyncpg.Connection) -> bool:
    try:
        await driver.execute("SELECT 1")
    except (asyncpg.PostgresError, *CONNECTION_ERRORS):
        return False
    return True


async def _one_by_one(processor: QueueProcessor, done: Sequence[Claim], error: Exception) -> ClaimResult:
    """Settle each row of a failed batch alone, so that only the failing one is affected."""
    lost: list[UUID] = []
    for claim in done:
        try:
            lost += await _settle_alone(processor, claim, error if len(done) == 1 else None)
        except Exception as failure:
            if is_connection_error(failure):
                raise
            log.warning(
                "row_settle_failed",
                workflow=processor.workflow.name,
                row_id=str(claim.row_id),
                error=f"{type(failure).__name__}: {failure}",
            )
            lost.append(claim.row_id)  # perhaps locked: its lease will expire
    return ClaimResult([], lost, may_have_more=True)  # report what was settled before claiming again


async def _settle_alone(processor: QueueProcessor, claim: Claim, error: Exception | None) -> list[UUID]:
    """Settle one row; `error` is the failure of its write, if it was tried already."""
    if claim.outcome is COMPLETED and processor.workflow.writes:
        if error is None:
            try:
                return (await _write_and_claim(processor, [claim], 0)).lost
            except Exception as failure:
                if is_connection_error(failure):
                    raise
                error = failure
        claim.outcome = outcome_of(error, claim.tries, processor.tuning)
    async with processor.database.engine_connection() as connection:
        return await processor.queue.settle(connection, [claim.settlement])


async def driver_connection(session: AsyncSession) -> asyncpg.Connection:
    """Return the asyncpg connection of a session whose transaction has begun."""
    connection = await session.connection()
    driver: asyncpg.Connection = (await connection.get_raw_connection()).driver_connection
    if not driver.is_in_transaction():
        raise RuntimeError("The session has not begun its transaction.")
    return driver


def count_outcomes(done: Sequence[Claim], lost: Sequence[UUID]) -> dict[OutcomeKind, int]:
    """Count the rows of each outcome, without those whose lease was lost."""
    gone, counts = set(lost), dict.fromkeys(OutcomeKind, 0)
    for claim in done:
        if claim.outcome is not None and claim.row_id not in gone:
            counts[claim.outcome.kind] += 1
    return counts


def count_faults(done: Sequence[Claim], lost: Sequence[UUID]) -> Counter[str]:
    """Count the failures that the breaker counts, by the type of their error."""
    faults: Counter[str] = Counter()
    for claim in done:
        outcome = claim.outcome
        if outcome is not COMPLETED and outcome is not None and outcome.opens_breaker and claim.row_id not in lost:
            faults[outcome.error_type or "Error"] += 1
    return faults
