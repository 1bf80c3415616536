"""Whether the code runs on the schema of the database."""

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.schema.migrations import BLOCKING_REVISION


async def blocking(session: AsyncSession, code_revision: str) -> str | None:
    """Return the applied revision that the code of this revision cannot run on, or None."""
    revision: str | None = await session.scalar(BLOCKING_REVISION, {"head": code_revision})
    return revision
