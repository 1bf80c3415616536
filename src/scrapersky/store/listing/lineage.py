"""Where a row comes from and what came of it: the rows before and after it on the line, in one query."""

from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

SHOWN = 20  # of each noun; whoever wants all of them asks its list

# The ids of each noun around a row, in the order in which they need one another. `:id` is the row itself.
_OF_DOMAINS = {
    "sitemaps": "SELECT id FROM sitemap_file WHERE domain_id IN (SELECT id FROM domains) LIMIT :most",
    "pages": "SELECT id FROM page WHERE domain_id IN (SELECT id FROM domains) LIMIT :most",
    "contacts": "SELECT id FROM contact WHERE domain_id IN (SELECT id FROM domains) LIMIT :most",
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
    "AND business_id IN (SELECT id FROM businesses) LIMIT :most)"
)
_AROUND: dict[str, dict[str, str]] = {
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
        "pages": "SELECT id FROM page WHERE sitemap_file_id = :id LIMIT :most",
        "contacts": "SELECT c.id FROM contact c JOIN page p ON p.id = c.page_id WHERE p.sitemap_file_id = :id "
        "LIMIT :most",
    },
    "pages": {
        "sitemaps": "SELECT sitemap_file_id AS id FROM page WHERE id = :id",
        "domains": "SELECT domain_id AS id FROM page WHERE id = :id",
        **_BEHIND_DOMAINS,
        "contacts": "SELECT id FROM contact WHERE page_id = :id LIMIT :most",
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
_NAMED = {
    "searches": ("search", "concat_ws(' in ', t.text, t.area)"),
    "places": ("place", "t.name"),
    "businesses": ("local_business", "t.name"),
    "domains": ("domain", "t.name"),
    "sitemaps": ("sitemap_file", "t.url"),
    "pages": ("page", "t.url"),
    "contacts": ("contact", "coalesce(t.name, t.email, t.phone, t.fax, t.address, t.identity)"),
}


@dataclass
class RelatedResource:
    """The rows of one noun around a row: the first few, and whether there are more."""

    rows: list[tuple[UUID, str]] = field(default_factory=list)
    more: bool = False


async def around(session: AsyncSession, noun: str, row_id: UUID) -> dict[str, RelatedResource]:
    """The rows before and after this one, noun by noun in the order of the line."""
    found = {name: RelatedResource() for name in _NAMED if name in _AROUND[noun] and name != noun}
    for kin, kin_id, name in await session.execute(_STATEMENTS[noun], {"id": row_id, "most": SHOWN + 1}):
        if len(found[kin].rows) < SHOWN:
            found[kin].rows.append((kin_id, name))
        else:
            found[kin].more = True
    return found


def _statement(noun: str) -> str:
    parts = _AROUND[noun]
    ids = ", ".join(f"{name} AS ({query})" for name, query in parts.items())
    shown = " UNION ALL ".join(
        f"(SELECT '{name}', t.id, {label} FROM {table} t WHERE t.id IN (SELECT id FROM {name}) "  # noqa: S608
        "ORDER BY t.id LIMIT :most)"
        for name, (table, label) in _NAMED.items()
        if name in parts and name != noun
    )
    return f"WITH {ids} {shown}"


_STATEMENTS = {noun: text(_statement(noun)) for noun in _AROUND}
