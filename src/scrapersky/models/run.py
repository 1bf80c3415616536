"""The run history."""

from datetime import datetime

from sqlalchemy import BigInteger, Float, Identity, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Run(Base):
    """One cycle of one workflow in one process; throughput, error rates and durations are computed from it."""

    __tablename__ = "run"
    __table_args__ = (Index("run_by_workflow", "workflow", "started_at"), Index("run_by_start", "started_at", "id"))

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    workflow: Mapped[str]
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    seconds: Mapped[float] = mapped_column(Float())
    claimed: Mapped[int]  # rows; the following columns say what became of them
    completed: Mapped[int]
    skipped: Mapped[int]
    postponed: Mapped[int]
    retried: Mapped[int]
    failed: Mapped[int]
    returned: Mapped[int]  # put back unprocessed, for example at a shutdown
    lost: Mapped[int]  # their lease had ended, and another worker has them
    histogram: Mapped[list[int]]  # rows by duration, in buckets
    error: Mapped[str | None]  # of the cycle itself
    cycles: Mapped[int] = mapped_column(Integer(), server_default="1")  # idle cycles of a minute share one row
