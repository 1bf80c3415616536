"""Splitting a contact that reading pages has put together from several pages."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core import clock
from scrapersky.core.contact_fields import BY_HAND, EVIDENCE, NAME_PARTS
from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.uuid7 import new_id
from scrapersky.models import Contact
from scrapersky.store.audit import record as audit
from scrapersky.store.audit.record import Actor
from scrapersky.store.contacts.automatic_merges import free_identity, release
from scrapersky.store.contacts.edit import ContactMerged, audited, by_ids, flush, get
from scrapersky.store.contacts.rows import RANKED_FIELDS, person_identity
from scrapersky.store.contacts.value_sources import Source, value_sources
from scrapersky.store.privacy import suppressions

KEPT = ("name", "email")  # both parts have the name; the address is what the contact is known by


class NothingToSplit(ScraperSkyError):
    """This contact was not put together from several pages."""

    status_code = 422


async def split(session: AsyncSession, actor: Actor, contact_id: UUID) -> list[Contact]:
    """Split a contact into what the page of its address gives and what other pages give; return both parts.

    Both keep the name. Reading pages does not merge them again.
    """
    await suppressions.lock_tenant(session, actor.tenant_id)
    contact = await get(session, actor, contact_id, lock=True)
    if contact.merged_into_id is not None:
        raise ContactMerged(contact.merged_into_id)
    before = audited(contact)
    sources = value_sources({name: getattr(contact, name) for name in (*RANKED_FIELDS, *EVIDENCE, "sources")})
    moved = _from_other_pages(sources)
    released = await release(session, contact, is_separate=True) if contact.name else ()
    if not contact.name or not contact.email or not (moved or released):
        raise NothingToSplit("Change its fields instead, or create the other contact.")
    parts = [*(await by_ids(session, actor.tenant_id, released)).values()] or [
        await _added_part(session, contact, moved)
    ]
    for name, source in moved.items():
        if getattr(parts[0], name) is None:
            setattr(parts[0], name, getattr(contact, name))
            parts[0].sources = {**(parts[0].sources or {}), name: source}
    _keep_own(contact, sources, moved)
    for one in (contact, *parts):
        await flush(session, one)
    _, after = audit.changed(before, audited(contact))
    await audit.record(
        session, actor, "split", f"contact {contact_id}", before, {**after, "parts": [str(one.id) for one in parts]}
    )
    return [contact, *parts]


def _from_other_pages(sources: Mapping[str, Source]) -> dict[str, Source]:
    """Return the sources of the values that are not from the page of the address."""
    own = sources.get("email", {}).get("url")
    return {
        name: source
        for name, source in sources.items()
        if name not in KEPT and source.get("url") != own and source.get("found_by") != BY_HAND
    }


async def _added_part(session: AsyncSession, contact: Contact, moved: Mapping[str, Source]) -> Contact:
    """Add a contact for the values from other pages; its evidence is that of the first of them."""
    evidence, *_ = moved.values()
    part = Contact(
        id=new_id(),
        tenant_id=contact.tenant_id,
        domain_id=contact.domain_id,
        business_id=contact.business_id,
        **{name: getattr(contact, name) for name in ("name", *NAME_PARTS)},
        **{name: getattr(contact, name) for name, source in moved.items() if source == evidence},
        **_evidence(evidence),
        is_separate=True,
    )
    part.identity = await free_identity(session, part, person_identity(contact.name or ""))
    session.add(part)
    return part


def _keep_own(contact: Contact, sources: Mapping[str, Source], moved: Mapping[str, Any]) -> None:
    """Remove the moved values; the evidence of the contact is that of its address."""
    for name in moved:
        setattr(contact, name, None)
    for name, value in _evidence(sources["email"]).items():
        setattr(contact, name, value)
    by_hand = {name: source for name, source in (contact.sources or {}).items() if source.get("found_by") == BY_HAND}
    contact.sources, contact.fact_ranks = by_hand or None, None
    contact.is_separate, contact.edited_at = True, clock.now()


def _evidence(source: Source) -> dict[str, Any]:
    return {
        "source_url": source.get("url"),
        **{name: source.get(name) for name in ("snippet", "found_by", "confidence")},
    }
