"""State of workflows, workers and periodic tasks that all hosts share."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Float, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class WorkflowControl(Base):
    """Pause, breaker and pace of a workflow."""

    __tablename__ = "workflow_control"
    __table_args__ = (CheckConstraint("breaker IN ('closed', 'open', 'half-open')", name="breaker_check"),)

    workflow: Mapped[str] = mapped_column(primary_key=True)
    paused_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]
    pause_reason: Mapped[str | None]
    breaker: Mapped[str] = mapped_column(server_default="closed")
    breaker_until: Mapped[datetime | None]
    breaker_reason: Mapped[str | None]
    breaker_trips: Mapped[int] = mapped_column(Integer(), server_default="0")  # in a row; each makes the pause longer
    # of the window that the breaker counts in
    window_started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    window_successes: Mapped[int] = mapped_column(Integer(), server_default="0")
    window_failures: Mapped[int] = mapped_column(Integer(), server_default="0")
    depth: Mapped[int] = mapped_column(Integer(), server_default="0")  # rows in the queue
    item_seconds: Mapped[float] = mapped_column(Float(), server_default="0")  # the mean time of one row
    batch_size: Mapped[int | None]  # chosen by the engine
    interval_seconds: Mapped[float | None] = mapped_column(Float())  # chosen by the engine
    held_by: Mapped[str | None]  # the next workflow, while its queue is too long
    max_per_minute: Mapped[int] = mapped_column(Integer(), server_default="0")  # rows claimed by all hosts; 0: any
    throttle_tokens: Mapped[float | None] = mapped_column(Float())  # rows that could be claimed at throttle_at
    throttle_at: Mapped[datetime | None]
    run_requested_at: Mapped[datetime | None]  # a person asked for a run now
    measured_at: Mapped[datetime | None]  # when depth and pace were computed


class Worker(Base):
    """A process that runs the scheduler."""

    __tablename__ = "worker"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    version: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class Maintenance(Base):
    """The last run of a periodic task, on any host."""

    __tablename__ = "maintenance"

    name: Mapped[str] = mapped_column(primary_key=True)
    ran_at: Mapped[datetime | None]
    seconds: Mapped[float | None] = mapped_column(Float())
    result: Mapped[str | None]
    error: Mapped[str | None]
