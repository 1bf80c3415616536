"""The statements behind files of leads: each business or site with its best contacts, or each contact."""

from sqlalchemy import TextClause, text

from scrapersky.store.leads.columns import ADDRESS_COLUMNS, CONTACT_SELECT, LEAD_SELECT, PERSON_COLUMNS
from scrapersky.store.leads.no_contact_reason import WHY_NO_CONTACT
from scrapersky.store.leads.text_sql import called, without_tracking

# Words in capitals below stand for these.
_WORDS = {
    # Whom people have turned down, and whom never to write to again, are in no file.
    "WANTED": "c.suppressed_at IS NULL AND c.curation_status NOT IN ('Not a Fit', 'Archived')",
    # Those of its domain; what is known of a business without one is its own.
    "ITS": "(c.domain_id = d.id OR (c.business_id = o.business_id AND c.domain_id IS NULL))",
    # Of a branch, as its provider knows it, though all branches share a site.
    "ANOTHERS": "(c.found_by = 'provider' AND c.business_id IS DISTINCT FROM o.business_id)",
    "FOUND_AT": "to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    "MAILCOLUMNS": ", ".join(f"mail.{name}" for name in ADDRESS_COLUMNS),
    "PERSONCOLUMNS": ", ".join(f"mail.{name}" for name in PERSON_COLUMNS),
    "LEADSELECT": LEAD_SELECT,
    "CONTACTSELECT": CONTACT_SELECT,
    # Addresses that take mail come first, those nobody could judge before the doubtful ones, those that take none last.
    "RANK": "array_position(ARRAY['deliverable', 'unknown', 'risky', 'undeliverable'], coalesce(c.verdict, 'unknown'))",
}

# In words of ours, whichever way a provider or a file says it.
_STATUS = """CASE upper(replace(b.business_status, ' ', '_'))
            WHEN 'OPERATIONAL' THEN 'open'
            WHEN 'CLOSED_TEMPORARILY' THEN 'temporarily closed'
            WHEN 'CLOSED_PERMANENTLY' THEN 'permanently closed'
            ELSE lower(replace(b.business_status, '_', ' ')) END"""

# Businesses first, then web sites that belong to none of them; each with its place in the list of results.
_OWNERS = """
    SELECT b.id AS business_id, l.domain_id, b.name, b.website,
        CASE WHEN NOT EXISTS (SELECT FROM suppression s WHERE s.tenant_id = b.tenant_id AND s.kind = 'phone'
            AND s.value_hash = encode(sha256(convert_to(b.phone, 'UTF8')), 'hex')) THEN b.phone END AS phone,
        b.address, b.city, b.country,
        b.categories, STATUS AS status, b.rating, p.provider, p.provider_id, b.profiles, b.domain_extraction_error,
        b.id AS key, coalesce(l.domain_id, b.id) AS subkey
    FROM ({found}) f JOIN local_business b ON b.id = f.business_id
    LEFT JOIN place p ON p.id = b.place_id
    LEFT JOIN business_domain l ON l.business_id = b.id""".replace("STATUS", _STATUS)
_SITES = """
    SELECT NULL::uuid AS business_id, d.id AS domain_id, NULL AS name, d.start_url AS website,
        NULL AS phone, NULL AS address, NULL AS city, d.country, NULL::text[] AS categories,
        NULL AS status, NULL::float8 AS rating,
        NULL AS provider, NULL AS provider_id, NULL::jsonb AS profiles, NULL AS domain_extraction_error,
        d.id AS key, d.id AS subkey
    FROM ({found}) f JOIN domain d ON d.id = f.domain_id"""
_FOUND_BUSINESSES = "SELECT f.business_id FROM search_business f WHERE f.search_id = :search"
_FOUND_SITES = """SELECT f.domain_id FROM search_domain f WHERE f.search_id = :search
        AND NOT EXISTS (SELECT 1 FROM business_domain l JOIN search_business o ON o.business_id = l.business_id
            WHERE l.domain_id = f.domain_id AND o.search_id = :search)"""

_LEADS = """
SELECT CALLED AS business, WEBSITE AS website,
    MAILCOLUMNS, coalesce(o.phone, call.phone) AS phone,
    PERSONCOLUMNS, people.rest AS other_people,
    array_to_string(mails.rest, ' ') AS other_emails, array_to_string(calls.rest, ' ') AS other_phones,
    coalesce(social.urls, '') AS socials,
    coalesce(o.address, place.address) AS address, o.city, o.country,
    array_to_string(o.categories, ', ') AS categories, o.status, o.rating,
    coalesce(mail.source_url, call.source_url) AS source, coalesce(mail.found_at, call.found_at) AS found_at,
    o.provider || ':' || o.provider_id AS provider, d.name AS domain,
    CASE WHEN mail.email IS NULL AND call.phone IS NULL THEN WHY END AS state
FROM owner o
LEFT JOIN domain d ON d.id = o.domain_id
LEFT JOIN LATERAL (SELECT c.id, c.source_url, FOUND_AT AS found_at, LEADSELECT
    FROM contact c
    WHERE ITS AND WANTED AND c.email IS NOT NULL
    ORDER BY RANK, ANOTHERS, (c.email_kind = 'other-domain'), (c.name IS NULL), c.confidence DESC, c.email
    LIMIT 1) mail ON true
LEFT JOIN LATERAL (SELECT array_agg(c.email ORDER BY RANK, c.confidence DESC, c.email) AS rest FROM contact c
    WHERE ITS AND WANTED AND c.email IS NOT NULL AND c.email <> mail.email) mails ON true
LEFT JOIN LATERAL (SELECT c.phone, c.source_url, FOUND_AT AS found_at FROM contact c
    WHERE ITS AND WANTED AND c.phone IS NOT NULL
    ORDER BY ANOTHERS, (c.name IS NOT NULL), c.confidence DESC, c.phone LIMIT 1) call ON true
LEFT JOIN LATERAL (SELECT array_agg(DISTINCT c.phone) AS rest FROM contact c
    WHERE ITS AND WANTED AND c.phone IS NOT NULL
        AND c.phone <> coalesce(o.phone, call.phone)) calls ON true
LEFT JOIN LATERAL (SELECT string_agg(concat(name, ' (' || title || ')', ' <' || email || '>'), '; ') AS rest FROM (
        SELECT c.name, c.title, c.email FROM contact c
        WHERE ITS AND WANTED AND c.name IS NOT NULL AND c.id IS DISTINCT FROM mail.id
        ORDER BY (c.email IS NULL), c.confidence DESC, c.name LIMIT 50) other) people ON true
LEFT JOIN LATERAL (SELECT c.address FROM contact c WHERE ITS AND WANTED AND c.address IS NOT NULL
    ORDER BY c.confidence DESC, c.address LIMIT 1) place ON true
LEFT JOIN LATERAL (SELECT string_agg(value, ' ' ORDER BY key) AS urls FROM (
        SELECT key, value FROM contact c, jsonb_each_text(c.profiles) WHERE ITS AND WANTED
        UNION SELECT key, value FROM jsonb_each_text(o.profiles)) profile) social ON true
"""

_OF_CONTACTS = """
SELECT CALLED AS business, d.name AS domain, CONTACTSELECT, c.confidence,
    c.found_by, c.source_url AS source, FOUND_AT AS found_at, c.snippet
FROM {found}
LEFT JOIN local_business b ON b.id = c.business_id
WHERE f.search_id = :search AND WANTED"""

_OF_DOMAINS = "search_domain f JOIN domain d ON d.id = f.domain_id JOIN contact c ON c.domain_id = d.id"
_OF_NO_DOMAIN = """search_business f JOIN contact c ON c.business_id = f.business_id AND c.domain_id IS NULL
LEFT JOIN domain d ON d.id = c.domain_id"""
_OF_NOBODY = """search_contact f JOIN contact c
    ON c.id = f.contact_id AND c.domain_id IS NULL AND c.business_id IS NULL
LEFT JOIN domain d ON d.id = c.domain_id"""


def _spelled(statement: str, **words: str) -> str:
    """The statement with its words in capitals written out."""
    for word, expression in {**words, **_WORDS}.items():
        statement = statement.replace(word, expression)
    return statement


_BUSINESS_LEADS = _spelled(
    _LEADS, CALLED=called("o.name"), WEBSITE=without_tracking("coalesce(d.final_url, o.website)"), WHY=WHY_NO_CONTACT
)
_CONTACT_LEADS = _spelled(_OF_CONTACTS, CALLED=called("b.name"))
_OF_SITES = _CONTACT_LEADS.replace("{found}", _OF_DOMAINS)
_OF_BUSINESSES = _CONTACT_LEADS.replace("{found}", _OF_NO_DOMAIN)
_OF_FILES = _CONTACT_LEADS.replace("{found}", _OF_NOBODY)
_EVERYBODY = f"{_OWNERS.format(found=_FOUND_BUSINESSES)} UNION ALL {_SITES.format(found=_FOUND_SITES)}"

# The files, each part in its order.
FILES: dict[str, tuple[TextClause, ...]] = {
    "business": (text(f"WITH owner AS ({_EVERYBODY}) {_BUSINESS_LEADS} ORDER BY business, o.business_id, d.name"),),
    "contact": (
        text(f"{_OF_SITES} ORDER BY d.name, c.confidence DESC, c.identity"),
        text(f"{_OF_BUSINESSES} ORDER BY b.name, c.confidence DESC, c.identity"),
        text(f"{_OF_FILES} ORDER BY c.identity"),
    ),
}


def _page_of(owners: str, found: str, key: str, subkey: str) -> TextClause:
    """The owners after a place, cut off before anything is looked up for them: those of the place itself, then as many
    as a page holds, for each has at least one row."""
    few = owners.format(found=f"{found} AND {key} >= :key ORDER BY {key} LIMIT :most + 1")
    owner = f"{few} WHERE ({key}, {subkey}) > (:key, :subkey) ORDER BY {key}, {subkey} LIMIT :most"
    keys = "o.key AS list_key, o.subkey AS list_subkey"
    shown = _BUSINESS_LEADS.replace("SELECT", f"SELECT {keys},", 1)
    return text(f"WITH owner AS MATERIALIZED ({owner}) {shown} ORDER BY o.key, o.subkey")


# Each part of the list in its order, read one after the other.
PAGES: dict[str, tuple[TextClause, ...]] = {
    "business": (
        _page_of(_OWNERS, _FOUND_BUSINESSES, "f.business_id", "coalesce(l.domain_id, b.id)"),
        _page_of(_SITES, _FOUND_SITES, "f.domain_id", "f.domain_id"),
    ),
    "contact": (
        text(
            _OF_SITES.replace("SELECT", "SELECT d.id AS list_key, c.id AS list_subkey,", 1)
            + " AND f.domain_id >= :key AND d.id >= :key AND c.domain_id >= :key"
            + " AND (f.domain_id, c.id) > (:key, :subkey) ORDER BY f.domain_id, c.id LIMIT :most"
        ),
        text(
            _OF_BUSINESSES.replace("SELECT", "SELECT f.business_id AS list_key, c.id AS list_subkey,", 1)
            + " AND f.business_id >= :key AND c.business_id >= :key"
            + " AND (f.business_id, c.id) > (:key, :subkey) ORDER BY f.business_id, c.id LIMIT :most"
        ),
        text(
            _OF_FILES.replace("SELECT", "SELECT f.contact_id AS list_key, c.id AS list_subkey,", 1)
            + " AND f.contact_id >= :key AND c.id >= :key"
            + " AND (f.contact_id, c.id) > (:key, :subkey) ORDER BY f.contact_id LIMIT :most"
        ),
    ),
}
