"""The leads of a search, streamed for a file or read page by page: one row per business or one per contact."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import BadRequest
from scrapersky.core.vocabularies import JobFunction, parse_functions
from scrapersky.store.leads.business_row import business_row
from scrapersky.store.leads.columns import BUSINESS_COLUMNS, CONTACT_COLUMNS
from scrapersky.store.leads.statements import FILES, PAGES

Per = Literal["business", "contact"]


class UnknownFunction(BadRequest):
    """There is no such function."""

    status_code = 422
    fields = ("prefer",)


def preferred_functions(given: str | None, default: str) -> tuple[JobFunction, ...]:
    """Return the functions that were given, else those of the setting. Raises UnknownFunction with the choices."""
    try:
        return parse_functions(default if given is None else given)
    except ValueError as error:
        raise UnknownFunction(f"prefer {error}.") from None


LOWEST_ID = UUID(int=0)


@dataclass(frozen=True)
class Position:
    """The position of a row in the list of leads: the part, and the two ids that order the rows of that part."""

    part: int = 0
    key: UUID = LOWEST_ID
    subkey: UUID = LOWEST_ID


def columns_of(per: Per) -> Mapping[str, str]:
    """Return the columns of a file with one row per business or per contact, each with its meaning."""
    return BUSINESS_COLUMNS if per == "business" else CONTACT_COLUMNS


async def leads(
    session: AsyncSession, search_id: UUID, per: Per = "business", preferred: Sequence[str] = ()
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the rows of a search from a server-side cursor, in the order of a file.

    `preferred` are the functions whose contacts are the best, such as marketing.
    """
    for part, statement in enumerate(FILES[per]):
        result = await session.stream(statement, {"search": search_id})
        async for row in result.mappings():
            yield _lead(row, part, preferred)[0]


async def page(
    session: AsyncSession, search_id: UUID, per: Per, after: Position, max_rows: int, preferred: Sequence[str] = ()
) -> list[tuple[dict[str, Any], Position]]:
    """Return up to `max_rows` rows after a position, each with its own position, so that no row comes twice."""
    found: list[tuple[dict[str, Any], Position]] = []
    for part, statement in enumerate(PAGES[per]):
        if part < after.part or len(found) == max_rows:
            continue
        start = after if part == after.part else Position(part)
        values = {"search": search_id, "key": start.key, "subkey": start.subkey, "max_rows": max_rows - len(found)}
        found += [_lead(row, part, preferred) for row in (await session.execute(statement, values)).mappings()]
    return found


def _lead(row: RowMapping, part: int, preferred: Sequence[str]) -> tuple[dict[str, Any], Position]:
    lead: dict[str, Any] = {**row}
    position = Position(part, lead.pop("list_key"), lead.pop("list_subkey"))
    return business_row(lead, preferred) if "contacts" in lead else lead, position
