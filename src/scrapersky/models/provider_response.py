"""The cache of provider responses."""

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ProviderResponse(Base):
    """A response of a public service, shared by all workers until it expires."""

    __tablename__ = "provider_response"
    __table_args__ = (Index("provider_response_by_expiry", "expires_at"),)

    request_hash: Mapped[str] = mapped_column(primary_key=True)  # a request may be too long for an index
    response: Mapped[str]  # JSON as text: it is never queried, and jsonb refuses a NUL
    size_bytes: Mapped[int]
    expires_at: Mapped[datetime]
