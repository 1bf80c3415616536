"""Three chained example workflows over two tables: the engine's own demo, its tests and its benchmark use them."""

import asyncio
import random
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import DateTime, SmallInteger, Text, Uuid, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.pool import NullPool

from scrapersky.core.database import Database
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Status
from scrapersky.engine.outcomes import Skip
from scrapersky.engine.pipeline import Pipeline
from scrapersky.engine.tuning import Tuning
from scrapersky.engine.workflow import Claimed, Workflow
from scrapersky.models import queue

PROTECT_TABLES = "SELECT protect_tenant('parcel'), protect_tenant('shipment')"
ADD_QUEUES = """
SELECT add_queue_triggers('parcel', 'packing'),
    add_queue_triggers('parcel', 'weighing'),
    add_queue_triggers('shipment', 'shipping')
"""


class ExampleBase(DeclarativeBase):
    """A separate registry: these tables are not part of the line."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        str: Text(),
        Status: Text(),
    }


class _Example:
    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id, server_default=func.gen_random_uuid())
    tenant_id: Mapped[UUID]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
    priority: Mapped[int] = mapped_column(SmallInteger(), default=0, server_default="0")


class ExampleParcel(_Example, ExampleBase):
    """Something to pack and to weigh."""

    __tablename__ = "parcel"
    __table_args__ = (*queue.items("parcel", "packing"), *queue.items("parcel", "weighing"))

    label: Mapped[str] = mapped_column(server_default="")
    grams: Mapped[int | None]

    packing_status: Mapped[Status] = queue.status()
    packing_error: Mapped[str | None] = queue.error()
    packing_attempts: Mapped[int] = queue.attempts()
    packing_allowance: Mapped[int] = queue.allowance()
    packing_due_at: Mapped[datetime | None] = queue.due_at()
    packing_order: Mapped[int] = queue.order()
    packing_flow: Mapped[UUID] = queue.flow()
    packing_waits_for: Mapped[str | None] = queue.waits_for()
    packing_revert_to: Mapped[Status | None] = queue.revert_to()

    weighing_status: Mapped[Status] = queue.status()
    weighing_error: Mapped[str | None] = queue.error()
    weighing_attempts: Mapped[int] = queue.attempts()
    weighing_allowance: Mapped[int] = queue.allowance()
    weighing_due_at: Mapped[datetime | None] = queue.due_at()
    weighing_order: Mapped[int] = queue.order()
    weighing_flow: Mapped[UUID] = queue.flow()
    weighing_waits_for: Mapped[str | None] = queue.waits_for()
    weighing_revert_to: Mapped[Status | None] = queue.revert_to()


class ExampleShipment(_Example, ExampleBase):
    """A weighed parcel; exactly one per parcel."""

    __tablename__ = "shipment"
    __table_args__ = queue.items("shipment", "shipping")

    parcel_id: Mapped[UUID] = mapped_column(unique=True)

    shipping_status: Mapped[Status] = queue.status()
    shipping_error: Mapped[str | None] = queue.error()
    shipping_attempts: Mapped[int] = queue.attempts()
    shipping_allowance: Mapped[int] = queue.allowance()
    shipping_due_at: Mapped[datetime | None] = queue.due_at()
    shipping_order: Mapped[int] = queue.order()
    shipping_flow: Mapped[UUID] = queue.flow()
    shipping_waits_for: Mapped[str | None] = queue.waits_for()
    shipping_revert_to: Mapped[Status | None] = queue.revert_to()


class Packing(Workflow[ExampleParcel, str, None]):
    """A parcel is packed; some attempts fail and are retried."""

    number = 91
    name = "packing"
    model = ExampleParcel
    reads = ("label",)
    feeds = "weighing"
    tuning = Tuning(batch_size=50, max_attempts=3, backoff_seconds=0.5, breaker_error_rate=0.9)

    def __init__(self, tears: float = 0.0, seconds: float = 0.0) -> None:
        self._tears, self._seconds = tears, seconds

    def read(self, row: Claimed) -> str:
        """Read the label of the parcel."""
        label: str = row.label
        return label

    async def work(self, label: str) -> None:
        """Pack it."""
        await asyncio.sleep(self._seconds)
        if random.random() < self._tears:
            raise RuntimeError(f"the tape of {label} tore")

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[ExampleParcel, None]]) -> Iterable[UUID]:
        """Store nothing; queue the same parcels for weighing."""
        return [parcel.id for parcel, _ in found]


class Weighing(Workflow[ExampleParcel, str, int]):
    """A packed parcel is weighed; an empty one is skipped."""

    number = 92
    name = "weighing"
    model = ExampleParcel
    reads = ("label",)
    feeds = "shipping"
    tuning = Tuning(batch_size=50)

    def read(self, row: Claimed) -> str:
        """Read the label of the parcel."""
        label: str = row.label
        return label

    async def work(self, label: str) -> int:
        """Compute the weight from the label, so that a repeated run gives the same result."""
        grams = sum(label.encode()) % 1000
        if grams < 30:
            raise Skip("empty parcel")
        return grams

    async def write_batch(self, session: AsyncSession, found: Sequence[tuple[ExampleParcel, int]]) -> Iterable[UUID]:
        """Note the weight and make the shipment, once."""
        for parcel, grams in found:
            parcel.grams = grams
        made = await session.execute(
            insert(ExampleShipment)
            .values([{"id": new_id(), "tenant_id": parcel.tenant_id, "parcel_id": parcel.id} for parcel, _ in found])
            .on_conflict_do_nothing(index_elements=["parcel_id"])
            .returning(ExampleShipment.id)
        )
        return list(made.scalars())


class Shipping(Workflow[ExampleShipment, None, None]):
    """A shipment is sent."""

    number = 93
    name = "shipping"
    model = ExampleShipment
    tuning = Tuning(batch_size=50)

    def read(self, row: Claimed) -> None:
        """Read nothing."""

    async def work(self, task: None) -> None:
        """Do nothing."""


def example_pipeline(tears: float = 0.0, seconds: float = 0.0) -> Pipeline:
    """Build the pipeline Parcel ─▶ packing ─▶ weighing ─▶ Shipment ─▶ shipping."""
    return Pipeline([Packing(tears, seconds), Weighing(), Shipping()])


async def create_parcel_tables(database: Database) -> None:
    """Make the example tables and their queues, as the owner of the database."""
    engine = create_async_engine(database.owner_url, poolclass=NullPool)
    async with engine.begin() as connection:
        await connection.run_sync(ExampleBase.metadata.create_all)
        await connection.exec_driver_sql(PROTECT_TABLES)
        await connection.exec_driver_sql(ADD_QUEUES)
    await engine.dispose()
