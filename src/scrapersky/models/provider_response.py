"""What a provider said, kept for whoever asks the same."""

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ProviderResponse(Base):
    """One per question to a service that everybody shares: no worker asks it again while the answer is good."""

    __tablename__ = "provider_response"
    __table_args__ = (Index("provider_response_by_expiry", "expires_at"),)

    request_hash: Mapped[str] = mapped_column(primary_key=True)  # a request may be too long for an index
    response: Mapped[str]  # JSON as text: nobody looks into it here, and jsonb would refuse a NUL
    size_bytes: Mapped[int]
    expires_at: Mapped[datetime]
