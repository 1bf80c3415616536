"""The columns of a file of leads, in their order, each with its meaning (docs/leads.md lists them)."""

from scrapersky.core.contact_fields import CONTACT_FIELDS

_NAME = "name of the business; the name on its web site where only that is known"

# Of the contact with the best email address: the address, then the person who has it.
ADDRESS_COLUMNS = {
    header: meaning for each in CONTACT_FIELDS if not each.of_person for header, meaning in each.lead_columns.items()
}
PERSON_COLUMNS = {
    header: meaning for each in CONTACT_FIELDS if each.of_person for header, meaning in each.lead_columns.items()
}
BUSINESS_COLUMNS = {
    "business": _NAME,
    "website": "URL of its web site, without tracking parameters",
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
    "socials": "URLs of profiles, separated by spaces",
    "address": "postal address",
    "city": "city",
    "country": "country, two letters",
    "categories": "what kind of business it is, in words",
    "status": "status at the provider: open, temporarily closed, permanently closed",
    "rating": "rating at the provider",
    "source": "page on which the best address was found; the provider's page if only the provider names it",
    "found_at": "day on which it was first found, in UTC",
    "provider": "provider and its id of the place",
    "domain": "registrable domain",
    "state": "why there is no contact, where there is none",
    "hidden": "why its web site shows nothing to a plain reader and gave no contact: javascript, bot_check, login, "
    "consent, parked or unfinished",
}
CONTACT_COLUMNS = {
    "business": _NAME,
    "domain": "registrable domain",
    **{header: meaning for each in CONTACT_FIELDS for header, meaning in each.contact_columns.items()},
    "confidence": "how certain it is that this belongs to the business, 0 to 1",
    "found_by": "how it was found; “provider” if only the provider names it",
    "source": "page on which it was found, or the provider's page",
    "found_at": "day on which it was first found, in UTC",
    "snippet": "the text around it",
}

# Values of the columns, for the description of the API; those of fields of a contact are declared with the field.
EXAMPLES = {
    **{header: each.example for each in CONTACT_FIELDS for header in (*each.lead_columns, *each.contact_columns)},
    **{f"{name}_source_url": "https://www.kallio-dental.example/tiimi" for name in ("email", "phone", "title")},
    "business": "Kallio Dental",
    "website": "https://kallio-dental.example/",
    "verdict_reasons": "the domain receives mail; a role address",
    "profile": "https://www.linkedin.com/in/anna-virtanen",
    "why": "Head of the business (Toimitusjohtaja), own domain, deliverable.",
    "other_people": "Mikko Laine (Dental hygienist) <mikko.laine@kallio-dental.example>",
    "other_emails": "laskutus@kallio-dental.example",
    "other_phones": "+358 9 1234567",
    "socials": "https://www.instagram.com/kalliodental",
    "city": "Helsinki",
    "country": "FI",
    "categories": "dentist",
    "status": "open",
    "rating": 4.6,
    "source": "https://www.kallio-dental.example/yhteystiedot",
    "found_at": "2026-11-15",
    "provider": "osm node/2398471",
    "domain": "kallio-dental.example",
    "state": "robots.txt forbids the site",
    "hidden": "javascript",
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
