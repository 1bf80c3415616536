"""Everything a page says about whom to write to: the one door to the finders of this room."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

from scrapersky.extract import data_protection_officers
from scrapersky.extract.business import postal_addresses, social_profiles
from scrapersky.extract.document import structured_data
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.emails import find as emails
from scrapersky.extract.people import associate
from scrapersky.extract.people import find as people
from scrapersky.extract.phones import find as phones
from scrapersky.extract.phones import region as regions
from scrapersky.extract.results import Contacts

MAX_CONTACTS = 100  # of each kind; a page with more is a directory or a trap
MAX_REJECTED = 200


def extract_contacts(
    document: Document, *, url: str = "", region: str | None = None, site: str | None = None
) -> Contacts:
    """The contacts of a page, deterministic and in its order.

    `url` is where the page was fetched, `site` the domain of the business where that is another one, `region` the
    two letters of the country whose numbers it writes; without it the country is inferred from the page.
    """
    host = site or _host(url)
    things = structured_data.things(document)
    others = data_protection_officers.outside(document, host)
    found_emails, no_emails = emails.find(document, things, host, others)
    region = region or regions.infer(document, things, host, [email.address for email in found_emails])
    found_phones, no_phones = phones.find(document, things, region, others)
    found_socials, no_socials = social_profiles.find(document, things)
    sightings, no_people = people.find(document, things, others)
    found_people = associate.together(document, sightings, found_emails, found_phones, region)
    found_addresses = postal_addresses.find(document, things)
    kept: dict[str, Sequence[object]] = {
        "emails": found_emails,
        "phones": found_phones,
        "socials": found_socials,
        "people": found_people,
        "addresses": found_addresses,
    }
    cut = {name for name, values in kept.items() if len(values) > MAX_CONTACTS}
    return Contacts(
        emails=tuple(found_emails[:MAX_CONTACTS]),
        phones=tuple(found_phones[:MAX_CONTACTS]),
        socials=tuple(found_socials[:MAX_CONTACTS]),
        people=tuple(found_people[:MAX_CONTACTS]),
        addresses=tuple(found_addresses[:MAX_CONTACTS]),
        rejected=tuple([*no_emails, *no_phones, *no_socials, *no_people][:MAX_REJECTED]),
        region=region,
        cut=frozenset(cut) | document.cut,
    )


def read_contacts(
    html: str,
    *,
    url: str = "",
    region: str | None = None,
    site: str | None = None,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> Contacts:
    """Parse and extract in one call, as a parser process runs it (see parsing.py)."""
    return extract_contacts(parse_page(html, parser), url=url, region=region, site=site)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""  # an address no browser could open names no host
