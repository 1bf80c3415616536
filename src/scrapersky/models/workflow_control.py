"""What all hosts must agree on about a workflow: paused or not, the breaker, the pace; and who is working."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Float, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class WorkflowControl(Base):
    """One row per workflow, read and written by every host."""

    __tablename__ = "workflow_control"
    __table_args__ = (CheckConstraint("breaker IN ('closed', 'open', 'half-open')", name="breaker_check"),)

    workflow: Mapped[str] = mapped_column(primary_key=True)
    paused_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]
    pause_reason: Mapped[str | None]
    breaker: Mapped[str] = mapped_column(server_default="closed")
    breaker_until: Mapped[datetime | None]
    breaker_reason: Mapped[str | None]
    breaker_trips: Mapped[int] = mapped_column(Integer(), server_default="0")
    window_started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    window_successes: Mapped[int] = mapped_column(Integer(), server_default="0")
    window_failures: Mapped[int] = mapped_column(Integer(), server_default="0")
    depth: Mapped[int] = mapped_column(Integer(), server_default="0")
    item_seconds: Mapped[float] = mapped_column(Float(), server_default="0")
    batch_size: Mapped[int | None]
    interval_seconds: Mapped[float | None] = mapped_column(Float())
    held_by: Mapped[str | None]
    run_requested_at: Mapped[datetime | None]
    measured_at: Mapped[datetime | None]


class Worker(Base):
    """A process that runs the scheduler: seen lately, or gone."""

    __tablename__ = "worker"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    version: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class Maintenance(Base):
    """When a periodic task ran last, on whichever host."""

    __tablename__ = "maintenance"

    name: Mapped[str] = mapped_column(primary_key=True)
    ran_at: Mapped[datetime | None]
    seconds: Mapped[float | None] = mapped_column(Float())
    result: Mapped[str | None]
    error: Mapped[str | None]
