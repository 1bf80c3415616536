"""The revision of the database schema."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def current(session: AsyncSession) -> str | None:
    """Return the revision that the schema was migrated to."""
    revision: str | None = await session.scalar(text("SELECT version_num FROM alembic_version"))
    return revision
