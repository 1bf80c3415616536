"""The six columns and four indexes of a queue, on the row that the work is about."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.schema import SchemaItem

from scrapersky.core.vocabularies import Status, check_vocabulary


def status_column() -> Mapped[Status]:
    """Where the row stands: setting it to Queued, by anybody and in any way, is all it takes to queue the row."""
    return mapped_column(default=Status.NEW, server_default=Status.NEW.value)


def error_column() -> Mapped[str | None]:
    """Why the row was retried, skipped or given up; empty after success."""
    return mapped_column(default=None)


def attempts_column() -> Mapped[int]:
    """How often the row was claimed, ever. It only grows: it is also the fence against late writers."""
    return mapped_column(Integer(), default=0, server_default="0")


def allowance_column() -> Mapped[int]:
    """How many of those attempts do not count against the limit."""
    return mapped_column(Integer(), default=0, server_default="0")


def due_at_column() -> Mapped[datetime | None]:
    """Queued: not before. Processing: the lease. Empty: ready, or at rest."""
    return mapped_column(default=None)


def order_column() -> Mapped[int]:
    """The place in the queue, set by the database when the row is queued: time, priority and fair share in one."""
    return mapped_column(BigInteger(), default=0, server_default="0")


def queue_items(table: str, queue: str) -> tuple[SchemaItem, ...]:
    """The indexes of a queue: one to claim from, one for fair shares, one for clocks
    (leases and waiting rows), one for lists of rows at rest."""
    ready = text(f"{queue}_status = 'Queued' AND {queue}_due_at IS NULL")
    return (
        check_vocabulary(f"{queue}_status", Status),
        Index(f"{table}_{queue}_claim", f"{queue}_order", postgresql_where=ready),
        Index(f"{table}_{queue}_tenant", "tenant_id", f"{queue}_order", postgresql_where=ready),
        Index(f"{table}_{queue}_due", f"{queue}_due_at", postgresql_where=text(f"{queue}_due_at IS NOT NULL")),
        Index(
            f"{table}_{queue}_outcome",
            "tenant_id",
            f"{queue}_status",
            "id",
            postgresql_where=text(f"{queue}_status NOT IN ('Queued', 'Processing')"),
        ),
    )
