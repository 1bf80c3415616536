"""Cooldowns of providers."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class ProviderCooldown(Base):
    """Until when no worker calls a provider, for example because a quota is used up or it fails."""

    __tablename__ = "provider_cooldown"

    name: Mapped[str] = mapped_column(primary_key=True)  # of the provider's method and key
    until: Mapped[datetime]
    reason: Mapped[str]
    failures: Mapped[int] = mapped_column(server_default=text("0"))  # in a row; some begin a cooldown
