"""Login sessions."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class LoginSession(TenantRow, Base):
    """A login on one device. The refresh token changes at every use; using an old one again ends the session."""

    __tablename__ = "session"
    __table_args__ = (Index("session_by_expiry", "expires_at"),)

    user_id: Mapped[UUID] = mapped_column(ForeignKey("user.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    previous_token_hash: Mapped[str | None]  # of the refresh token before
    family_hash: Mapped[str] = mapped_column(unique=True)  # of the part that all refresh tokens of the session share
    expires_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    origin: Mapped[str]  # the address of the client
    user_agent: Mapped[str | None]
