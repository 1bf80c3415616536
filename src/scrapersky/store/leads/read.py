"""What a search is for: one row per business with its best contacts, or one per contact, streamed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.leads.sql import FILES, PAGES

Per = Literal["business", "contact"]
NOTHING = UUID(int=0)  # comes before every id


@dataclass(frozen=True)
class Position:
    """A place in the list of results: its part, then what that part is sorted by."""

    part: int = 0
    key: UUID = NOTHING
    subkey: UUID = NOTHING


# The columns of a file of leads, in their order, and what each holds (docs/leads.md is made of this).
BUSINESS_COLUMNS = {
    "business": "name of the business; what its web site calls itself where only that is known",
    "website": "address of its web site, without parameters that only track visitors",
    "email": "the best address to write to: one that takes mail, a person's before a role's, the surest first",
    "email_kind": "role, personal, free-mail or other-domain",
    "verdict": "whether a letter would arrive: deliverable, risky, undeliverable or unknown",
    "verdict_reasons": "why so",
    "phone": "the best number, E.164",
    "person": "whose address it is; empty where nobody's name stands with it",
    "title": "what that person does there",
    "other_people": "other people of the business, as Name (title) and address in angle brackets; “; ” between them",
    "other_emails": "further addresses, separated by blanks",
    "other_phones": "further numbers, separated by blanks",
    "socials": "profiles, separated by blanks",
    "address": "postal address",
    "city": "city",
    "country": "country, two letters",
    "categories": "what kind of business the provider calls it",
    "status": "what the provider says of it: open, temporarily closed, permanently closed",
    "rating": "rating at the provider",
    "source": "page on which the best address was found; the provider's, where only that one knows it",
    "found_at": "day on which it was first found there, in UTC",
    "provider": "who named the place, and under which id",
    "domain": "registrable domain",
    "state": "why there is no contact, where there is none",
}
CONTACT_COLUMNS = {
    "business": "name of the business; what its web site calls itself where only that is known",
    "domain": "registrable domain",
    "name": "name of the person",
    "title": "what the person does there",
    "email": "address",
    "email_kind": "role, personal, free-mail or other-domain",
    "verdict": "whether a letter would arrive: deliverable, risky, undeliverable or unknown",
    "verdict_reasons": "why so",
    "phone": "number, E.164",
    "fax": "fax number, E.164",
    "profile": "address of a profile",
    "address": "postal address as the page writes it",
    "confidence": "how sure it is that this belongs to the business, 0 to 1",
    "found_by": "how it was found; “provider” where only whoever named the place knows it",
    "source": "page it was found on, or the provider's",
    "found_at": "day on which it was first found, in UTC",
    "snippet": "the text around it",
}


def columns_of(per: Per) -> dict[str, str]:
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
