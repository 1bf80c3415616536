"""Login sessions."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class LoginSession(TenantRow, Base):
    """A login on one device.

    A program has a refresh token that changes at every use; using an old one again ends the session. A browser has a
    cookie that stays the same, so that two tabs do not log each other out.
    """

    __tablename__ = "session"
    __table_args__ = (Index("session_by_expiry", "expires_at"),)

    user_id: Mapped[UUID] = mapped_column(ForeignKey("user.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    previous_token_hash: Mapped[str | None]  # of the refresh token before
    family_hash: Mapped[str] = mapped_column(unique=True)  # of the part that all refresh tokens of the session share
    browser_hash: Mapped[str | None] = mapped_column(unique=True)  # of the cookie; empty for a program
    expires_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    origin: Mapped[str]  # the address of the client; of a browser `console` and the address
    user_agent: Mapped[str | None]
