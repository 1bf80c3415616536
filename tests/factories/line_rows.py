"""A little line of rows for the tests of the nouns: one search, its place, business, domain, sitemap, page, contact."""

from typing import Any
from uuid import UUID, uuid4

NOUNS = ("places", "businesses", "domains", "sitemaps", "pages", "contacts")
TABLES = {
    "searches": "search",
    "places": "place",
    "businesses": "local_business",
    "domains": "domain",
    "sitemaps": "sitemap_file",
    "pages": "page",
    "contacts": "contact",
    "jobs": "job",
}


async def add(admin: Any, table: str, tenant: UUID, **columns: Any) -> str:
    """One row; its id."""
    columns = {"tenant_id": tenant, **columns}
    places = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    return str(
        await admin.fetchval(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) RETURNING id", *columns.values()
        )
    )


async def add_line(admin: Any, tenant: UUID, name: str = "molar") -> dict[str, str]:
    """One row of every noun, linked as the line links them; the ids by noun."""
    search = await add(admin, "search", tenant, text="dentists", area="Helsinki", provider="fake")
    place = await add(
        admin,
        "place",
        tenant,
        search_id=UUID(search),
        provider="fake",
        provider_id=str(uuid4()),
        name=f"{name.title()} Dental",
        website=f"https://{name}.fi/",
    )
    await admin.execute(
        "INSERT INTO search_place (search_id, place_id, tenant_id) VALUES ($1, $2, $3)", search, place, tenant
    )
    business = await add(
        admin,
        "local_business",
        tenant,
        search_id=UUID(search),
        place_id=UUID(place),
        name=f"{name.title()} Dental",
        website=f"https://{name}.fi/",
    )
    domain = await add(admin, "domain", tenant, search_id=UUID(search), name=f"{name}.fi")
    await admin.execute(
        "INSERT INTO business_domain (business_id, domain_id, tenant_id) VALUES ($1, $2, $3)", business, domain, tenant
    )
    sitemap = await add(
        admin, "sitemap_file", tenant, domain_id=UUID(domain), url=f"https://{name}.fi/sitemap.xml", kind="urlset"
    )
    page = await add(
        admin,
        "page",
        tenant,
        domain_id=UUID(domain),
        sitemap_file_id=UUID(sitemap),
        url=f"https://{name}.fi/contact",
        kind="contact",
    )
    contact = await add(
        admin,
        "contact",
        tenant,
        domain_id=UUID(domain),
        page_id=UUID(page),
        business_id=UUID(business),
        identity=f"email:anna@{name}.fi",
        email=f"anna@{name}.fi",
        name="Anna Molar",
    )
    ids = (search, place, business, domain, sitemap, page, contact)
    return dict(zip(("searches", *NOUNS), ids, strict=True))
