"""A link that lets somebody become a user, once."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class Invitation(TenantRow, Base):
    """Made by an admin, or by the first start for the first admin; only the hash of its token is kept."""

    __tablename__ = "invitation"

    role: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("user.id", ondelete="SET NULL"))
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
