"""Whose contact it is that somebody writes down: of the rows that are named, or of the web site of its address."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.errors import ScraperSkyError
from scrapersky.core.uuid7 import new_id
from scrapersky.extract.company_domain import CompanyDomain, InvalidWebsite, parse_website
from scrapersky.extract.emails.classify import FREE_DOMAINS, classify_email
from scrapersky.models import Domain, Page
from scrapersky.store.audit.record import Actor
from scrapersky.store.listing import paginate as lists
from scrapersky.store.listing.resources import BUSINESSES, DOMAINS, PAGES

OWNERS = {"domain_id": DOMAINS, "page_id": PAGES, "business_id": BUSINESSES}


class UnknownOwner(ScraperSkyError):
    """A row that the contact should belong to is not there."""

    status_code = 422

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.fields = (column,)


def employer_of(email: str | None) -> CompanyDomain | None:
    """The web site of an address that is no free-mail."""
    host = (email or "").rpartition("@")[2]
    if not host or host in FREE_DOMAINS:
        return None
    found = parse_website(host)
    return found if isinstance(found, CompanyDomain) else None


async def owned(session: AsyncSession, actor: Actor, written: Mapping[str, Any]) -> dict[str, Any]:
    """What was written, with the domain it belongs to and the kind of its address: as a page would have told it."""
    await _check_owners(session, actor, written)
    domain_id = written.get("domain_id") or await _domain_of(session, actor, written)
    more = {"email_kind": await email_kind(session, written["email"], domain_id)} if written.get("email") else {}
    return {**written, **more, "domain_id": domain_id}


async def email_kind(session: AsyncSession, email: str | None, domain_id: UUID | None) -> str | None:
    """Role, personal, free-mail, or of another domain than the contact's."""
    name = await session.scalar(select(Domain.name).where(Domain.id == domain_id)) if domain_id else None
    return classify_email(email, name or "") if email else None


async def _check_owners(session: AsyncSession, actor: Actor, written: Mapping[str, Any]) -> None:
    """A foreign key sees every tenant's rows; people see their own."""
    for column, noun in OWNERS.items():
        if (owner := written.get(column)) is not None:
            try:
                await lists.get(session, noun, actor.tenant_id, owner)
            except lists.UnknownRow as error:
                raise UnknownOwner(str(error), column) from None


async def _domain_of(session: AsyncSession, actor: Actor, written: Mapping[str, Any]) -> UUID | None:
    """The domain of its page, or that of its address, made if it is not there."""
    if (page_id := written.get("page_id")) is not None:
        found: UUID | None = await session.scalar(select(Page.domain_id).where(Page.id == page_id))
        return found
    try:
        site = employer_of(written.get("email"))
    except InvalidWebsite:
        return None
    return await _domain(session, actor, site) if site else None


async def _domain(session: AsyncSession, actor: Actor, site: CompanyDomain) -> UUID:
    columns = {"name": site.name, "unicode_name": site.unicode_name, "start_url": f"https://{site.name}/"}
    made = insert(Domain).values(id=new_id(), tenant_id=actor.tenant_id, **columns)
    known = made.on_conflict_do_update(
        index_elements=["tenant_id", "name"], set_={"start_url": func.coalesce(Domain.start_url, columns["start_url"])}
    )
    domain_id: UUID = (await session.scalars(known.returning(Domain.id))).one()
    return domain_id
