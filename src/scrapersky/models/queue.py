"""The columns and indexes of a queue; add_queue of the migrations creates the same in the database."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.schema import SchemaItem

from scrapersky.core.vocabularies import Status, check_vocabulary

NO_FLOW = UUID(int=0)


def status() -> Mapped[Status]:
    """Declare the status. Setting it to Queued, also with plain SQL, queues the row."""
    return mapped_column(default=Status.NEW, server_default=Status.NEW.value)


def error() -> Mapped[str | None]:
    """Declare the reason why the row was skipped, postponed, retried or failed; null after success."""
    return mapped_column(default=None)


def attempts() -> Mapped[int]:
    """Declare how often the row was claimed. It only grows, because it is also the fencing token of a claim."""
    return mapped_column(Integer(), default=0, server_default="0")


def allowance() -> Mapped[int]:
    """Declare how many of the attempts do not count against the limit."""
    return mapped_column(Integer(), default=0, server_default="0")


def due_at() -> Mapped[datetime | None]:
    """Declare the due time. Queued: not before (null: now). Processing: when the lease ends. Otherwise null."""
    return mapped_column(default=None)


def order() -> Mapped[int]:
    """Declare the position in the queue; a trigger computes it from time, priority and fair share."""
    return mapped_column(BigInteger(), default=0, server_default="0")


def flow() -> Mapped[UUID]:
    """Declare the flow that the row takes turns in: its search or destination, set by a trigger; all zeros: none."""
    return mapped_column(default=NO_FLOW, server_default=str(NO_FLOW))


def waits_for() -> Mapped[str | None]:
    """Declare what a postponed row waits for, a WaitsFor, where an event can end the wait."""
    return mapped_column(default=None)


def revert_to() -> Mapped[Status | None]:
    """Declare the status that a row in flight gets instead of a retry, because its work was withdrawn meanwhile."""
    return mapped_column(default=None)


def items(table: str, queue: str) -> tuple[SchemaItem, ...]:
    """Return the check of the status and the indexes of a queue.

    `_claim` is for claiming, `_tenant` for fair shares, `_due` for leases and rows that wait, `_outcome` for lists.
    """
    ready = text(f"{queue}_status = 'Queued' AND {queue}_due_at IS NULL")
    return (
        check_vocabulary(f"{queue}_status", Status),
        Index(f"{table}_{queue}_claim", f"{queue}_order", postgresql_where=ready),
        Index(f"{table}_{queue}_tenant", "tenant_id", f"{queue}_flow", f"{queue}_order", postgresql_where=ready),
        Index(f"{table}_{queue}_due", f"{queue}_due_at", postgresql_where=text(f"{queue}_due_at IS NOT NULL")),
        Index(
            f"{table}_{queue}_outcome",
            "tenant_id",
            f"{queue}_status",
            "id",
            postgresql_where=text(f"{queue}_status NOT IN ('Queued', 'Processing')"),
        ),
    )
