"""Statements that store the contacts found on pages: each contact once per domain, whichever page names it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple
from uuid import UUID

import asyncpg
from sqlalchemy import ARRAY, Uuid, any_, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import BY_PROVIDER, REJECTED, Status, Verdict
from scrapersky.engine.settle import driver_connection
from scrapersky.extract.emails.deliverability import Verification
from scrapersky.extract.results import Contacts
from scrapersky.models import BusinessDomain, Contact, LocalBusiness, Page, SearchDomain, SearchRun
from scrapersky.store.contacts import same_person
from scrapersky.store.contacts.erased_filter import without_erased
from scrapersky.store.contacts.row_merge import RowMerge
from scrapersky.store.contacts.rows import (
    COLUMNS,
    INSERT,
    RANKED_FIELDS,
    Row,
    arrays_of,
    contact_rows,
    evidence_rank,
)
from scrapersky.store.privacy import suppressions
from scrapersky.store.steps import not_rejected

# A contact that several pages of a site name is written once in this time, and in each run of a search, unless one of
# the pages gives more.
SEEN_VALIDITY = timedelta(minutes=10)
VERDICT_VALIDITY = timedelta(days=30)  # an address found again after that is verified again
UNKNOWN_VALIDITY = timedelta(hours=1)  # of the verdict `unknown`: the name servers did not respond

Key = tuple[UUID, str]  # of a contact: its domain and its identity


@dataclass(frozen=True)
class PageContacts:
    """The contacts found on a page, and the URL at which the page was read in the end."""

    page: Page
    source_url: str
    found: Contacts


class Written(NamedTuple):
    """The ids of written contacts, as in Stored."""

    unverified: dict[Key, UUID]
    new_numbers: dict[Key, UUID]


@dataclass(frozen=True)
class Stored:
    """The number of contacts of a page, those whose address has no valid verdict, and new ones with a number only."""

    count: int
    unverified: tuple[UUID, ...] = ()
    new_numbers: tuple[UUID, ...] = ()


async def upsert(session: AsyncSession, pages: Sequence[PageContacts]) -> dict[UUID, Stored]:
    """Store the contacts of pages of one tenant, each once per domain; return the result by page id."""
    filled = [one for one in pages if one.found]
    if not filled:
        return {one.page.id: Stored(0) for one in pages}
    businesses, has_erasures, seen_since = await _context_of(session, [one.page for one in filled])
    rows: dict[UUID, list[Row]] = {one.page.id: [] for one in pages}
    for one in filled:
        found = await without_erased(session, one.page, one.found) if has_erasures else one.found
        rows[one.page.id] = _rows_of(one, found, businesses.get(one.page.domain_id))
    tenant_id = filled[0].page.tenant_id
    stored, written = await _store(session, tenant_id, list(chain.from_iterable(rows.values())), seen_since)
    of_page: dict[UUID, list[Row]] = {one.page.id: [] for one in pages}
    for row in stored:
        of_page[row["page_id"]].append(row)
    return {page_id: _stored(of_one, written) for page_id, of_one in of_page.items()}


async def confirm(session: AsyncSession, page_ids: Sequence[UUID]) -> None:
    """Mark the contacts of unchanged pages as seen now."""
    if page_ids:
        await session.execute(update(Contact).where(Contact.page_id.in_(page_ids)).values(seen_at=func.now()))


def set_verdict(contact: Contact, verification: Verification) -> None:
    """Set the verdict of a contact and its reasons; its curation stays."""
    contact.verdict, contact.verification = verification.verdict, verification.as_json()


def _rows_of(page: PageContacts, found: Contacts, business_id: UUID | None) -> list[Row]:
    common = {
        "domain_id": page.page.domain_id,
        "page_id": page.page.id,
        "business_id": business_id,
        "source_url": page.source_url,
    }
    rows = [{**row, **common, "id": new_id()} for row in contact_rows(found).values()]
    return [{**row, "evidence_rank": evidence_rank(row)} for row in rows]


async def _store(
    session: AsyncSession, tenant_id: UUID, rows: Sequence[Row], seen_since: datetime
) -> tuple[list[Row], Written]:
    """Write the rows; return them as they were stored, and the ids of those that a next step waits for."""
    driver = await driver_connection(session)
    written = Written({}, {})
    resolved = await same_person.resolve(driver, tenant_id, rows)
    for number, wave in enumerate(_waves(resolved.rows)):
        statement = _UPSERT_AGAIN if number else _UPSERT
        for stored in await driver.fetch(statement, tenant_id, *arrays_of(list(wave.values())), seen_since):
            key = (stored["domain_id"], stored["identity"])
            if _is_unverified(stored):
                written.unverified[key] = stored["id"]
            elif stored["is_new"] and stored["phone"] is not None and stored["email"] is None:
                written.new_numbers[key] = stored["id"]
    await same_person.merge(driver, tenant_id, resolved)
    return resolved.rows, written


def _waves(rows: Iterable[Row]) -> list[dict[Key, Row]]:
    """Divide the rows so that no statement touches a contact twice.

    The first wave has every contact, so it takes all locks, in one order for all processes.
    """
    waves: list[dict[Key, Row]] = []
    for row in rows:
        key = (row["domain_id"], row["identity"])
        wave = next((wave for wave in waves if key not in wave), None)
        if wave is None:
            waves.append(wave := {})
        wave[key] = row
    return waves


def _stored(rows: Sequence[Row], written: Written) -> Stored:
    keys = [(row["domain_id"], row["identity"]) for row in rows]
    return Stored(len(keys), *(tuple(ids[key] for key in keys if key in ids) for ids in written))


def _is_unverified(row: asyncpg.Record) -> bool:
    """Return whether a wanted contact has an email address without a valid verdict."""
    if row["email"] is None or row["suppressed_at"] is not None or row["curation_status"] in REJECTED:
        return False
    if row["status"] == Status.COMPLETED and row["checked_at"] and row["verdict"]:
        validity = UNKNOWN_VALIDITY if row["verdict"] == Verdict.UNKNOWN else VERDICT_VALIDITY
        return clock.now() - datetime.fromisoformat(row["checked_at"]) > validity
    had_no_address = row["verdict"] is None and row["status"] in (Status.COMPLETED, Status.SKIPPED)
    return bool(row["status"] == Status.NEW) or had_no_address


async def _context_of(session: AsyncSession, pages: Sequence[Page]) -> tuple[dict[UUID, UUID], bool, datetime]:
    """Return the business of each domain that has exactly one, whether the tenant has any erasure, and a time.

    Records of one business count as one; the one that is shown stands for all. A contact that was seen since the time
    need not be written to be seen again.
    """
    domain_ids = bindparam("domain_ids", [page.domain_id for page in pages], ARRAY(Uuid()))
    shown = func.coalesce(LocalBusiness.same_as_id, LocalBusiness.id)
    links = (
        select(BusinessDomain.domain_id, func.array_agg(shown).label("businesses"))
        .join(LocalBusiness, LocalBusiness.id == BusinessDomain.business_id)
        .where(BusinessDomain.domain_id == any_(domain_ids))
        .group_by(BusinessDomain.domain_id)
        .having(func.count(shown.distinct()) == 1)
    )
    businesses = {row.domain_id: row.businesses[0] for row in await session.execute(links)}
    began = select(func.max(SearchRun.began_at)).join(SearchDomain, SearchDomain.search_id == SearchRun.search_id)
    began_at = began.where(SearchDomain.domain_id == any_(domain_ids)).scalar_subquery()
    seen_since = func.greatest(func.now() - SEEN_VALIDITY, began_at)
    context = select(suppressions.any_erasure(pages[0].tenant_id), seen_since.label("seen_since"))
    row = (await session.execute(context)).one()
    return businesses, bool(row[0]), row.seen_since


# The order in which pages are read does not matter: the rank decides. A page that is read again replaces what it gave
# before. A contact that the version before stored has no rank: it is replaced.
_MERGE = RowMerge("excluded", same_page="coalesce(known.page_id = excluded.page_id, false)")
# A page that names a mailbox and, elsewhere, its person gives two rows of one contact: the second replaces nothing.
_MERGE_AGAIN = RowMerge("excluded")

_IS_UNVERIFIED = f"""known.email IS NOT NULL AND known.contact_verification_status = '{Status.NEW.value}'
        AND known.suppressed_at IS NULL AND {not_rejected("known")}"""


def _upsert_statement(merge: RowMerge) -> str:
    """Build the statement that stores one wave.

    Its WHERE clause leaves a contact alone that was seen a moment ago, on another page or in an earlier wave, and that
    gets nothing new: an update writes thirty columns and many indexes. An address that is not queued for verification
    is not left alone: a person or a file may have given it a moment ago. The business of a provider's contact may be
    another branch than the page's.
    """
    return f"""{INSERT}
ORDER BY domain_id, identity COLLATE "C"
ON CONFLICT (tenant_id, domain_id, identity) DO UPDATE SET {merge.set_clause},
    business_id = CASE WHEN known.found_by = '{BY_PROVIDER}' AND {merge.replaces_evidence} THEN excluded.business_id
        ELSE coalesce(known.business_id, excluded.business_id) END, updated_at = now(), seen_at = now()
WHERE known.seen_at < ${len(COLUMNS) + 2}::timestamptz OR {merge.replaces_evidence}
    OR (known.business_id IS NULL AND excluded.business_id IS NOT NULL)
    OR (known.seen_at < now() AND {_IS_UNVERIFIED})
    OR {" OR ".join(map(merge.takes, RANKED_FIELDS))}
RETURNING id, domain_id, identity, email, phone, xmax = 0 AS is_new, curation_status, suppressed_at,
    contact_verification_status AS status, verification ->> 'verdict' AS verdict,
    verification ->> 'checked_at' AS checked_at"""


_UPSERT, _UPSERT_AGAIN = _upsert_statement(_MERGE), _upsert_statement(_MERGE_AGAIN)
