"""A plain loop over a status column: a claim in two statements, then a fresh session and a commit per row."""

import os
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg
import uvloop
from sqlalchemy import BigInteger, DateTime, Identity, Text, Uuid, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from benchmarks.engine_meter import COUNT_RECEIPTS, CREATE_RECEIPT, TENANT, Meter, Order, hand_in


class Base(DeclarativeBase):
    """A registry of its own."""


class Task(Base):
    """A row with a status; each such column has a plain index."""

    __tablename__ = "task"

    id: Mapped[UUID] = mapped_column(Uuid(), primary_key=True, default=uuid4)
    number: Mapped[int] = mapped_column(BigInteger())
    status: Mapped[str] = mapped_column(Text(), index=True)
    error: Mapped[str | None] = mapped_column(Text())
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Receipt(Base):
    """What a writing job leaves."""

    __tablename__ = "receipt"

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(Uuid())
    number: Mapped[int] = mapped_column(BigInteger())
    pid: Mapped[int]


async def claim(sessions: async_sessionmaker[AsyncSession], batch_size: int) -> list[UUID]:
    """Lock the oldest queued rows, then mark them, in two statements."""
    async with sessions() as session, session.begin():
        ids = list(
            await session.scalars(
                select(Task.id)
                .where(Task.status == "Queued")
                .order_by(Task.updated_at.asc())
                .limit(batch_size)
                .with_for_update(skip_locked=True)
            )
        )
        if ids:
            await session.execute(
                update(Task).where(Task.id.in_(ids)).values(status="Processing", updated_at=datetime.now(UTC))
            )
    return ids


async def process(sessions: async_sessionmaker[AsyncSession], task_id: UUID, writes: bool) -> None:
    """Process one row in its own session."""
    async with sessions() as session:
        task = await session.get(Task, task_id)
        assert task is not None
        if writes:
            session.add(Receipt(tenant_id=UUID(TENANT), number=task.number, pid=os.getpid()))
        task.status, task.error, task.updated_at = "Completed", None, datetime.now(UTC)
        await session.commit()


async def main() -> None:
    """Fill the table and run the loop back to back; its interval of a minute is left out."""
    order = Order.read()
    admin = await asyncpg.connect(order.url)
    await admin.execute(CREATE_RECEIPT)
    engine = create_async_engine(
        order.url.replace("postgresql://", "postgresql+asyncpg://"),
        connect_args={"statement_cache_size": 0},
        pool_pre_ping=True,
    )
    async with engine.begin() as connection:
        await connection.run_sync(Task.__table__.create)
    await admin.execute(
        "INSERT INTO task (id, number, status, updated_at) "
        "SELECT gen_random_uuid(), n, 'Queued', now() FROM generate_series(1, $1) n",
        order.jobs,
    )
    await admin.execute("ANALYZE")
    await admin.execute("CHECKPOINT")
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    meter = Meter(order.postmaster)
    meter.start()
    while ids := await claim(sessions, order.options["batch_size"]):
        for task_id in ids:
            await process(sessions, task_id, order.what == "write")
    result = meter.stop(order.jobs)
    done = await admin.fetchval("SELECT count(*) FROM task WHERE status = 'Completed'")
    assert done == order.jobs, f"{done} of {order.jobs} completed"
    if order.what == "write":
        written = tuple(await admin.fetchrow(COUNT_RECEIPTS))
        assert written == (order.jobs, order.jobs), f"{written} receipts for {order.jobs} jobs"
    await engine.dispose()
    await admin.close()
    hand_in(result)


if __name__ == "__main__":
    uvloop.run(main())
