"""Runs of searches."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ForeignKey, Index, Integer, UniqueConstraint, Uuid, func
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.core.uuid7 import new_id
from scrapersky.models.base import Base


class SearchRun(Base):
    """One run of a search or campaign, from the request until no work is left; begun by a trigger."""

    __tablename__ = "search_run"
    __table_args__ = (
        UniqueConstraint("search_id", "number"),
        Index("search_run_open", "began_at", postgresql_where=sql("ended_at IS NULL")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id, server_default=func.gen_random_uuid())
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    search_id: Mapped[UUID] = mapped_column(ForeignKey("search.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer())  # from 1
    began_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]
    is_complete: Mapped[bool] = mapped_column(server_default="false")  # no work was left; else the next run ended it
    # the provider showed all places: no limit, budget or failure kept one out
    is_whole: Mapped[bool] = mapped_column(server_default="false")
    counts: Mapped[dict[str, Any] | None]  # what was new, gone and changed when it was complete
    found: Mapped[
        dict[str, Any] | None
    ]  # what the search had found, and how many rows had failed, when it was complete
    # destinations that are notified of its end besides those whose rule says so
    notified: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()), server_default="{}")
