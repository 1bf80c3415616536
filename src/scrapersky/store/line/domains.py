"""Queries about domains and the businesses that own them."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.uuid7 import new_id
from scrapersky.core.vocabularies import REJECTED
from scrapersky.extract.company_domain import CompanyDomain
from scrapersky.extract.site_results import SiteMetadata
from scrapersky.models import BusinessDomain, Domain, LocalBusiness
from scrapersky.store.contacts import from_provider


async def link(session: AsyncSession, found: Sequence[tuple[LocalBusiness, CompanyDomain]]) -> dict[UUID, UUID | None]:
    """Insert or update the domains, link each business to its own; return those not rejected, with their searches."""
    if not found:
        return {}
    tenant_id = found[0][0].tenant_id
    by_name = {domain.name: domain for _, domain in found}
    owners = {domain.name: business for business, domain in found}
    statement = insert(Domain).values(
        [
            {
                "id": new_id(),
                "tenant_id": tenant_id,
                "name": domain.name,
                "unicode_name": domain.unicode_name,
                "start_url": domain.start_url,
                "country": owners[domain.name].country,
                "search_id": owners[domain.name].search_id,
            }
            for _, domain in sorted(by_name.items())  # one lock order for all hosts prevents deadlocks
        ]
    )
    rows = await session.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "name"],
            set_={
                "start_url": func.coalesce(Domain.start_url, statement.excluded.start_url),
                "country": func.coalesce(Domain.country, statement.excluded.country),
                "search_id": func.coalesce(statement.excluded.search_id, Domain.search_id),
            },
        ).returning(Domain.name, Domain.id, Domain.search_id, Domain.curation_status)
    )
    stored = rows.all()
    ids: dict[str, UUID] = {row.name: row.id for row in stored}
    links = insert(BusinessDomain).values(
        [
            {"business_id": business.id, "domain_id": ids[domain.name], "tenant_id": tenant_id, "url": domain.url}
            for business, domain in found
        ]
    )
    await session.execute(
        links.on_conflict_do_update(index_elements=["business_id", "domain_id"], set_={"url": links.excluded.url})
    )
    await from_provider.move_to_domains(session, [(business.id, ids[domain.name]) for business, domain in found])
    wanted = {domain.name for business, domain in found if business.curation_status not in REJECTED}
    return {row.id: row.search_id for row in stored if row.curation_status not in REJECTED and row.name in wanted}


def describe(domain: Domain, final_url: str, status: int, redirects: Sequence[str], found: SiteMetadata) -> None:
    """Write the metadata of the home page into the columns of the domain."""
    domain.final_url, domain.http_status, domain.hidden_reason = final_url, status, found.contacts.hidden
    domain.title, domain.description = found.title or None, found.description or None
    domain.language, domain.favicon, domain.logo = found.language or None, found.favicon or None, found.logo or None
    domain.generator = " ".join(part for part in (found.cms, found.cms_version) if part) or found.generator or None
    domain.technologies = [technology.name for technology in found.technologies]
    domain.facts = {
        "redirects": list(redirects),
        "https": final_url.startswith("https://"),
        "site_name": found.site_name,
        "languages": list(found.languages),
        "contact_form": found.has_contact_form,
        "emails": [email.address for email in found.contacts.emails],
        "phones": [phone.number for phone in found.contacts.phones],
        "socials": {social.platform: social.url for social in found.contacts.socials},
        "organisation": asdict(found.organisation) if found.organisation else None,
    }
