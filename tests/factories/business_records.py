"""Records of businesses at providers, as a deep scan stores them."""

from typing import Any
from uuid import UUID

from tests.factories.line_rows import add

KALLIO: dict[str, Any] = {
    "name": "Kallio Bakery Oy",
    "phone": "+35891234567",
    "website": "https://www.kallio-bakery.fi/",
    "latitude": 60.1840,
    "longitude": 24.9500,
    "street": "Hämeentie 12",
    "postcode": "00530",
}


async def add_search(admin: Any, tenant: UUID, provider: str = "osm") -> UUID:
    """A search; its id."""
    return UUID(await add(admin, "search", tenant, text="bakeries", area="Helsinki", provider=provider))


async def add_record(admin: Any, tenant: UUID, search: UUID, provider: str, provider_id: str, **changed: Any) -> UUID:
    """A place and its business, both found by the search; the id of the business."""
    facts = {**KALLIO, **changed}
    of_place = {name: facts[name] for name in ("name", "phone", "website", "latitude", "longitude")}
    place = UUID(
        await add(admin, "place", tenant, search_id=search, provider=provider, provider_id=provider_id, **of_place)
    )
    await admin.execute(
        "INSERT INTO search_place (search_id, place_id, tenant_id) VALUES ($1, $2, $3)", search, place, tenant
    )
    return UUID(await add(admin, "local_business", tenant, search_id=search, place_id=place, **facts))


async def add_site(
    admin: Any, tenant: UUID, search: UUID, name: str, *businesses: UUID, emails: tuple[str, ...]
) -> UUID:
    """A web site that was read, of these businesses, with contacts; its id."""
    domain = UUID(
        await add(admin, "domain", tenant, search_id=search, name=name, final_url=f"https://{name}/", http_status=200)
    )
    for business in businesses:
        await admin.execute(
            "INSERT INTO business_domain (business_id, domain_id, tenant_id) VALUES ($1, $2, $3)",
            *(business, domain, tenant),
        )
    for email in emails:
        contact = {"identity": f"email:{email}", "email": email, "confidence": 0.9, "found_by": "mailto"}
        await add(admin, "contact", tenant, domain_id=domain, source_url=f"https://{name}/", **contact)
    return domain
