"""Progress snapshots of searches."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Float, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class SearchProgress(Base):
    """The counts of a search at one moment, so that many readers cost one count."""

    __tablename__ = "search_progress"

    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"), primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    counted_at: Mapped[datetime]  # when counting began
    seconds: Mapped[float] = mapped_column(Float())  # how long it took
    is_done: Mapped[bool]  # no work was left
    snapshot: Mapped[dict[str, Any]]  # steps, reasons, waits, found, undecided
