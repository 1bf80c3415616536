"""The rows that a row was made from, and those that were made from it, in one query."""

from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

SHOWN = 20  # rows of each resource; its list has all of them

# The ids of the related rows of each resource, in the order in which the queries depend on each other; `:id` is the
# row itself.
_OF_DOMAINS = {
    "sitemaps": "SELECT id FROM sitemap_file WHERE domain_id IN (SELECT id FROM domains) LIMIT :limit",
    "pages": "SELECT id FROM page WHERE domain_id IN (SELECT id FROM domains) LIMIT :limit",
    "contacts": "SELECT id FROM contact WHERE domain_id IN (SELECT id FROM domains) LIMIT :limit",
}
_BEHIND_DOMAINS = {
    "businesses": "SELECT business_id AS id FROM business_domain WHERE domain_id IN (SELECT id FROM domains)",
    "places": "SELECT place_id AS id FROM local_business WHERE id IN (SELECT id FROM businesses)",
    "searches": "SELECT search_id AS id FROM search_place WHERE place_id IN (SELECT id FROM places) "
    "UNION SELECT search_id FROM search_domain WHERE domain_id IN (SELECT id FROM domains)",
}
_DOMAINS = "SELECT domain_id AS id FROM business_domain WHERE business_id IN (SELECT id FROM businesses)"
_OF_BUSINESSES = (
    f"({_OF_DOMAINS['contacts']}) UNION (SELECT id FROM contact WHERE domain_id IS NULL "  # noqa: S608 - our own words
    "AND business_id IN (SELECT id FROM businesses) LIMIT :limit)"
)
_RELATED_IDS: dict[str, dict[str, str]] = {
    "places": {
        "searches": "SELECT search_id AS id FROM search_place WHERE place_id = :id",
        "businesses": "SELECT id FROM local_business WHERE place_id = :id",
        "domains": _DOMAINS,
        **_OF_DOMAINS,
        "contacts": _OF_BUSINESSES,
    },
    "businesses": {
        "businesses": "SELECT cast(:id AS uuid) AS id",
        "places": _BEHIND_DOMAINS["places"],
        "searches": "SELECT search_id AS id FROM search_place WHERE place_id IN (SELECT id FROM places) "
        "UNION SELECT search_id FROM search_business WHERE business_id = :id",
        "domains": _DOMAINS,
        **_OF_DOMAINS,
        "contacts": _OF_BUSINESSES,
    },
    "domains": {"domains": "SELECT cast(:id AS uuid) AS id", **_BEHIND_DOMAINS, **_OF_DOMAINS},
    "sitemaps": {
        "domains": "SELECT domain_id AS id FROM sitemap_file WHERE id = :id",
        **_BEHIND_DOMAINS,
        "pages": "SELECT id FROM page WHERE sitemap_file_id = :id LIMIT :limit",
        "contacts": "SELECT c.id FROM contact c JOIN page p ON p.id = c.page_id WHERE p.sitemap_file_id = :id "
        "LIMIT :limit",
    },
    "pages": {
        "sitemaps": "SELECT sitemap_file_id AS id FROM page WHERE id = :id",
        "domains": "SELECT domain_id AS id FROM page WHERE id = :id",
        **_BEHIND_DOMAINS,
        "contacts": "SELECT id FROM contact WHERE page_id = :id LIMIT :limit",
    },
    "contacts": {
        "pages": "SELECT page_id AS id FROM contact WHERE id = :id",
        "sitemaps": "SELECT sitemap_file_id AS id FROM page WHERE id IN (SELECT id FROM pages)",
        "domains": "SELECT domain_id AS id FROM contact WHERE id = :id",
        **_BEHIND_DOMAINS,
        "businesses": "SELECT business_id AS id FROM business_domain WHERE domain_id IN (SELECT id FROM domains) "
        "UNION SELECT business_id FROM contact WHERE id = :id",
        "searches": "SELECT search_id AS id FROM search_place WHERE place_id IN (SELECT id FROM places) "
        "UNION SELECT search_id FROM search_domain WHERE domain_id IN (SELECT id FROM domains) "
        "UNION SELECT search_id FROM search_contact WHERE contact_id = :id",
    },
}
TABLES = {
    "searches": (
        "search",
        r"coalesce(t.name, concat_ws(' in ', regexp_replace(t.text, '; [0-9a-f]{12}\)$', ')'), t.area))",
    ),
    "places": ("place", "t.name"),
    "businesses": ("local_business", "t.name"),
    "domains": ("domain", "t.name"),
    "sitemaps": ("sitemap_file", "t.url"),
    "pages": ("page", "t.url"),
    "contacts": ("contact", "coalesce(t.name, t.email, t.phone, t.fax, t.address, t.identity)"),
}


@dataclass
class RelatedResource:
    """The related rows of one resource: the first few, and whether there are more."""

    rows: list[tuple[UUID, str]] = field(default_factory=list)
    more: bool = False


async def related_rows(session: AsyncSession, resource: str, row_id: UUID) -> dict[str, RelatedResource]:
    """Return the related rows of each resource, in the order of the line."""
    found = {name: RelatedResource() for name in TABLES if name in _RELATED_IDS[resource] and name != resource}
    for related, related_id, name in await session.execute(_STATEMENTS[resource], {"id": row_id, "limit": SHOWN + 1}):
        if len(found[related].rows) < SHOWN:
            found[related].rows.append((related_id, name))
        else:
            found[related].more = True
    return found


def _statement(resource: str) -> str:
    parts = _RELATED_IDS[resource]
    ids = ", ".join(f"{name} AS ({query})" for name, query in parts.items())
    shown = " UNION ALL ".join(
        f"(SELECT '{name}', t.id, {label} FROM {table} t WHERE t.id IN (SELECT id FROM {name}) "  # noqa: S608
        "ORDER BY t.id LIMIT :limit)"
        for name, (table, label) in TABLES.items()
        if name in parts and name != resource
    )
    return f"WITH {ids} {shown}"


_STATEMENTS = {resource: text(_statement(resource)) for resource in _RELATED_IDS}
