"""What a search is for: one row per business with its best contacts, or one per contact, streamed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.store.lead_states import WHY_NO_CONTACT

Per = Literal["business", "contact"]
NOTHING = UUID(int=0)  # comes before every id


@dataclass(frozen=True)
class Position:
    """A place in the list of results: its part, then what that part is sorted by."""

    part: int = 0
    key: UUID = NOTHING
    subkey: UUID = NOTHING


# The columns of a file of leads, in their order, and what each holds (docs/leads.md is made of this).
BUSINESS_COLUMNS = {
    "business": "name of the business; of the web site where only that is known",
    "website": "address of its web site",
    "email": "the best address to write to: one that takes mail, a person's before a role's, the surest first",
    "email_kind": "role, personal, free-mail or other-domain",
    "verdict": "whether a letter would arrive: deliverable, risky, undeliverable or unknown",
    "verdict_reasons": "why so",
    "phone": "the best number, E.164",
    "person": "whose address it is; empty where nobody's name stands with it",
    "title": "what that person does there",
    "other_people": "other people of the business, each as Name (title) with the address in angle brackets; “; ” between them",
    "other_emails": "further addresses, separated by blanks",
    "other_phones": "further numbers, separated by blanks",
    "socials": "profiles, separated by blanks",
    "address": "postal address",
    "city": "city",
    "country": "country, two letters",
    "categories": "what kind of business the provider calls it",
    "status": "what the provider says of it: open, temporarily closed, permanently closed",
    "rating": "rating at the provider",
    "source": "page on which the best address was found",
    "found_at": "day on which it was first found there, in UTC",
    "provider": "who named the place, and under which id",
    "domain": "registrable domain",
    "state": "why there is no contact, where there is none",
}
CONTACT_COLUMNS = {
    "business": "name of the business",
    "domain": "registrable domain",
    "name": "name of the person",
    "title": "what the person does there",
    "email": "address",
    "email_kind": "role, personal, free-mail or other-domain",
    "verdict": "whether a letter would arrive: deliverable, risky, undeliverable or unknown",
    "verdict_reasons": "why so",
    "phone": "number, E.164",
    "fax": "fax number, E.164",
    "profile": "address of a profile",
    "address": "postal address as the page writes it",
    "confidence": "how sure it is that this belongs to the business, 0 to 1",
    "found_by": "how it was found",
    "source": "page it was found on",
    "found_at": "day on which it was first found, in UTC",
    "snippet": "the text around it",
}


def columns_of(per: Per) -> dict[str, str]:
    """The columns of a file with one row per business or per contact."""
    return BUSINESS_COLUMNS if per == "business" else CONTACT_COLUMNS


async def leads(session: AsyncSession, search_id: UUID, per: Per = "business") -> AsyncIterator[dict[str, Any]]:
    """The rows of a search by a server-side cursor, in a stable order."""
    result = await session.stream(_BUSINESSES if per == "business" else _CONTACTS, {"search": search_id})
    async for row in result.mappings():
        yield dict(row)


async def page(
    session: AsyncSession, search_id: UUID, per: Per, after: Position, most: int
) -> list[tuple[dict[str, Any], Position]]:
    """The rows after a place, each with its own: whatever comes while somebody reads, no row comes twice."""
    found: list[tuple[dict[str, Any], Position]] = []
    for part, statement in enumerate(PAGES[per]):
        if part < after.part or len(found) == most:
            continue
        start = after if part == after.part else Position(part)
        place = {"key": start.key, "subkey": start.subkey, "most": most - len(found)}
        for row in (await session.execute(statement, {"search": search_id, **place})).mappings():
            lead = dict(row)
            found.append((lead, Position(part, lead.pop("list_key"), lead.pop("list_subkey"))))
    return found


# Whom people have turned down, and whom never to write to again, are in no file.
_WANTED = "c.suppressed_at IS NULL AND c.curation_status NOT IN ('Not a Fit', 'Archived')"
_FOUND_AT = "to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"

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
    SELECT NULL::uuid, d.id AS domain_id, coalesce(d.title, d.name) AS name, d.start_url AS website,
        NULL AS phone, NULL AS address, NULL AS city, d.country, NULL::text[] AS categories,
        NULL AS status, NULL::float8 AS rating,
        NULL AS provider, NULL AS provider_id, NULL::jsonb AS profiles, NULL AS domain_extraction_error,
        d.id AS key, d.id AS subkey
    FROM ({found}) f JOIN domain d ON d.id = f.domain_id"""
_FOUND_BUSINESSES = "SELECT f.business_id FROM search_business f WHERE f.search_id = :search"
_FOUND_SITES = """SELECT f.domain_id FROM search_domain f WHERE f.search_id = :search
        AND NOT EXISTS (SELECT 1 FROM business_domain l JOIN search_business o ON o.business_id = l.business_id
            WHERE l.domain_id = f.domain_id AND o.search_id = :search)"""

# Addresses that take mail come first, those nobody could judge before the doubtful ones, those that take none last.
_LEADS = (
    """
SELECT o.name AS business, coalesce(d.final_url, o.website) AS website,
    mail.email, mail.email_kind, mail.verdict, mail.verdict_reasons, coalesce(o.phone, call.phone) AS phone,
    mail.name AS person, mail.title, people.rest AS other_people,
    array_to_string(mails.rest, ' ') AS other_emails, array_to_string(calls.rest, ' ') AS other_phones,
    coalesce(social.urls, '') AS socials,
    coalesce(o.address, place.address) AS address, o.city, o.country,
    array_to_string(o.categories, ', ') AS categories, o.status, o.rating,
    coalesce(mail.source_url, call.source_url) AS source, coalesce(mail.found_at, call.found_at) AS found_at,
    o.provider || ':' || o.provider_id AS provider, d.name AS domain,
    CASE WHEN mail.email IS NULL AND call.phone IS NULL THEN WHY_NO_CONTACT END AS state
FROM owner o
LEFT JOIN domain d ON d.id = o.domain_id
LEFT JOIN LATERAL (SELECT c.id, c.name, c.title, c.email, c.email_kind, c.verdict, c.source_url, FOUND_AT AS found_at,
        (SELECT string_agg(why, '; ') FROM jsonb_array_elements_text(c.verification->'reasons') why) AS verdict_reasons
    FROM contact c
    WHERE c.domain_id = d.id AND WANTED AND c.email IS NOT NULL
    ORDER BY array_position(ARRAY['deliverable', 'unknown', 'risky', 'undeliverable'], coalesce(c.verdict, 'unknown')),
        (c.email_kind = 'other-domain'), (c.name IS NULL), c.confidence DESC, c.email LIMIT 1) mail ON true
LEFT JOIN LATERAL (SELECT array_agg(c.email ORDER BY
        array_position(ARRAY['deliverable', 'unknown', 'risky', 'undeliverable'], coalesce(c.verdict, 'unknown')),
        c.confidence DESC, c.email) AS rest FROM contact c
    WHERE c.domain_id = d.id AND WANTED AND c.email IS NOT NULL AND c.email <> mail.email) mails ON true
LEFT JOIN LATERAL (SELECT c.phone, c.source_url, FOUND_AT AS found_at FROM contact c
    WHERE c.domain_id = d.id AND WANTED AND c.phone IS NOT NULL
    ORDER BY (c.name IS NOT NULL), c.confidence DESC, c.phone LIMIT 1) call ON true
LEFT JOIN LATERAL (SELECT array_agg(DISTINCT c.phone) AS rest FROM contact c
    WHERE c.domain_id = d.id AND WANTED AND c.phone IS NOT NULL
        AND c.phone <> coalesce(o.phone, call.phone)) calls ON true
LEFT JOIN LATERAL (SELECT string_agg(concat(name, ' (' || title || ')', ' <' || email || '>'), '; ') AS rest FROM (
        SELECT c.name, c.title, c.email FROM contact c
        WHERE c.domain_id = d.id AND WANTED AND c.name IS NOT NULL AND c.id IS DISTINCT FROM mail.id
        ORDER BY (c.email IS NULL), c.confidence DESC, c.name LIMIT 50) other) people ON true
LEFT JOIN LATERAL (SELECT c.address FROM contact c WHERE c.domain_id = d.id AND WANTED AND c.address IS NOT NULL
    ORDER BY c.confidence DESC, c.address LIMIT 1) place ON true
LEFT JOIN LATERAL (SELECT string_agg(value, ' ' ORDER BY key) AS urls FROM (
        SELECT key, value FROM contact c, jsonb_each_text(c.profiles) WHERE c.domain_id = d.id AND WANTED
        UNION SELECT key, value FROM jsonb_each_text(o.profiles)) profile) social ON true
""".replace("WHY_NO_CONTACT", WHY_NO_CONTACT)
    .replace("WANTED", _WANTED)
    .replace("FOUND_AT", _FOUND_AT)
)

_CONTACT_LEADS = """
SELECT coalesce(b.name, d.title, d.name) AS business, d.name AS domain, c.name, c.title, c.email, c.email_kind,
    c.verdict,
    (SELECT string_agg(why, '; ') FROM jsonb_array_elements_text(c.verification->'reasons') why) AS verdict_reasons,
    c.phone, c.fax, (SELECT value FROM jsonb_each_text(c.profiles) LIMIT 1) AS profile, c.address, c.confidence,
    c.found_by, c.source_url AS source, FOUND_AT AS found_at, c.snippet
FROM search_domain f JOIN domain d ON d.id = f.domain_id JOIN contact c ON c.domain_id = d.id
LEFT JOIN local_business b ON b.id = c.business_id
WHERE f.search_id = :search AND WANTED""".replace("WANTED", _WANTED).replace("FOUND_AT", _FOUND_AT)

_EVERYBODY = f"{_OWNERS.format(found=_FOUND_BUSINESSES)} UNION ALL {_SITES.format(found=_FOUND_SITES)}"
_BUSINESSES = text(f"WITH owner AS ({_EVERYBODY}) {_LEADS} ORDER BY o.name, o.business_id, d.name")
_CONTACTS = text(f"{_CONTACT_LEADS} ORDER BY d.name, c.confidence DESC, c.identity")


def _page_of(owners: str, found: str, key: str, subkey: str) -> TextClause:
    """The owners after a place, cut off before anything is looked up for them: those of the place itself, then as many
    as a page holds, for each has at least one row."""
    few = owners.format(found=f"{found} AND {key} >= :key ORDER BY {key} LIMIT :most + 1")
    owner = f"{few} WHERE ({key}, {subkey}) > (:key, :subkey) ORDER BY {key}, {subkey} LIMIT :most"
    keys = "o.key AS list_key, o.subkey AS list_subkey"
    shown = _LEADS.replace("SELECT", f"SELECT {keys},", 1)
    return text(f"WITH owner AS MATERIALIZED ({owner}) {shown} ORDER BY o.key, o.subkey")


# Each part of the list in its order, read one after the other.
PAGES: dict[Per, tuple[TextClause, ...]] = {
    "business": (
        _page_of(_OWNERS, _FOUND_BUSINESSES, "f.business_id", "coalesce(l.domain_id, b.id)"),
        _page_of(_SITES, _FOUND_SITES, "f.domain_id", "f.domain_id"),
    ),
    "contact": (
        text(
            _CONTACT_LEADS.replace("SELECT", "SELECT d.id AS list_key, c.id AS list_subkey,", 1)
            + " AND f.domain_id >= :key AND d.id >= :key AND c.domain_id >= :key"
            + " AND (f.domain_id, c.id) > (:key, :subkey) ORDER BY f.domain_id, c.id LIMIT :most"
        ),
    ),
}
