"""Alarms."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, Index, Uuid, func
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Alarm(Base):
    """Something that needs attention, from its beginning to its end, and the destinations that were notified."""

    __tablename__ = "alarm"
    __table_args__ = (
        Index("alarm_active", "kind", "subject", unique=True, postgresql_where=sql("resolved_at IS NULL")),
        Index("alarm_by_end", "resolved_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    kind: Mapped[str]
    subject: Mapped[str]  # the workflow or the maintenance task
    message: Mapped[str]
    raised_at: Mapped[datetime] = mapped_column(server_default=func.now())
    resolved_at: Mapped[datetime | None]
    raised_to: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()), server_default="{}")
    resolved_to: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()), server_default="{}")
