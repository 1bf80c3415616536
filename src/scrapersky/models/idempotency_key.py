"""Idempotency keys of the API."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, SmallInteger, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class IdempotencyKey(Base):
    """The response to a request with this key, for a day: the same request again gets it and changes nothing."""

    __tablename__ = "idempotency_key"

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_hash: Mapped[str]  # another request with the same key is refused
    status_code: Mapped[int] = mapped_column(SmallInteger())  # 0 while the first request is still running
    response: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
