"""Named queries about domains and the businesses behind them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.core.ids import new_id
from scrapersky.extract.web_address import CompanyDomain
from scrapersky.models import BusinessDomain, Domain, LocalBusiness


async def link(session: AsyncSession, found: Sequence[tuple[LocalBusiness, CompanyDomain]]) -> list[UUID]:
    """Make sure each domain exists once and each business is linked to its own; the ids of the domains."""
    if not found:
        return []
    tenant_id = found[0][0].tenant_id
    by_name = {domain.name: domain for _, domain in found}
    statement = insert(Domain).values(
        [
            {
                "id": new_id(),
                "tenant_id": tenant_id,
                "name": domain.name,
                "unicode_name": domain.unicode_name,
                "start_url": domain.url,
            }
            for _, domain in sorted(by_name.items())  # one order for all hosts: two of them never wait for each other
        ]
    )
    rows = await session.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "name"],
            set_={"start_url": func.coalesce(Domain.start_url, statement.excluded.start_url)},
        ).returning(Domain.name, Domain.id)
    )
    ids: dict[str, UUID] = {row.name: row.id for row in rows}
    links = insert(BusinessDomain).values(
        [
            {"business_id": business.id, "domain_id": ids[domain.name], "tenant_id": tenant_id, "url": domain.url}
            for business, domain in found
        ]
    )
    await session.execute(
        links.on_conflict_do_update(index_elements=["business_id", "domain_id"], set_={"url": links.excluded.url})
    )
    return list(ids.values())
