"""Journals of searches."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class SearchJournal(Base):
    """A page of results that a provider returned and billed: a search that is tried again does not pay twice."""

    __tablename__ = "search_journal"
    __table_args__ = (Index("search_journal_by_time", "tenant_id", "stored_at"),)

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    query: Mapped[str] = mapped_column(primary_key=True)
    page_token: Mapped[str] = mapped_column(primary_key=True)  # of the provider; empty for the first page
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    page: Mapped[dict[str, Any]]
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())
