"""The audit trail."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Computed, ForeignKey, Identity, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Audit(Base):
    """One change by one actor. Rows are added and read, never changed by tenants."""

    __tablename__ = "audit"
    __table_args__ = (
        Index("audit_by_time", "tenant_id", "at", "id"),
        Index("audit_by_subject", "tenant_id", "subject", "at", "id"),
        Index("audit_by_actor", "tenant_id", "actor", "at", "id"),
        Index("audit_by_action", "tenant_id", "action", "at", "id"),
        Index("audit_by_channel", "tenant_id", "channel", "at", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger(), Identity(always=True), primary_key=True)
    tenant_id: Mapped[UUID | None] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    actor: Mapped[str]  # the name of the user or program
    actor_id: Mapped[UUID | None]  # the user; no foreign key, because the audit outlives users
    origin: Mapped[str]  # channel and address: `api 192.0.2.7`, `cli`
    # api, cli or console
    channel: Mapped[str | None] = mapped_column(Computed("split_part(origin, ' ', 1)", persisted=True))
    request_id: Mapped[str | None]
    action: Mapped[str]  # create, update, delete, migrate …
    subject: Mapped[str]  # what was changed: `search 0198…`
    before: Mapped[dict[str, Any] | None]  # the changed fields before
    after: Mapped[dict[str, Any] | None]  # the changed fields after
