"""Jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Float, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Job(TenantRow, Base):
    """A long action that a client may watch; it survives the request, the process and the host."""

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint(
            "state IN ('pending', 'processing', 'completed', 'failed', 'skipped', 'cancelled')", name="state_check"
        ),
        Index("job_by_update", "tenant_id", "updated_at", "id"),
        Index("job_by_kind", "tenant_id", "kind", "updated_at", "id"),
        Index("job_open", "subject_id", postgresql_where=text("state IN ('pending', 'processing')")),
    )

    kind: Mapped[str]
    state: Mapped[str] = mapped_column(default="pending", server_default="pending")
    progress: Mapped[float] = mapped_column(Float(), default=0.0, server_default="0")  # 0 to 1
    parameters: Mapped[dict[str, Any]]
    result: Mapped[dict[str, Any] | None]
    error: Mapped[str | None]
    subject_id: Mapped[UUID | None]  # the row that the job is about
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
    cancel_requested_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
