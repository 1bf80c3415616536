"""All contacts of a page: calls every finder of this package."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from scrapersky.extract.business.postal_addresses import find_postal_addresses
from scrapersky.extract.business.social_profiles import find_social_profiles
from scrapersky.extract.contact_forms import has_contact_form
from scrapersky.extract.document.charset import EncodedPage, text_of
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.document.structured_data import read_things
from scrapersky.extract.emails.data_protection_officers import find_external_officer_blocks
from scrapersky.extract.emails.find import find_emails
from scrapersky.extract.hidden_pages.classify import hidden_reason
from scrapersky.extract.people.find import find_people
from scrapersky.extract.phones.find import find_phones
from scrapersky.extract.phones.region import infer_region
from scrapersky.extract.results import Contacts, Person, PostalAddress, Rejected

MAX_CONTACTS = 100  # of each kind; a page with more is a directory or a trap
MAX_REJECTED = 200


def extract_contacts(
    document: Document,
    *,
    url: str = "",
    region: str | None = None,
    site: str | None = None,
    needs_people: bool = True,
) -> Contacts:
    """Extract the contacts of a page, in the order of the page; the same page gives the same contacts.

    `url` is the address the page was fetched from, `site` the domain of the business where it differs, `region` the
    two-letter country whose phone numbers the page writes; without it the country is inferred from the page.
    Without `needs_people`, people and postal addresses are searched only if nothing else is found.
    """
    host = site or _host(url)
    things = read_things(document)
    excluded = find_external_officer_blocks(document, host)
    emails, rejected_emails = find_emails(document, things, host, excluded)
    region = region or infer_region(document, things, host, [email.address for email in emails])
    phones, rejected_phones = find_phones(document, things, region, excluded)
    socials, rejected_socials = find_social_profiles(document, things)
    people: list[Person] = []
    addresses: list[PostalAddress] = []
    rejected_people: list[Rejected] = []
    if needs_people or not (emails or phones or socials):
        people, rejected_people = find_people(document, things, emails, phones, region, excluded, host)
        addresses = find_postal_addresses(document, things)
    found: dict[str, Sequence[object]] = {
        "emails": emails,
        "phones": phones,
        "socials": socials,
        "people": people,
        "addresses": addresses,
    }
    return Contacts(
        emails=tuple(emails[:MAX_CONTACTS]),
        phones=tuple(phones[:MAX_CONTACTS]),
        socials=tuple(socials[:MAX_CONTACTS]),
        people=tuple(people[:MAX_CONTACTS]),
        addresses=tuple(addresses[:MAX_CONTACTS]),
        rejected=tuple([*rejected_emails, *rejected_phones, *rejected_socials, *rejected_people][:MAX_REJECTED]),
        region=region,
        cut=document.cut | {kind for kind, values in found.items() if len(values) > MAX_CONTACTS},
    )


def read_contacts(
    page: str | EncodedPage,
    *,
    url: str = "",
    region: str | None = None,
    site: str | None = None,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> Contacts:
    """Parse a page and extract its contacts; to be run in a parser process (parser_pool/pool.py)."""
    html = text_of(page)
    document = parse_page(html, parser)
    found = extract_contacts(document, url=url, region=region, site=site)
    contacts = replace(found, has_contact_form=has_contact_form(html))
    return contacts if contacts else replace(contacts, hidden=hidden_reason(document, html, url))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""  # a malformed address has no host
