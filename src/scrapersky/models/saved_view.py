"""Saved views."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, TenantRow


class SavedView(TenantRow, Base):
    """A list as a person wants to see it again: its filters and its sort under a name."""

    __tablename__ = "saved_view"
    __table_args__ = (
        UniqueConstraint("user_id", "noun", "name"),
        Index("saved_view_by_name", "tenant_id", "noun", "name", "id"),
    )

    user_id: Mapped[UUID] = mapped_column(ForeignKey("user.id", ondelete="CASCADE"))
    noun: Mapped[str]  # contacts, places …
    name: Mapped[str]
    query: Mapped[str]  # of the list's address: curation_status=New&sort=name
    shared: Mapped[bool] = mapped_column(server_default=text("false"))  # with everybody of the tenant
