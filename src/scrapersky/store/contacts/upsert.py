"""Named queries about contacts: each once per domain, whatever page or run it comes from."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import ARRAY, Uuid, any_, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import UNWANTED, Status, Verdict
from scrapersky.engine.settle import driver_connection
from scrapersky.extract.emails.deliverability import Verification
from scrapersky.extract.results import Contacts
from scrapersky.models import BusinessDomain, Contact, Page
from scrapersky.store.contacts import erased_filter
from scrapersky.store.contacts.from_page import contact_rows
from scrapersky.store.privacy import suppressions

# Filled in by whoever knows; what an earlier page knew and this one does not is kept. What the same page says now, or
# a page that is surer, takes the place of what was known, and any page that of a provider's word; what a person wrote
# stays.
FACTS = ("name", "title", "email", "email_kind", "phone", "fax", "profiles", "address")
EVIDENCE = ("page_id", "source_url", "snippet", "found_by", "confidence")
NAMES = ("id", "domain_id", "business_id", "identity", *FACTS, *EVIDENCE)
VERDICT_HOLDS = timedelta(days=30)  # an address that is seen again later than that is verified again
SILENCE_HOLDS = timedelta(hours=1)  # where the name servers said nothing: they may have been away from us

Row = dict[str, Any]
Key = tuple[UUID, str]  # of a contact: its domain and its identity


@dataclass(frozen=True)
class Said:
    """What a page said, and where it was in the end."""

    page: Page
    source_url: str
    found: Contacts


@dataclass(frozen=True)
class Stored:
    """How many contacts a page has, and which of them have an address that nobody has verified."""

    count: int
    unverified: tuple[UUID, ...] = ()


async def upsert(session: AsyncSession, said: Sequence[Said]) -> dict[UUID, Stored]:
    """Store what pages of one tenant said, each contact once per domain; what became of it by the page's id."""
    telling = [one for one in said if one.found]
    if not telling:
        return {one.page.id: Stored(0) for one in said}
    businesses, has_erasures = await _known_of(session, [one.page for one in telling])
    rows: dict[UUID, list[Row]] = {one.page.id: [] for one in said}
    for one in telling:
        found = await erased_filter.left_out(session, one.page, one.found) if has_erasures else one.found
        rows[one.page.id] = _rows_of(one, found, businesses.get(one.page.domain_id))
    unverified = await _store(session, telling[0].page.tenant_id, chain.from_iterable(rows.values()))
    return {page_id: _stored(of_page, unverified) for page_id, of_page in rows.items()}


async def confirm(session: AsyncSession, page_ids: Sequence[UUID]) -> None:
    """These pages have not changed: what was found on them is still there."""
    if page_ids:
        await session.execute(update(Contact).where(Contact.page_id.in_(page_ids)).values(seen_at=func.now()))


def keep_verdict(contact: Contact, verification: Verification) -> None:
    """Write the verdict down; what a person has decided about the contact stays."""
    contact.verdict, contact.verification = verification.verdict, verification.as_json()


def _rows_of(said: Said, found: Contacts, business_id: UUID | None) -> list[Row]:
    common = {
        "domain_id": said.page.domain_id,
        "page_id": said.page.id,
        "business_id": business_id,
        "source_url": said.source_url,
    }
    return [{**row, **common, "id": new_id()} for row in contact_rows(found).values()]


async def _store(session: AsyncSession, tenant_id: UUID, rows: Iterable[Row]) -> dict[Key, UUID]:
    """Write the rows; the ids of the unverified ones among them."""
    driver = await driver_connection(session)
    unverified: dict[Key, UUID] = {}
    for wave in _waves(rows):
        for stored in await driver.fetch(_UPSERT, tenant_id, *_columns(wave.values())):
            if _is_unverified(stored):
                unverified[stored["domain_id"], stored["identity"]] = stored["id"]
    return unverified


def _waves(rows: Iterable[Row]) -> list[dict[Key, Row]]:
    """A statement touches a contact once: what a second page says of it comes in a second one.

    The first wave names every contact there is, so it takes all locks, in the one order for all hosts.
    """
    waves: list[dict[Key, Row]] = []
    for row in rows:
        key = (row["domain_id"], row["identity"])
        wave = next((wave for wave in waves if key not in wave), None)
        if wave is None:
            waves.append(wave := {})
        wave[key] = row
    return waves


def _columns(wave: Iterable[Row]) -> list[list[Any]]:
    columns = {name: [row.get(name) for row in wave] for name in NAMES}
    columns["profiles"] = [value and json.dumps(value) for value in columns["profiles"]]
    return list(columns.values())


def _stored(rows: Sequence[Row], unverified: dict[Key, UUID]) -> Stored:
    keys = [(row["domain_id"], row["identity"]) for row in rows]
    return Stored(len(keys), tuple(unverified[key] for key in keys if key in unverified))


def _is_unverified(row: asyncpg.Record) -> bool:
    """Whether it has an address to verify, which nobody has turned down and no verdict still holds for."""
    if row["email"] is None or row["suppressed_at"] is not None or row["curation_status"] in UNWANTED:
        return False
    if row["status"] == Status.COMPLETED and row["checked_at"] and row["verdict"]:
        holds = SILENCE_HOLDS if row["verdict"] == Verdict.UNKNOWN else VERDICT_HOLDS
        return clock.now() - datetime.fromisoformat(row["checked_at"]) > holds
    had_no_address = row["verdict"] is None and row["status"] in (Status.COMPLETED, Status.SKIPPED)
    return bool(row["status"] == Status.NEW) or had_no_address


async def _known_of(session: AsyncSession, pages: Sequence[Page]) -> tuple[dict[UUID, UUID], bool]:
    """The business behind each domain that has exactly one; and whether the tenant has ever erased anybody."""
    domain_ids = bindparam("domain_ids", [page.domain_id for page in pages], ARRAY(Uuid()))
    links = (
        select(BusinessDomain.domain_id, func.array_agg(BusinessDomain.business_id).label("businesses"))
        .where(BusinessDomain.domain_id == any_(domain_ids))
        .group_by(BusinessDomain.domain_id)
        .having(func.count() == 1)
    )
    businesses = {row.domain_id: row.businesses[0] for row in await session.execute(links)}
    return businesses, bool(await session.scalar(select(suppressions.any_erasure(pages[0].tenant_id))))


def _kept(fact: str) -> str:
    return (
        f"{fact} = CASE WHEN {_FRESH} THEN coalesce(excluded.{fact}, known.{fact}) "
        f"ELSE coalesce(known.{fact}, excluded.{fact}) END"
    )


_TYPES = {"id": "uuid", "domain_id": "uuid", "business_id": "uuid", "page_id": "uuid", "confidence": "float8"}
_FRESH = (
    "(known.edited_at IS NULL AND (known.page_id = excluded.page_id OR known.found_by = 'provider' "
    "OR coalesce(excluded.confidence, 0) > coalesce(known.confidence, 0)))"
)
_FILLED = ("business_id", *FACTS)

# A contact that several pages of one transaction name alike is written once: it has thirty columns and many indexes.
_UPSERT = f"""
INSERT INTO contact AS known (tenant_id, {", ".join(NAMES)})
SELECT $1, {", ".join("profiles::jsonb" if name == "profiles" else name for name in NAMES)}
FROM unnest({", ".join(f"${n}::{_TYPES.get(name, 'text')}[]" for n, name in enumerate(NAMES, 2))})
    AS said({", ".join(NAMES)})
ORDER BY domain_id, identity COLLATE "C"
ON CONFLICT (tenant_id, domain_id, identity) DO UPDATE SET {", ".join(map(_kept, FACTS))},
    {", ".join(f"{part} = CASE WHEN {_FRESH} THEN excluded.{part} ELSE known.{part} END" for part in EVIDENCE)},
    business_id = coalesce(known.business_id, excluded.business_id), updated_at = now(), seen_at = now()
WHERE known.seen_at < now() OR {_FRESH}
    OR ({", ".join(f"coalesce(known.{name}, excluded.{name})" for name in _FILLED)})
        IS DISTINCT FROM ({", ".join(f"known.{name}" for name in _FILLED)})
RETURNING id, domain_id, identity, email, curation_status, suppressed_at, contact_verification_status AS status,
    verification ->> 'verdict' AS verdict, verification ->> 'checked_at' AS checked_at"""  # noqa: S608 - own names
