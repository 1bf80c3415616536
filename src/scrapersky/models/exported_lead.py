"""Leads that were in a file."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ExportedLead(Base):
    """A lead that was in a file, with the first file that had it; rows without a contact are not recorded."""

    __tablename__ = "exported_lead"
    __table_args__ = (Index("exported_lead_by_tenant", "tenant_id", "exported_at"),)

    # of the business, of the domain of a web site without one, or of the contact
    lead_id: Mapped[UUID] = mapped_column(primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    file: Mapped[str]
    exported_at: Mapped[datetime] = mapped_column(server_default=func.now())
