"""Writing down what became of rows: fence, write, open the next inbox, claim again, in one transaction."""

from collections import defaultdict
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
from scrapersky.engine.outcomes import COMPLETED, Kind, Outcome, WriteFailed, outcome_of
from scrapersky.engine.processor import QueueProcessor
from scrapersky.engine.queue import Exchange, Settlement
from scrapersky.engine.workflow import Claimed

log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Claim:
    """A row this process has the lease of."""

    row: Claimed
    renewed_at: float
    started_at: float | None = None
    runner: Any = None
    lost: bool = False
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
        """The row with its outcome."""
        if self.outcome is None:
            raise TypeError("a row without an outcome cannot be settled")
        return Settlement(self.row_id, self.attempts, self.outcome)


async def settle_and_claim(processor: QueueProcessor, done: Sequence[Claim], count: int) -> Exchange:
    """Settle what is done and claim up to `count` more. A row whose write fails, fails alone."""
    try:
        if processor.workflow.writes and any(held.outcome is COMPLETED for held in done):
            return await _write_and_claim(processor, done, count)
        async with processor.database.engine_connection() as connection:
            settlements = [held.settlement for held in done]
            return await processor.queue.exchange(connection, settlements, count, processor.tuning.lease_seconds)
    except Exception as error:
        if is_connection_error(error) or not done:
            raise
        return await _one_by_one(processor, done, error)


async def _write_and_claim(processor: QueueProcessor, done: Sequence[Claim], count: int) -> Exchange:
    async with processor.database.engine_session() as session:
        await session.execute(text(ACT_AS_ENGINE))  # opens the transaction before the bare driver is used
        driver = await driver_of(session)
        lost = await processor.queue.settle(driver, [held.settlement for held in done])
        gone = set(lost)
        await _write(
            processor, session, [held for held in done if held.outcome is COMPLETED and held.row_id not in gone]
        )
        await driver.execute(ACT_AS_ENGINE)
        claimed = await processor.queue.claim(driver, count, processor.tuning.lease_seconds) if count else []
        # The claim asked not to wait for the disk; the results in this transaction must.
        await driver.execute("SET LOCAL synchronous_commit = on")
    return Exchange(claimed, lost)


async def _write(processor: QueueProcessor, session: AsyncSession, completed: Sequence[Claim]) -> None:
    """Hand what was found to the workflow, one tenant at a time and as that tenant; open the next inbox."""
    by_tenant: dict[UUID, list[Claim]] = defaultdict(list)
    for held in completed:
        by_tenant[held.tenant_id].append(held)
    workflow, driver = processor.workflow, await driver_of(session)
    for tenant_id, group in sorted(by_tenant.items()):  # one order for all: two hosts never wait in a ring for a quota
        await driver.execute(ACT_AS_TENANT, str(tenant_id))
        # One array, not one parameter per row: the statement stays the same, and with it its plan.
        ids = bindparam("ids", [held.row_id for held in group], ARRAY(Uuid()))
        rows = await session.scalars(select(workflow.model).where(workflow.model.id == any_(ids)))
        found = {held.row_id: held.found for held in group}
        in_order = {row.id: row for row in rows}
        pairs = [(in_order[held.row_id], found[held.row_id]) for held in group if held.row_id in in_order]
        try:
            products = list(await workflow.write_batch(session, pairs))
            await session.flush()
        except OSError as error:
            if await _still_answers(driver):  # a missing file and a lost connection look alike
                raise WriteFailed(f"{type(error).__name__}: {error}") from error
            raise
        if processor.next_queue is not None and products:
            await processor.next_queue.open(driver, products)


async def _still_answers(driver: asyncpg.Connection) -> bool:
    try:
        await driver.execute("SELECT 1")
    except (asyncpg.PostgresError, *CONNECTION_ERRORS):
        return False
    return True


async def _one_by_one(processor: QueueProcessor, done: Sequence[Claim], error: Exception) -> Exchange:
    """The batch failed: settle each row alone, so that the bad one is found and the good ones are done."""
    lost: list[UUID] = []
    for held in done:
        try:
            lost += await _settle_alone(processor, held, error if len(done) == 1 else None)
        except Exception as own:
            if is_connection_error(own):
                raise
            log.warning(
                "row_settle_failed",
                workflow=processor.workflow.name,
                row_id=str(held.row_id),
                error=f"{type(own).__name__}: {own}",
            )
            lost.append(held.row_id)  # locked by somebody, perhaps: its lease will run out
    return Exchange([], lost, again=True)  # what was settled must be noted before anything else can go wrong


async def _settle_alone(processor: QueueProcessor, held: Claim, error: Exception | None) -> list[UUID]:
    """Settle one row; with the error that its write has already ended in, if it has."""
    if held.outcome is COMPLETED and processor.workflow.writes:
        if error is None:
            try:
                return (await _write_and_claim(processor, [held], 0)).lost
            except Exception as own:
                if is_connection_error(own):
                    raise
                error = own
        held.outcome = outcome_of(error, held.tries, processor.tuning)
    async with processor.database.engine_connection() as connection:
        return await processor.queue.settle(connection, [held.settlement])


async def driver_of(session: AsyncSession) -> asyncpg.Connection:
    """The bare connection under a session whose transaction has begun."""
    connection = await session.connection()
    driver: asyncpg.Connection = (await connection.get_raw_connection()).driver_connection
    if not driver.is_in_transaction():
        raise RuntimeError("the session has not begun its transaction")
    return driver


def count_kinds(done: Sequence[Claim], lost: Sequence[UUID]) -> dict[Kind, int]:
    """How many rows ended in which way, without those that were no longer ours."""
    gone, counts = set(lost), dict.fromkeys(Kind, 0)
    for held in done:
        if held.outcome is not None and held.row_id not in gone:
            counts[held.outcome.kind] += 1
    return counts
