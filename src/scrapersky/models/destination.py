"""Destinations."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Destination(TenantRow, Base):
    """A web hook or a CRM that contacts are delivered to; its secrets are encrypted."""

    __tablename__ = "destination"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        Index("destination_by_update", "tenant_id", "updated_at", "id"),
    )

    name: Mapped[str]
    kind: Mapped[str]  # a name of destinations.registry.KINDS
    url: Mapped[str | None]  # the web hook, or another base URL than that of the CRM
    secret: Mapped[str | None]  # encrypted: the key of the CRM, or the signing secret of the web hook
    previous_secret: Mapped[str | None]  # encrypted; signs beside the new secret until the receiver has changed over
    options: Mapped[dict[str, Any]] = mapped_column(server_default="{}")  # lists, names of fields
    # which verified contacts are delivered automatically
    rule: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None]  # with the cure
    consecutive_failures: Mapped[int] = mapped_column(Integer(), server_default="0")  # a success resets it
    failing_since: Mapped[datetime | None]
    cooldown_until: Mapped[datetime | None]  # not called before, by any host
