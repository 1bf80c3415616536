"""Named queries about contacts: each once per domain, whatever page or run it comes from."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Row, Uuid, and_, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.dml import ReturningInsert

from scrapersky.core import clock
from scrapersky.core.ids import new_id
from scrapersky.core.status import Curation, Status, Verdict
from scrapersky.extract.email_verdict import Verification
from scrapersky.extract.found import Contacts
from scrapersky.models import BusinessDomain, Contact, Page
from scrapersky.store import forgotten, suppressions

# Filled in by whoever knows; what an earlier page knew and this one does not is kept. What the same page says now, or
# a page that is surer, takes the place of what was known; what a person wrote stays.
FACTS = ("name", "title", "email", "email_kind", "phone", "fax", "profiles", "address")
EVIDENCE = ("page_id", "source_url", "snippet", "found_by")
UNWANTED = (Curation.NOT_A_FIT, Curation.ARCHIVED)
VERDICT_HOLDS = timedelta(days=30)  # an address that is seen again later than that is verified again
SILENCE_HOLDS = timedelta(hours=1)  # where the name servers said nothing: they may have been away from us


@dataclass(frozen=True)
class Stored:
    """How many contacts a page has, and which of them have an address that nobody has verified."""

    count: int
    unverified: tuple[UUID, ...] = ()


def _upsert() -> ReturningInsert[Any]:
    """Each contact once per domain; made once, and of the table: so it is compiled once for any number of rows."""
    table: Any = Contact.__table__
    statement = insert(table)
    known, new = table.c, statement.excluded
    same = known.page_id == new.page_id
    surer = func.coalesce(new.confidence, 0) > func.coalesce(known.confidence, 0)
    fresh = and_(known.edited_at.is_(None), or_(same, surer))
    return statement.on_conflict_do_update(
        index_elements=["tenant_id", "domain_id", "identity"],
        set_={
            **{fact: _kept(fresh, known[fact], new[fact]) for fact in FACTS},
            **{part: case((fresh, new[part]), else_=known[part]) for part in EVIDENCE},
            "confidence": case((fresh, new.confidence), else_=known.confidence),
            "business_id": func.coalesce(known.business_id, new.business_id),
            "updated_at": func.now(),
            "seen_at": func.now(),
        },
    ).returning(
        known.id,
        known.email,
        known.curation_status,
        known.suppressed_at,
        known.contact_verification_status.label("status"),
        known.verification,
    )


def _kept(fresh: Any, known: Any, new: Any) -> Any:
    return case((fresh, func.coalesce(new, known)), else_=func.coalesce(known, new))


_UPSERT = _upsert()


async def upsert(session: AsyncSession, page: Page, source_url: str, found: Contacts) -> Stored:
    """Store what a page said, as one contact per address, number, profile or person."""
    if not found:
        return Stored(0)
    business_id, has_erasures = await _known_of(session, page)
    rows = contact_rows(await forgotten.left_out(session, page, found) if has_erasures else found)
    if not rows:
        return Stored(0)
    common = {
        "tenant_id": page.tenant_id,
        "domain_id": page.domain_id,
        "page_id": page.id,
        "business_id": business_id,
        "source_url": source_url,
    }
    blank = dict.fromkeys((*FACTS, *EVIDENCE), None)
    values = [{**blank, **row, **common, "id": new_id()} for _, row in sorted(rows.items())]
    stored = await session.execute(_UPSERT, values)
    return Stored(len(rows), tuple(row.id for row in stored if _is_unverified(row)))


async def confirm(session: AsyncSession, page: Page) -> None:
    """The page has not changed: what was found on it is still there."""
    await session.execute(update(Contact).where(Contact.page_id == page.id).values(seen_at=func.now()))


def keep_verdict(contact: Contact, verification: Verification) -> None:
    """Write the verdict down; what a person has decided about the contact stays."""
    contact.verdict, contact.verification = verification.verdict, verification.as_json()


def _is_unverified(row: Row[Any]) -> bool:
    """Whether it has an address to verify, which nobody has turned down and no verdict still holds for."""
    if row.email is None or row.suppressed_at is not None or row.curation_status in UNWANTED:
        return False
    if row.status == Status.COMPLETED and row.verification:
        holds = SILENCE_HOLDS if row.verification.get("verdict") == Verdict.UNKNOWN else VERDICT_HOLDS
        return clock.now() - datetime.fromisoformat(row.verification["checked_at"]) > holds
    return bool(row.status == Status.NEW)


def contact_rows(found: Contacts) -> dict[str, dict[str, Any]]:
    """The contacts of a page by identity. A person with an address is that address's contact; the rest stand alone."""
    rows: dict[str, dict[str, Any]] = {}
    for email in found.emails:
        rows[f"email:{email.address}"] = {"email": email.address, "email_kind": email.kind, **_evidence(email)}
    owned_phones = set()
    for person in found.people:
        identity = f"email:{person.email}" if person.email else f"person:{person.name.casefold()}"
        owned_phones.add(person.phone)
        rows[identity] = {
            **_evidence(person),
            **rows.get(identity, {}),
            "name": person.name,
            "title": person.title or None,
            "phone": person.phone or None,
        }
        if person.email:
            rows[identity].setdefault("email", person.email)
    for phone in found.phones:
        if phone.number in owned_phones:
            continue
        column = "fax" if phone.kind == "fax" else "phone"
        rows.setdefault(f"{column}:{phone.number}", {column: phone.number, **_evidence(phone)})
    for social in found.socials:
        rows[f"social:{social.url}"] = {"profiles": {social.platform: social.url}, **_evidence(social)}
    for address in found.addresses:
        rows[f"address:{address.text.casefold()[:300]}"] = {"address": address.text, **_evidence(address)}
    return {identity: {**row, "identity": identity} for identity, row in rows.items()}


def _evidence(value: Any) -> dict[str, Any]:
    return {"snippet": value.snippet or None, "found_by": value.how, "confidence": value.confidence}


async def _known_of(session: AsyncSession, page: Page) -> tuple[UUID | None, bool]:
    """The business behind the domain, when there is exactly one; and whether the tenant has ever erased anybody."""
    links = select(BusinessDomain.business_id).where(BusinessDomain.domain_id == page.domain_id).limit(2)
    behind = func.array(links.scalar_subquery(), type_=ARRAY(Uuid())).label("businesses")
    row = (await session.execute(select(behind, suppressions.any_erasure(page.tenant_id)))).one()
    return row.businesses[0] if len(row.businesses) == 1 else None, row.has_erasures
