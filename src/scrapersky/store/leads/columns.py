"""The columns of a file of leads, in their order, each with its meaning (docs/leads.md lists them)."""

from dataclasses import dataclass
from typing import Any

from scrapersky.core.contact_fields import CONTACT_FIELDS
from scrapersky.core.vocabularies import CAMPAIGN, SITES
from scrapersky.store.leads.no_contact_reason import NO_CONTACT_REASON

_NAME = "name of the business; the name on its web site where only that is known"
_QUERIES = "searches that found it, of a campaign those of its own, “ | ” between them; none for a list of sites"


def business_name(contact: str) -> str:
    """Return the SQL of the name of a business; if the provider's has expired, as contacts and web site give it."""
    known = "CASE WHEN b.expired_at IS NULL THEN b.name END"
    return f"coalesce(business_name(coalesce({known}, {contact}.company), d.facts, d.title, d.name), b.name)"


def found_by_queries(link: str, key: str, value: str) -> str:
    """Return the SQL of the searches that found a row: of `:searches`, and of the campaigns among them.

    `link` is the table of what searches found, `key` its column of the row whose id is `value`.
    """
    return f"""(SELECT string_agg(DISTINCT q.text || coalesce(' in ' || q.area, ''), ' | ') FROM {link} l
    JOIN search q ON q.id = l.search_id WHERE l.{key} = {value} AND q.provider NOT IN ('{CAMPAIGN}', '{SITES}') AND (
        q.id = ANY (CAST(:searches AS uuid[])) OR EXISTS (SELECT FROM campaign_search m
            WHERE m.search_id = q.id AND m.campaign_id = ANY (CAST(:searches AS uuid[])))))"""  # noqa: S608 - own names


_OF_BUSINESS = found_by_queries("search_business", "business_id", "ANY (o.records)")
_OF_SITE = found_by_queries("search_domain", "domain_id", "o.domain_id")


def _day_of(moment: str, link: str, key: str, value: str) -> str:
    """Return the SQL of the day of a moment of the results of searches; `link`, `key` and `value` as above."""
    return (
        f"(SELECT to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM {link} l "  # noqa: S608 - own names
        f"WHERE l.{key} = {value} AND l.search_id = ANY (CAST(:searches AS uuid[])))"
    )


FOUND_AT = "to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS found_at"
MAX_SHARING = 20
# Of the businesses that share the web site of a row, those of other rows.
SHARED_WITH = f"""CASE WHEN o.first_of_site IS NOT NULL THEN (SELECT string_agg(other.name, '; ') FROM (
    SELECT DISTINCT m.name, q.provider, q.provider_id FROM local_business m LEFT JOIN place q ON q.id = m.place_id
    WHERE m.id = ANY (o.sharing) AND m.id <> ALL (o.records) AND m.expired_at IS NULL
    ORDER BY q.provider, q.provider_id LIMIT {MAX_SHARING}) other) END"""  # noqa: S608 - own names
_IS_ELSEWHERE = """(o.first_of_site IS NOT NULL AND EXISTS (SELECT FROM contact t
    WHERE t.domain_id = d.id AND (t.name IS NOT NULL OR t.email IS NOT NULL) AND t.suppressed_at IS NULL
        AND t.merged_into_id IS NULL))"""
STATE = f"""CASE WHEN found.is_any IS NOT TRUE THEN CASE WHEN {_IS_ELSEWHERE}
    THEN 'the addresses of its web site are with the other businesses that share it' ELSE {NO_CONTACT_REASON} END END"""
# Of the pages with a form: the page for contacts, then the one nearest to the root, the shortest URL.
CONTACT_FORM = """(SELECT form.url FROM page form WHERE form.domain_id = d.id AND form.has_contact_form
    ORDER BY form.kind IS DISTINCT FROM 'contact', form.depth, length(form.url), form.url LIMIT 1)"""

# Of the contact with the best email address: the address, then the person who has it.
ADDRESS_COLUMNS = {
    header: meaning for each in CONTACT_FIELDS if not each.of_person for header, meaning in each.lead_columns.items()
}
PERSON_COLUMNS = {
    header: meaning for each in CONTACT_FIELDS if each.of_person for header, meaning in each.lead_columns.items()
}


@dataclass(frozen=True)
class BusinessFact:
    """A column of files by business that a statement computes: from the business `b`, its place `p`, its domain `d`,
    or the lateral queries of statements.py."""

    name: str
    meaning: str
    sql: str
    example: Any = None
    is_sortable: bool = True


_FACTS = (
    BusinessFact(
        "business",
        _NAME,
        business_name("found"),
        "Kallio Dental",
    ),
    BusinessFact(
        "website",
        "URL of its web site, without tracking parameters",
        "without_tracking(coalesce(d.final_url, b.website, d.start_url, 'https://' || d.name || '/'))",
        "https://kallio-dental.example/",
    ),
    BusinessFact(
        "socials",
        "URLs of profiles, separated by spaces",
        "coalesce(social.urls, '')",
        "https://www.instagram.com/kalliodental",
        is_sortable=False,
    ),
    BusinessFact(
        "address", "postal address", "coalesce(b.address, address.address)", "Fleminginkatu 7, 00530 Helsinki"
    ),
    BusinessFact("street", "street and number", "b.street", "Fleminginkatu 7"),
    BusinessFact("postcode", "postal code", "b.postcode", "00530"),
    BusinessFact("city", "city", "b.city", "Helsinki"),
    BusinessFact("region", "region or state", "b.region", "Uusimaa"),
    BusinessFact("country", "country, two letters", "coalesce(b.country, d.country)", "FI"),
    BusinessFact("latitude", "degrees north", "b.latitude", 60.1869),
    BusinessFact("longitude", "degrees east", "b.longitude", 24.9512),
    BusinessFact("categories", "what kind of business it is, in words", "b.categories", "dentist", is_sortable=False),
    BusinessFact(
        "status",
        "status at the provider: open, temporarily closed, permanently closed",
        "business_status_text(b.business_status)",
        "open",
    ),
    BusinessFact(
        "opening_hours",
        "opening hours as the provider writes them, “; ” between the days",
        "coalesce(b.hours ->> 'opening_hours', (SELECT string_agg(day, '; ') "
        "FROM jsonb_array_elements_text(b.hours -> 'weekdays') day))",
        "Mo-Fr 08:00-17:00",
        is_sortable=False,
    ),
    BusinessFact("rating", "rating at the provider", "b.rating", 4.6),
    BusinessFact("rating_count", "number of ratings and reviews at the provider", "b.rating_count", 128),
    BusinessFact("provider", "provider and its id of the place", "p.provider || ':' || p.provider_id", "osm:node/2398"),
    BusinessFact(
        "sources",
        "all records of the business: provider and id, “; ” between them",
        "CASE WHEN cardinality(o.records) > 1 THEN (SELECT string_agg(q.provider || ':' || q.provider_id, '; ' "
        "ORDER BY q.provider, q.provider_id) FROM local_business m JOIN place q ON q.id = m.place_id "
        "WHERE m.id = ANY (o.records)) ELSE p.provider || ':' || p.provider_id END",
        "google:ChIJx; osm:node/2398",
        is_sortable=False,
    ),
    BusinessFact("chain", "the brand or the web site that it shares with branches elsewhere", "b.chain", "kallio"),
    BusinessFact(
        "shared_with",
        "other businesses of these leads with the same web site, “; ” between them; one row has its addresses",
        SHARED_WITH,
        "Kallio Dental Turku",
        is_sortable=False,
    ),
    BusinessFact(
        "queries",
        _QUERIES,
        f"CASE WHEN o.business_id IS NOT NULL THEN {_OF_BUSINESS} ELSE {_OF_SITE} END",
        "dentists in Helsinki",
    ),
    BusinessFact(
        "first_seen",
        "day on which the search first found it, in UTC; empty if that was before runs were recorded",
        f"CASE WHEN o.business_id IS NOT NULL "
        f"THEN {_day_of('min(l.found_at)', 'search_business', 'business_id', 'ANY (o.records)')} "
        f"ELSE {_day_of('min(l.found_at)', 'search_domain', 'domain_id', 'o.domain_id')} END",
        "2026-11-15",
    ),
    BusinessFact(
        "last_seen",
        "day on which the provider last showed it to the search, in UTC",
        _day_of("max(coalesce(l.seen_at, l.found_at))", "search_business", "business_id", "ANY (o.records)"),
        "2026-11-18",
    ),
    BusinessFact("domain", "registrable domain", "d.name", "kallio-dental.example"),
    BusinessFact(
        "website_how",
        "how the web site was found that the provider does not know: email, record, name, search or person",
        "b.website_how",
        "name",
    ),
    BusinessFact(
        "website_confidence", "how sure it is that the found web site is its own, 0 to 1", "b.website_confidence", 0.96
    ),
    BusinessFact("language", "language of the web site, two or three letters", "d.language", "fi"),
    BusinessFact(
        "technologies",
        "what the web site is built with, separated by commas",
        "array_to_string(d.technologies, ', ')",
        "WordPress, Google Analytics",
    ),
    BusinessFact(
        "contact_form",
        "page of the web site with a form to write to the business",
        CONTACT_FORM,
        "https://www.kallio-dental.example/yhteystiedot",
        is_sortable=False,
    ),
    BusinessFact(
        "state",
        "why there is no contact, where there is none",
        STATE,
        "robots.txt forbids the site",
        is_sortable=False,
    ),
    BusinessFact(
        "hidden",
        "why its web site shows nothing to a plain reader and gave no contact: javascript, bot_check, login, "
        "consent, parked or unfinished",
        "site.hidden_reason",
        "javascript",
    ),
)
BUSINESS_FACTS = {fact.name: fact for fact in _FACTS}


def _meanings(*names: str) -> dict[str, str]:
    return {name: BUSINESS_FACTS[name].meaning for name in names}


_AFTER_CONTACTS = [name for name in BUSINESS_FACTS if name not in ("business", "website")]
_AFTER_SOURCE = _AFTER_CONTACTS.index("provider")
BUSINESS_COLUMNS = {
    **_meanings("business", "website"),
    **ADDRESS_COLUMNS,
    "phone": "the best phone number",
    **PERSON_COLUMNS,
    "why": "why this is the best contact of the business",
    "other_people": (
        "other people of the business, as Name (title) and address in angle brackets; “; ” between them; those with an "
        "address first, then the most senior"
    ),
    "other_emails": "further email addresses, the best first, separated by spaces",
    "other_phones": "further phone numbers, “; ” between them",
    **_meanings(*_AFTER_CONTACTS[:_AFTER_SOURCE]),
    "source": "page on which the best address was found; the provider's page if only the provider names it",
    "found_at": "day on which it was first found, in UTC",
    **_meanings(*_AFTER_CONTACTS[_AFTER_SOURCE:]),
}
CONTACT_COLUMNS = {
    "business": _NAME,
    "domain": "registrable domain",
    **{header: meaning for each in CONTACT_FIELDS for header, meaning in each.contact_columns.items()},
    "confidence": "how certain it is that this belongs to the business, 0 to 1",
    "found_by": "how it was found; “provider” if only the provider names it",
    "source": "page on which it was found, or the provider's page",
    "found_at": "day on which it was first found, in UTC",
    "queries": _QUERIES,
    "snippet": "the text around it",
}

# Values of the columns, for the description of the API; those of fields of a contact are declared with the field.
EXAMPLES = {
    **{header: each.example for each in CONTACT_FIELDS for header in (*each.lead_columns, *each.contact_columns)},
    **{f"{name}_source_url": "https://www.kallio-dental.example/tiimi" for name in ("email", "phone", "title")},
    **{fact.name: fact.example for fact in _FACTS},
    "verdict_reasons": "the domain receives mail; a role address",
    "profile": "https://www.linkedin.com/in/anna-virtanen",
    "why": "Head of the business (Toimitusjohtaja), own domain, deliverable.",
    "other_people": "Mikko Laine (Dental hygienist) <mikko.laine@kallio-dental.example>",
    "other_emails": "laskutus@kallio-dental.example",
    "other_phones": "+358 9 1234567",
    "source": "https://www.kallio-dental.example/yhteystiedot",
    "found_at": "2026-11-15",
    "confidence": 0.95,
    "found_by": "mailto",
    "snippet": "Ajanvaraus: info@kallio-dental.example",
}

# The ids of the rows that a lead was made of, in the rows of both lists; no file has them.
BUSINESS_IDS = {
    "business_id": "id of the business; empty for a web site without one",
    "place_id": "id of its place",
    "domain_id": "id of its domain",
    "contact_id": "id of the contact with the best address, or else with the best number",
}
CONTACT_IDS = {
    "contact_id": "id of the contact",
    "business_id": "id of its business, if only the business is known",
    "domain_id": "id of its domain",
    "page_id": "id of the page on which it was found",
}


def source_url(name: str) -> str:
    """Return the SQL of the page that a field of the contact `c` is from; NULL where the field is empty."""
    return f"CASE WHEN c.{name} IS NOT NULL THEN coalesce(c.sources -> '{name}' ->> 'url', c.source_url) END"


# The SQL of columns that are no column of the table `contact`, which the statements call `c`.
_EXPRESSIONS = {
    "verdict_reasons": (
        "(SELECT string_agg(reason, '; ') FROM jsonb_array_elements_text(c.verification->'reasons') reason)"
    ),
    **{f"{name}_source_url": source_url(name) for name in ("email", "phone", "title")},
    "profile": "(SELECT value FROM jsonb_each_text(c.profiles) LIMIT 1)",
}
CONTACT_SELECT = ", ".join(
    f"{_EXPRESSIONS.get(header, f'c.{each.name}')} AS {header}"
    for each in CONTACT_FIELDS
    for header in each.contact_columns
)
LEAD_SELECT = ", ".join(
    f"{_EXPRESSIONS.get(header, f'c.{each.name}')} AS {header}"
    for each in CONTACT_FIELDS
    for header in each.lead_columns
)
