"""Schedules of searches."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Schedule(TenantRow, Base):
    """When a search or a campaign is made again: every so often, or by a cron expression in a time zone."""

    __tablename__ = "schedule"
    __table_args__ = (
        CheckConstraint("(every_seconds IS NULL) <> (cron IS NULL)", name="one_recurrence"),
        CheckConstraint("last_outcome IN ('started', 'skipped', 'refused')", name="last_outcome"),
        Index("schedule_by_update", "tenant_id", "updated_at", "id"),
        Index("schedule_due", "next_run_at", postgresql_where=sql("paused_at IS NULL")),
    )

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), unique=True)
    every_seconds: Mapped[int | None] = mapped_column(Integer())
    cron: Mapped[str | None]
    time_zone: Mapped[str] = mapped_column(server_default="UTC")  # of the cron expression
    next_run_at: Mapped[datetime]
    last_run_at: Mapped[datetime | None]  # the last run that was due, also if it failed
    last_outcome: Mapped[str | None]  # started, skipped, refused
    last_reason: Mapped[str | None]  # why it was skipped or refused, or why it was late; for people
    run_count: Mapped[int] = mapped_column(Integer(), server_default="0")  # runs that were started
    paused_at: Mapped[datetime | None]
    paused_by: Mapped[str | None]  # the name of the person
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
