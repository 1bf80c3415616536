"""What a provider said, kept for whoever asks the same."""

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ProviderAnswer(Base):
    """One per question to a service that everybody shares: no worker asks it again while the answer is good."""

    __tablename__ = "provider_answer"
    __table_args__ = (Index("provider_answer_by_age", "good_until"),)

    question: Mapped[str] = mapped_column(primary_key=True)  # its digest: a question may be longer than an index likes
    answer: Mapped[str]  # JSON as text: nobody looks into it here, and jsonb would refuse a NUL
    bytes: Mapped[int]
    good_until: Mapped[datetime]
