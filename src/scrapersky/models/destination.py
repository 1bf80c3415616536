"""Where contacts are delivered to: somebody's web hook or CRM."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Destination(TenantRow, Base):
    """An address and how to speak to it; its secrets are kept sealed."""

    __tablename__ = "destination"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        Index("destination_by_update", "tenant_id", "updated_at", "id"),
    )

    name: Mapped[str]
    kind: Mapped[str]  # a name of destinations.registry.KINDS
    url: Mapped[str | None]  # the web hook, or another base than the CRM's own
    secret: Mapped[str | None]  # sealed; a key of the CRM or what a web hook is signed with
    previous_secret: Mapped[str | None]  # sealed; still signs beside the new one until the receiver has changed over
    options: Mapped[dict[str, Any]] = mapped_column(server_default="{}")  # lists, names of fields
    rule: Mapped[dict[str, Any]] = mapped_column(server_default="{}")  # which verified contacts go there by themselves
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None]
    consecutive_failures: Mapped[int] = mapped_column(Integer(), server_default="0")  # in a row; a success forgets them
    failing_since: Mapped[datetime | None]
    cooldown_until: Mapped[datetime | None]  # nobody asks it before, on any host
