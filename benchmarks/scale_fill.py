"""Databases of many sizes for `make bench-scale`: so many searches, each of the same size, as the line leaves them."""

import asyncpg

DOMAINS = 500  # of a search, each with one business
PAGES = 20  # of a domain; five of them have been read
CONTACTS = 2  # of a domain: a person and a mailbox
PAGES_OF_SEARCH = DOMAINS * PAGES
SEARCHES_PER_STATEMENT = 10
READY = 5_000  # pages that are queued, at every size
EXPIRED = 100  # contacts that one run of the retention deletes, at every size
RETENTIONS = 6  # runs of the retention, each with a shorter one
FIRST_RETENTION_YEARS = 10  # of the first run

# Ids grow with time, like those of the application (core/uuid7).
ID = "('01900000-0000-7000-{kind}-' || lpad(to_hex({n}), 12, '0'))::uuid"


def _id(kind: str, number: str) -> str:
    return ID.format(kind=kind, n=number)


SEARCH, BUSINESS, DOMAIN, PAGE, CONTACT = (f"800{kind}" for kind in range(1, 6))
_NUMBERS = "generate_series($2::int8 * {each}, $3::int8 * {each} - 1) n".format
_OF_DOMAINS = _NUMBERS(each=DOMAINS)
_AT = "timestamptz '2026-01-01' + n * interval '1 millisecond'"
FILL = (
    f"""
INSERT INTO search (id, tenant_id, text, provider, place_search_status, created_at, updated_at)
SELECT {_id(SEARCH, "n")}, $1, 'dentists in area ' || n, 'osm', 'Completed', {_AT}, {_AT}
FROM {_NUMBERS(each=1)}""",
    f"""
INSERT INTO local_business (id, tenant_id, search_id, name, phone, address, street, postcode, city, country, rating,
    website, categories, latitude, longitude, domain_extraction_status, created_at, updated_at)
SELECT {_id(BUSINESS, "n")}, $1, {_id(SEARCH, f"n / {DOMAINS}")}, 'Business ' || n, '+3589' || 10000000 + n,
    'Street ' || n || ', 00100 Helsinki', 'Street ' || n, '00100', 'Helsinki', 'FI', 4.5,
    'https://site-' || n || '.example/', '{{amenity=dentist}}', 60.1, 24.9, 'Completed', {_AT}, {_AT}
FROM {_OF_DOMAINS}""",
    f"""
INSERT INTO domain (id, tenant_id, search_id, name, country, start_url, final_url, http_status, title, language,
    technologies, facts, domain_metadata_status, sitemap_analysis_status, created_at, updated_at)
SELECT {_id(DOMAIN, "n")}, $1, {_id(SEARCH, f"n / {DOMAINS}")}, 'site-' || n || '.example', 'FI',
    'https://site-' || n || '.example/', 'https://site-' || n || '.example/', 200, 'Dentist number ' || n, 'fi',
    '{{WordPress}}', jsonb_build_object('phones', '[]'::jsonb, 'emails',
        jsonb_build_array('info@site-' || n || '.example')),
    'Completed', 'Completed', {_AT}, {_AT}
FROM {_OF_DOMAINS}""",
    f"""
INSERT INTO business_domain (business_id, domain_id, tenant_id)
SELECT {_id(BUSINESS, "n")}, {_id(DOMAIN, "n")}, $1 FROM {_OF_DOMAINS}""",
    f"""
INSERT INTO search_business (search_id, business_id, tenant_id)
SELECT {_id(SEARCH, f"n / {DOMAINS}")}, {_id(BUSINESS, "n")}, $1 FROM {_OF_DOMAINS}""",
    f"""
INSERT INTO search_domain (search_id, domain_id, tenant_id)
SELECT {_id(SEARCH, f"n / {DOMAINS}")}, {_id(DOMAIN, "n")}, $1 FROM {_OF_DOMAINS}""",
    f"""
INSERT INTO page (id, tenant_id, domain_id, url, country, kind, kind_score, kind_reason, depth, http_status, fetched_at,
    contact_count, page_processing_status, page_processing_attempts, created_at, updated_at)
SELECT {_id(PAGE, "n")}, $1, {_id(DOMAIN, f"n / {PAGES}")},
    'https://site-' || n / {PAGES} || '.example/' || (ARRAY['contact', 'team', 'imprint', 'about', 'blog/an-article'])
        [least(n % {PAGES}, 4) + 1] || '-' || n, 'FI',
    (ARRAY['contact', 'team', 'imprint', 'about', 'blog'])[least(n % {PAGES}, 4) + 1], 0.9,
    'the address has a known word', 1, CASE WHEN is_read THEN 200 END, CASE WHEN is_read THEN {_AT} END,
    CASE WHEN is_read THEN 1 END, CASE WHEN is_read THEN 'Completed' ELSE 'New' END, is_read::int, {_AT}, {_AT}
FROM (SELECT n, n % {PAGES} < 5 AS is_read FROM {_NUMBERS(each=PAGES_OF_SEARCH)}) numbered""",
    f"""
INSERT INTO contact (id, tenant_id, domain_id, page_id, identity, name, first_name, last_name, title, email, email_kind,
    phone, verdict, confidence, source_url, snippet, found_by, contact_verification_status, created_at, updated_at)
SELECT {_id(CONTACT, "n")}, $1, {_id(DOMAIN, f"n / {CONTACTS}")},
    {_id(PAGE, f"n / {CONTACTS} * {PAGES} + n % {CONTACTS}")}, 'email:' || local || '@site-' || n / 2 || '.example',
    CASE WHEN is_person THEN 'Anna Virtanen ' || n END, CASE WHEN is_person THEN 'Anna' END,
    CASE WHEN is_person THEN 'Virtanen ' || n END, CASE WHEN is_person THEN 'Owner' END,
    local || '@site-' || n / 2 || '.example', CASE WHEN is_person THEN 'personal' ELSE 'role' END,
    CASE WHEN is_person THEN '+35840' || 10000000 + n END, 'deliverable', 0.9,
    'https://site-' || n / {CONTACTS} || '.example/team', 'Anna Virtanen, Owner, write to me at any time', 'text',
    'Completed', {_AT}, {_AT}
FROM (SELECT n, n % 2 = 0 AS is_person, CASE n % 2 WHEN 0 THEN 'anna' ELSE 'info' END AS local
    FROM {_NUMBERS(each=DOMAINS * CONTACTS)}) numbered""",
)
# The newest pages that were not read are queued; the oldest contacts were not seen for a long time.
_QUEUE = f"""
UPDATE page SET page_processing_status = 'Queued',
    page_processing_order = 1 + ('x' || right(id::text, 12))::bit(48)::int8
WHERE id IN (SELECT id FROM page WHERE page_processing_status = 'New' ORDER BY id DESC LIMIT {READY})"""
_EXPIRE = f"""
UPDATE contact SET seen_at = now() - ({FIRST_RETENTION_YEARS} + 1 - old.run) * interval '1 year' - interval '1 day'
FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / {EXPIRED} AS run FROM contact
    ORDER BY id LIMIT {EXPIRED * RETENTIONS}) old
WHERE contact.id = old.id"""


async def fill(connection: asyncpg.Connection, pages: int) -> None:
    """Insert so many pages with their searches, businesses, domains and contacts, as the owner, without triggers."""
    tenant = await connection.fetchval("SELECT id FROM tenant LIMIT 1")
    searches = max(1, pages // PAGES_OF_SEARCH)
    await connection.execute("SET session_replication_role = replica")
    for first in range(0, searches, SEARCHES_PER_STATEMENT):
        for statement in FILL:
            await connection.execute(statement, tenant, first, min(first + SEARCHES_PER_STATEMENT, searches))
    for statement in (_QUEUE, _EXPIRE):
        await connection.execute(statement)
    await connection.execute("RESET session_replication_role")
    await connection.execute("VACUUM (ANALYZE)")
    await connection.execute("CHECKPOINT")
