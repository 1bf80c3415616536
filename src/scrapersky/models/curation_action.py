"""Curations that can be undone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class CurationAction(Base):
    """One curation of some rows, for a day."""

    __tablename__ = "curation_action"
    __table_args__ = (Index("curation_action_by_time", "tenant_id", "created_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)  # of a job, if a job changes the rows
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    resource: Mapped[str]
    curation_status: Mapped[str]
    actor: Mapped[str]
    row_count: Mapped[int] = mapped_column(Integer())
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    undone_at: Mapped[datetime | None]
    undone_by: Mapped[str | None]


class CurationChange(Base):
    """A row that a curation changed: its columns before, and what the curation set."""

    __tablename__ = "curation_change"
    __table_args__ = (
        Index("curation_change_by_action", "action_id", "resource", "row_id", unique=True),
        Index("curation_change_by_row", "tenant_id", "row_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    action_id: Mapped[UUID] = mapped_column(ForeignKey("curation_action.id", ondelete="CASCADE"))
    resource: Mapped[str]  # deliveries, too, which follow from the curation of contacts
    row_id: Mapped[UUID]
    before: Mapped[dict[str, Any]]
    after: Mapped[dict[str, Any]]
