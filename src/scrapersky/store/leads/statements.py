"""The statements behind files and lists of leads: each is complete SQL with bound parameters, as EXPLAIN takes it.

Aliases: `f` is a result of the search `:search`, `o` a business or a web site without one, `d` its domain, `b` a
business, `c` a contact. The functions that are not PostgreSQL's own are in migrations/sql/leads.sql.
"""

from dataclasses import dataclass

from sqlalchemy import TextClause, text

from scrapersky.providers.place_contacts import PROVIDER
from scrapersky.store.leads.columns import CONTACT_SELECT, LEAD_SELECT, source_url
from scrapersky.store.leads.no_contact_reason import NO_CONTACT_REASON
from scrapersky.store.line.hidden_sites import HIDDEN_REASON
from scrapersky.store.steps import not_rejected
from scrapersky.store.withheld import (
    BUSINESS_PHONE,
    is_business_withheld,
    is_profile_withheld,
    is_site_withheld,
    is_snippet_withheld,
    is_withheld,
)

# Contacts that people rejected and those that a suppression withholds are in no file.
_WANTED = f"NOT {is_withheld('c')} AND {not_rejected('c')}"
# People and mailboxes. A number, a profile or a postal address alone is a fact about the business, and no row.
_IS_SOMEBODY = "(c.name IS NOT NULL OR c.email IS NOT NULL)"
# The wanted contacts of `o`: those of its domain, and its own that have no domain.
_OF_OWNER = f"(c.domain_id = d.id OR (c.business_id = o.business_id AND c.domain_id IS NULL)) AND {_WANTED}"
# The provider names the contact for another branch, which shares the web site.
_OF_ANOTHER_BRANCH = f"(c.found_by IS NOT DISTINCT FROM '{PROVIDER}' AND c.business_id IS DISTINCT FROM o.business_id)"
_FOUND_AT = "to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS found_at"

MAX_CONTACTS = 500  # of a business, those with an address and the surest first: the best contact is one of them
# The main number, which the provider names, is known without any page.
_IS_FOUND = f"""email IS NOT NULL
            OR (found_by = '{PROVIDER}' AND (phone = o.phone OR is_of_another_branch)) IS NOT TRUE"""

_LEADS = f"""
SELECT o.key AS list_key, o.subkey AS list_subkey, o.business_id, o.place_id, o.domain_id,
    business_name(coalesce(o.name, found.company), d.facts, d.title, d.name) AS business,
    without_tracking(coalesce(d.final_url, o.website)) AS website, o.phone, found.contacts,
    coalesce(social.urls, '') AS socials,
    coalesce(o.address, place.address) AS address, o.city, o.country,
    o.categories, o.status, o.rating,
    o.provider || ':' || o.provider_id AS provider, d.name AS domain,
    CASE WHEN found.is_any IS NOT TRUE THEN {NO_CONTACT_REASON} END AS state,
    site.hidden_reason AS hidden
FROM owner o
LEFT JOIN domain d ON d.id = o.domain_id
LEFT JOIN LATERAL (SELECT {HIDDEN_REASON} AS hidden_reason) site ON true
LEFT JOIN LATERAL (
    SELECT jsonb_agg(to_jsonb(contacts) - 'company') AS contacts,
        bool_or({_IS_FOUND}) FILTER (WHERE coalesce(email, phone) IS NOT NULL) AS is_any,
        (array_agg(company ORDER BY confidence DESC, company) FILTER (WHERE company IS NOT NULL))[1] AS company
    FROM (
        SELECT c.id, c.identity, c.company, c.phone, c.confidence, c.found_by, {_FOUND_AT},
            CASE WHEN c.email IS NOT NULL THEN {source_url("email")} ELSE {source_url("phone")} END AS source_url,
            {_OF_ANOTHER_BRANCH} AS is_of_another_branch, {LEAD_SELECT}
        FROM contact c WHERE {_OF_OWNER} AND coalesce(c.email, c.phone, c.name) IS NOT NULL
        ORDER BY (c.email IS NULL), (c.name IS NULL), c.confidence DESC, c.identity LIMIT {MAX_CONTACTS}) contacts
    ) found ON true
LEFT JOIN LATERAL (
    SELECT c.address FROM contact c WHERE {_OF_OWNER} AND c.address IS NOT NULL
    ORDER BY c.confidence DESC, c.address LIMIT 1) place ON true
LEFT JOIN LATERAL (
    SELECT string_agg(value, ' ' ORDER BY key, value) AS urls FROM (
        SELECT key, value FROM contact c, jsonb_each_text(c.profiles) WHERE {_OF_OWNER}
        UNION SELECT key, value FROM jsonb_each_text(o.profiles)
            WHERE NOT {is_profile_withheld("value", "o.business_id")}) profile) social ON true"""  # noqa: S608 - own names

# The results of the search that have a row each: its businesses, and its web sites that belong to none of them.
# A business one of whose domains is suppressed has none.
_FOUND_BUSINESSES = f"""SELECT f.business_id FROM search_business f WHERE f.search_id = :search
        AND NOT {is_business_withheld("f.business_id")}"""  # noqa: S608 - own names
_FOUND_SITES = f"""SELECT f.domain_id FROM search_domain f WHERE f.search_id = :search
        AND NOT EXISTS (SELECT 1 FROM business_domain l JOIN search_business o ON o.business_id = l.business_id
            WHERE l.domain_id = f.domain_id AND o.search_id = :search)
        AND NOT EXISTS (SELECT FROM domain w WHERE w.id = f.domain_id AND {is_site_withheld("w.name")})"""  # noqa: S608


def _businesses(found: str) -> str:
    """Return the SELECT of owners that are businesses, with their place in the list of results."""
    return f"""
    SELECT b.id AS business_id, b.place_id, l.domain_id, b.name, b.website, {BUSINESS_PHONE} AS phone,
        b.address, b.city, b.country, b.categories, business_status_text(b.business_status) AS status, b.rating,
        p.provider, p.provider_id, b.profiles, b.domain_extraction_error,
        b.id AS key, coalesce(l.domain_id, b.id) AS subkey
    FROM ({found}) f JOIN local_business b ON b.id = f.business_id
    LEFT JOIN place p ON p.id = b.place_id
    LEFT JOIN business_domain l ON l.business_id = b.id"""  # noqa: S608 - own names


def _sites(found: str) -> str:
    """Return the SELECT of owners that are web sites without a business, with their place in the list of results."""
    return f"""
    SELECT NULL::uuid AS business_id, NULL::uuid AS place_id, d.id AS domain_id, NULL AS name,
        coalesce(d.start_url, d.final_url, 'https://' || d.name || '/') AS website,
        NULL AS phone, NULL AS address, NULL AS city, d.country, NULL::text[] AS categories, NULL AS status,
        NULL::float8 AS rating, NULL AS provider, NULL AS provider_id, NULL::jsonb AS profiles,
        NULL AS domain_extraction_error,
        d.id AS key, d.id AS subkey
    FROM ({found}) f JOIN domain d ON d.id = f.domain_id"""  # noqa: S608 - own names


def _page(owners: str, key: str, subkey: str) -> TextClause:
    """Return a page of leads: its owners are limited before their contacts are read."""
    owner = f"{owners} WHERE ({key}, {subkey}) > (:key, :subkey) ORDER BY {key}, {subkey} LIMIT :max_rows"
    return text(f"WITH owner AS MATERIALIZED ({owner}) {_LEADS} ORDER BY o.key, o.subkey")


def _after(found: str, key: str) -> str:
    """Limit the results to those from the last position on: each has at least one row, the last one may have more."""
    return f"{found} AND {key} >= :key ORDER BY {key} LIMIT :max_rows + 1"


@dataclass(frozen=True)
class _ContactSource:
    """One way by which a contact belongs to a search."""

    tables: str
    key: str  # the position of a row is the key, then the id of the contact
    key_columns: tuple[str, ...]  # equal to the key by the joins; a range on each lets an index begin there
    file_order: str

    def file(self) -> TextClause:
        """Return all rows, in the order of a file."""
        return text(f"{self._select()} ORDER BY {self.file_order}")

    def page(self) -> TextClause:
        """Return the rows after a position."""
        ranges = " AND ".join(f"{column} >= :key" for column in self.key_columns)
        after = f"{ranges} AND ({self.key}, c.id) > (:key, :subkey)"
        return text(f"{self._select()} AND {after} ORDER BY {self.key}, c.id LIMIT :max_rows")

    def _select(self) -> str:
        return f"""
SELECT {self.key} AS list_key, c.id AS list_subkey,
    c.id AS contact_id, c.business_id, c.domain_id, c.page_id,
    business_name(coalesce(b.name, c.company), d.facts, d.title, d.name) AS business, d.name AS domain,
    {CONTACT_SELECT}, c.confidence, c.found_by, c.source_url AS source, {_FOUND_AT},
    CASE WHEN NOT {is_snippet_withheld("c")} THEN c.snippet END AS snippet
FROM {self.tables}
LEFT JOIN local_business b ON b.id = c.business_id
WHERE f.search_id = :search AND {_WANTED} AND {_IS_SOMEBODY}"""  # noqa: S608 - own names


_CONTACT_SOURCES = (
    _ContactSource(
        "search_domain f JOIN domain d ON d.id = f.domain_id JOIN contact c ON c.domain_id = d.id",
        "f.domain_id",
        ("f.domain_id", "d.id", "c.domain_id"),
        "d.name, c.confidence DESC, c.identity",
    ),
    _ContactSource(
        "search_business f JOIN contact c ON c.business_id = f.business_id AND c.domain_id IS NULL "
        "LEFT JOIN domain d ON d.id = c.domain_id",
        "f.business_id",
        ("f.business_id", "c.business_id"),
        "b.name, c.source_url, c.confidence DESC, c.identity",
    ),
    _ContactSource(
        "search_contact f JOIN contact c ON c.id = f.contact_id AND c.domain_id IS NULL AND c.business_id IS NULL "
        "LEFT JOIN domain d ON d.id = c.domain_id",
        "f.contact_id",
        ("f.contact_id", "c.id"),
        "c.identity",
    ),
)

# The statements of a file, whose rows follow one another. Parameter: search.
FILES: dict[str, tuple[TextClause, ...]] = {
    "business": (
        text(
            f"WITH owner AS ({_businesses(_FOUND_BUSINESSES)} UNION ALL {_sites(_FOUND_SITES)}) {_LEADS} "
            "ORDER BY business, o.provider, o.provider_id, d.name"
        ),
    ),
    "contact": tuple(source.file() for source in _CONTACT_SOURCES),
}
# The statements of a list, each read to its end before the next. Parameters: search, key, subkey, most.
PAGES: dict[str, tuple[TextClause, ...]] = {
    "business": (
        _page(_businesses(_after(_FOUND_BUSINESSES, "f.business_id")), "f.business_id", "coalesce(l.domain_id, b.id)"),
        _page(_sites(_after(_FOUND_SITES, "f.domain_id")), "f.domain_id", "f.domain_id"),
    ),
    "contact": tuple(source.page() for source in _CONTACT_SOURCES),
}
