"""How long rows are kept."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class Retention(Base):
    """After how many days rows of one kind are deleted; the same for all hosts and tenants."""

    __tablename__ = "retention"
    __table_args__ = (CheckConstraint("days BETWEEN 0 AND 36500", name="retention_days_check"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    days: Mapped[int] = mapped_column(Integer())  # 0 keeps them
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())
