"""A little line of rows for the tests of the nouns: one search, its place, business, domain, sitemap, page, contact."""

import json
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

# Columns that the program reads.
WITH_A_FORM = ("rules", "evidence_rank", "fact_ranks", "sources", "area_request", "area_found")
SINGULAR = {"searches": "search", "businesses": "business"}  # others lose their s


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


async def fill_line(admin: Any, ids: dict[str, str], text: str, url: str) -> None:
    """Write this text into every column of text, lists or JSON of the rows of `add_line`, and into their audit."""
    nested = json.dumps({text: text, "url": url, "list": [text, text], "inner": {text: text, "url": url}})
    values = {"text": text, "ARRAY": [text, text], "jsonb": nested}
    for noun, row_id in ids.items():
        table = TABLES[noun]
        columns = await admin.fetch(
            "SELECT column_name, data_type FROM information_schema.columns c WHERE table_name = $1 "
            "AND data_type IN ('text', 'ARRAY', 'jsonb') AND is_generated = 'NEVER' AND column_name <> ALL ($2) "
            "AND NOT EXISTS (SELECT FROM information_schema.constraint_column_usage u "
            "JOIN information_schema.check_constraints USING (constraint_name) "
            "WHERE u.table_name = c.table_name AND u.column_name = c.column_name)",
            table,
            list(WITH_A_FORM),
        )
        for column, kind in columns:
            is_url = "url" in column or column == "website"
            await admin.execute(
                f"UPDATE {table} SET {column} = $1 WHERE id = $2", url if is_url else values[kind], UUID(row_id)
            )
        await admin.execute(
            "INSERT INTO audit (tenant_id, actor, origin, action, subject, before, after) "
            f"SELECT tenant_id, $1, 'api', 'change', $2, $3, $3 FROM {table} WHERE id = $4",
            text,
            f"{SINGULAR.get(noun, noun[:-1])} {row_id}",
            nested,
            UUID(row_id),
        )
    source = json.dumps({name: {"url": url, "snippet": text, "found_by": text} for name in ("name", "phone", "title")})
    await admin.execute("UPDATE contact SET sources = $1 WHERE id = $2", source, UUID(ids["contacts"]))
    found = json.dumps([{"name": text, "label": text, "edges": [60.1, 24.8, 60.3, 25.2]}])
    await admin.execute("UPDATE search SET area_found = $1 WHERE id = $2", found, UUID(ids["searches"]))
