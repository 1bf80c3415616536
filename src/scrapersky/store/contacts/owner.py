"""The domain and the email kind of a contact that a person writes."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
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
    """The row that the contact should belong to does not exist."""

    status_code = 422

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.fields = (column,)


def employer_of(email: str | None) -> CompanyDomain | None:
    """Return the web site of an email address; None for free mail."""
    host = (email or "").rpartition("@")[2]
    if not host or host in FREE_DOMAINS:
        return None
    found = parse_website(host)
    return found if isinstance(found, CompanyDomain) else None


async def with_owner(session: AsyncSession, actor: Actor, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with the domain that the contact belongs to and the kind of its email address.

    The domain is the given one, that of the page, or that of the email address. Raises UnknownOwner for an id that
    the tenant does not have.
    """
    await _check_owners(session, actor, values)
    domain_id = values.get("domain_id") or await _domain_of(session, actor, values)
    kind = {"email_kind": await email_kind(session, values["email"], domain_id)} if values.get("email") else {}
    return {**values, **kind, "domain_id": domain_id}


async def email_kind(session: AsyncSession, email: str | None, domain_id: UUID | None) -> str | None:
    """Return the kind of an email address of a contact of this domain."""
    name = await session.scalar(select(Domain.name).where(Domain.id == domain_id)) if domain_id else None
    return classify_email(email, name or "") if email else None


async def _check_owners(session: AsyncSession, actor: Actor, values: Mapping[str, Any]) -> None:
    """Raise UnknownOwner for an id of another tenant: a foreign key accepts the rows of every tenant."""
    for column, resource in OWNERS.items():
        if (owner := values.get(column)) is not None:
            try:
                await lists.get(session, resource, actor.tenant_id, owner)
            except lists.UnknownRow as error:
                raise UnknownOwner(str(error), column) from None


async def _domain_of(session: AsyncSession, actor: Actor, values: Mapping[str, Any]) -> UUID | None:
    """Return the domain of the page, or that of the email address, which is created if it does not exist."""
    if (page_id := values.get("page_id")) is not None:
        found: UUID | None = await session.scalar(select(Page.domain_id).where(Page.id == page_id))
        return found
    try:
        site = employer_of(values.get("email"))
    except InvalidWebsite:
        return None
    return await _domain(session, actor, site) if site else None


async def _domain(session: AsyncSession, actor: Actor, site: CompanyDomain) -> UUID:
    columns = {"name": site.name, "unicode_name": site.unicode_name}
    new = insert(Domain).values(id=new_id(), tenant_id=actor.tenant_id, **columns)
    upsert = new.on_conflict_do_update(index_elements=["tenant_id", "name"], set_={"name": site.name})
    domain_id: UUID = (await session.scalars(upsert.returning(Domain.id))).one()
    return domain_id
