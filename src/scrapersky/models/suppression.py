"""Suppressions."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Suppression(TenantRow, Base):
    """An address, a domain, a number or a person that must not be written to; after an erasure only a hash."""

    __tablename__ = "suppression"
    __table_args__ = (
        UniqueConstraint("tenant_id", "value_hash", "kind"),
        CheckConstraint("kind IN ('email', 'domain', 'phone', 'person')", name="kind_check"),
        Index("suppression_by_update", "tenant_id", "updated_at", "id"),
        Index("suppression_by_kind", "tenant_id", "kind", "updated_at", "id"),
        Index("suppression_by_prefix", "tenant_id", "value", postgresql_ops={"value": "text_pattern_ops"}),
        Index("suppression_erased", "tenant_id", postgresql_where=text("origin = 'erasure'")),
    )

    kind: Mapped[str]
    value: Mapped[str | None]  # null after an erasure
    value_hash: Mapped[str]  # SHA-256 of the value in small letters
    reason: Mapped[str | None]
    origin: Mapped[str] = mapped_column(server_default="person")  # person, import, erasure or destination
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
