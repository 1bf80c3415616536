"""One cycle of one workflow on one host: what it claimed and what became of it."""

from datetime import datetime

from sqlalchemy import BigInteger, Float, Identity, Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Run(Base):
    """A line of run history: throughput, error rates and durations are read from here."""

    __tablename__ = "run"
    __table_args__ = (Index("run_by_workflow", "workflow", "started_at"), Index("run_by_start", "started_at", "id"))

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    workflow: Mapped[str]
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    seconds: Mapped[float] = mapped_column(Float())
    claimed: Mapped[int]
    completed: Mapped[int]
    skipped: Mapped[int]
    postponed: Mapped[int]
    retried: Mapped[int]
    failed: Mapped[int]
    returned: Mapped[int]
    lost: Mapped[int]
    histogram: Mapped[list[int]]
    error: Mapped[str | None]
