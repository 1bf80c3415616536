"""Invitations."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Invitation(TenantRow, Base):
    """A link that creates one user. Only the hash of its token is stored."""

    __tablename__ = "invitation"

    role: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    # null: made at the first start, for the first admin
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
