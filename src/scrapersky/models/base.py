"""What tables share: names of constraints, types of columns, and mixins for common columns."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Computed, DateTime, ForeignKey, MetaData, SmallInteger, Text, Uuid, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import Curation, HiddenReason, JoinedBy, Status, Verdict, WebsiteHow


class Base(DeclarativeBase):
    """The base class of all models; its metadata knows every table."""

    metadata = MetaData(
        naming_convention={
            "ix": "%(table_name)s_%(column_0_N_name)s",
            "uq": "%(table_name)s_%(column_0_N_name)s_key",
            "ck": "%(table_name)s_%(constraint_name)s",
            "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
            "pk": "%(table_name)s_pkey",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        UUID: Uuid(),
        str: Text(),
        Status: Text(),
        Curation: Text(),
        Verdict: Text(),
        WebsiteHow: Text(),
        HiddenReason: Text(),
        JoinedBy: Text(),
        dict[str, Any]: JSONB(none_as_null=True),
        list[Any]: JSONB(none_as_null=True),
        list[str]: ARRAY(Text()),
        list[int]: ARRAY(BigInteger()),
    }


class Identified:
    """A row with an id (a UUIDv7, in order of time) and the time it was created."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id, server_default=func.gen_random_uuid())
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class TenantRow(Identified):
    """A row that belongs to a tenant; row level security hides it from other tenants."""

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenant.id", ondelete="CASCADE"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class Named:
    """A row that is sorted and searched by name: in small letters, compared byte by byte, so that all servers agree."""

    name_key: Mapped[str | None] = mapped_column(
        Text(collation="C"), Computed("lower(left(name, 200))", persisted=True), deferred=True
    )


class Curated:
    """A row that a person curates. Its work has a priority: 0 is normal, higher is claimed sooner."""

    curation_status: Mapped[Curation] = mapped_column(default=Curation.NEW, server_default=Curation.NEW.value)
    priority: Mapped[int] = mapped_column(SmallInteger(), default=0, server_default="0")
