"""What a search is for: one row per business with its best contacts, or one per contact, streamed."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.leads.columns import BUSINESS_COLUMNS, CONTACT_COLUMNS
from scrapersky.store.leads.sql import FILES, PAGES

Per = Literal["business", "contact"]
NOTHING = UUID(int=0)  # comes before every id


@dataclass(frozen=True)
class Position:
    """A place in the list of results: its part, then what that part is sorted by."""

    part: int = 0
    key: UUID = NOTHING
    subkey: UUID = NOTHING


def columns_of(per: Per) -> Mapping[str, str]:
    """The columns of a file with one row per business or per contact."""
    return BUSINESS_COLUMNS if per == "business" else CONTACT_COLUMNS


async def leads(session: AsyncSession, search_id: UUID, per: Per = "business") -> AsyncIterator[dict[str, Any]]:
    """The rows of a search by a server-side cursor, in a stable order."""
    for statement in FILES[per]:
        result = await session.stream(statement, {"search": search_id})
        async for row in result.mappings():
            yield dict(row)


async def page(
    session: AsyncSession, search_id: UUID, per: Per, after: Position, most: int
) -> list[tuple[dict[str, Any], Position]]:
    """The rows after a place, each with its own: whatever comes while somebody reads, no row comes twice."""
    found: list[tuple[dict[str, Any], Position]] = []
    for part, statement in enumerate(PAGES[per]):
        if part < after.part or len(found) == most:
            continue
        start = after if part == after.part else Position(part)
        place = {"key": start.key, "subkey": start.subkey, "most": most - len(found)}
        for row in (await session.execute(statement, {"search": search_id, **place})).mappings():
            lead = dict(row)
            found.append((lead, Position(part, lead.pop("list_key"), lead.pop("list_subkey"))))
    return found
