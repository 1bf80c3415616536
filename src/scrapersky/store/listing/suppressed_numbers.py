"""Whether the phone numbers of places and businesses are suppressed, for the rows of a list."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

FIELD = "phone_suppressed"  # of a row


async def phones(session: AsyncSession, rows: Sequence[Any]) -> dict[UUID, dict[str, bool]]:
    """Return whether the phone number of each row is suppressed, by the id of the row, with one statement."""
    wanted = sorted({row.phone for row in rows if row.phone})
    found = set(await session.scalars(_SUPPRESSED, {"phones": wanted})) if wanted else set()
    return {row.id: {FIELD: row.phone in found} for row in rows}


_SUPPRESSED = text("""
SELECT given.phone FROM unnest(cast(:phones AS text[])) AS given(phone)
WHERE EXISTS (SELECT FROM suppression s WHERE s.kind = 'phone' AND s.value_hash = sha256_hex(given.phone))""")
