"""The record of leads that were in a file, for `exported=false`: only leads that no file had."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.leads.read import LeadQuery, leads

BATCH = 2_000

_RECORD = text("""
INSERT INTO exported_lead (lead_id, tenant_id, file)
SELECT DISTINCT lead_id, CAST(current_setting('app.tenant_id') AS uuid), :file
FROM unnest(CAST(:leads AS uuid[])) lead_id
ON CONFLICT DO NOTHING""")


async def recorded_leads(session: AsyncSession, query: LeadQuery, file: str) -> AsyncGenerator[dict[str, Any]]:
    """Yield the leads of a query, and record them as exported when the transaction is committed."""
    taken: list[UUID] = []
    async with aclosing(leads(session, query)) as rows:
        async for row in rows:
            if row["email"] or row["phone"]:  # a business without a contact may have one in the next file
                taken.append(_lead_id(row, query))
            yield row
            if len(taken) >= BATCH:
                await session.execute(_RECORD, {"leads": taken, "file": file})
                taken = []
    if taken:
        await session.execute(_RECORD, {"leads": taken, "file": file})


def _lead_id(row: dict[str, Any], query: LeadQuery) -> UUID:
    lead_id: UUID = row["contact_id"] if query.per == "contact" else row["business_id"] or row["domain_id"]
    return lead_id
