"""Tenants, users and API keys."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, Identified, TenantRow


class Tenant(Identified, Base):
    """A customer, with its quotas. All rows of the line belong to a tenant."""

    __tablename__ = "tenant"
    __table_args__ = tuple(
        CheckConstraint(f"{quota} >= 0", name=f"{quota}_check")
        for quota in ("searches_per_day", "pages_per_day", "cents_per_month")
    )

    name: Mapped[str] = mapped_column(unique=True)
    # its operators also run the engine
    is_operator: Mapped[bool] = mapped_column(default=False, server_default="false")
    disabled_at: Mapped[datetime | None]
    searches_per_day: Mapped[int | None]  # null: unlimited
    pages_per_day: Mapped[int | None]  # null: unlimited
    cents_per_month: Mapped[int | None]  # null: unlimited


class User(Identified, Base):
    """A person, or the system user that the scheduler acts as."""

    __tablename__ = "user"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        Index("user_system_name", "name", unique=True, postgresql_where=text("tenant_id IS NULL")),
        CheckConstraint("role IN ('viewer', 'curator', 'operator', 'admin')", name="role_check"),
    )

    tenant_id: Mapped[UUID | None] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    name: Mapped[str]
    password_hash: Mapped[str | None]
    role: Mapped[str] = mapped_column(default="viewer", server_default="viewer")
    # acts for the scheduler, and cannot log in
    is_system: Mapped[bool] = mapped_column(default=False, server_default="false")
    disabled_at: Mapped[datetime | None]
    password_changed_at: Mapped[datetime | None]
    last_login_at: Mapped[datetime | None]
    preferences: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")  # core/preferences.py


class ApiKey(TenantRow, Base):
    """A key of a program. Only its prefix and its hash are stored."""

    __tablename__ = "api_key"
    __table_args__ = (UniqueConstraint("prefix"),)  # random; looked up before the tenant is known

    user_id: Mapped[UUID] = mapped_column(ForeignKey("user.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_hash: Mapped[str]
    scopes: Mapped[list[str]] = mapped_column(server_default="{}")
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
