"""Until when a provider is not asked, by whichever worker."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ProviderCooldown(Base):
    """One row per quota of a provider that was used up: every worker knows what one of them was told."""

    __tablename__ = "provider_cooldown"

    name: Mapped[str] = mapped_column(primary_key=True)  # of the provider's method and key
    until: Mapped[datetime]
    reason: Mapped[str]
