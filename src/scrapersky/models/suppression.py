"""Whom never to write to again."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Suppression(TenantRow, Base):
    """An email address, a mail domain or a phone number; after an erasure only its hash is left."""

    __tablename__ = "suppression"
    __table_args__ = (
        UniqueConstraint("tenant_id", "kind", "value_hash"),
        CheckConstraint("kind IN ('email', 'domain', 'phone')", name="kind_word"),
        Index("suppression_by_update", "tenant_id", "updated_at", "id"),
    )

    kind: Mapped[str]
    value: Mapped[str | None]
    value_hash: Mapped[str]  # SHA-256 of the value in small letters
    reason: Mapped[str | None]
    origin: Mapped[str] = mapped_column(server_default="person")  # person, import, erasure, destination
    made_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
