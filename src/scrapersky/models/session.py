"""Somebody who is logged in."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class LoginSession(TenantRow, Base):
    """One login on one device: the refresh token changes at every use, an old one used again ends the session."""

    __tablename__ = "session"
    __table_args__ = (Index("session_by_expiry", "expires_at"),)

    user_id: Mapped[UUID] = mapped_column(ForeignKey("user.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    previous_token_hash: Mapped[str | None]
    family_hash: Mapped[str] = mapped_column(unique=True)  # of the part that all its tokens have
    expires_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    origin: Mapped[str]
    user_agent: Mapped[str | None]
