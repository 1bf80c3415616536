"""What the home page of a site, and perhaps its contact page, shows about its owner."""

from typing import Literal

from scrapersky.extract.business.organisation import find_organisation
from scrapersky.extract.business.postal_addresses import find_postal_addresses
from scrapersky.extract.document.charset import EncodedPage, text_of
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.document.structured_data import read_things
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.pages.select import find_page_links, select_pages
from scrapersky.extract.pages.vocabulary import PageKind
from scrapersky.extract.parked_domains import parked_reason
from scrapersky.extract.phones.find import find_phones
from scrapersky.extract.phones.region import infer_region
from scrapersky.extract.site_metadata import find_frames
from scrapersky.extract.site_results import ParkedDomain, SiteFacts
from scrapersky.extract.text import fold, single_line

MAX_TEXT = 30_000  # characters of a page that are searched
MAX_TITLE = 500
CONTACT_KINDS = (PageKind.CONTACT, PageKind.IMPRINT)


def read_site_facts(
    page: str | EncodedPage,
    url: str,
    region: str | None,
    site: str,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> SiteFacts | ParkedDomain:
    """Return the facts of a page of `site`, fetched from `url`; to be run in a parser process."""
    html = text_of(page)
    document = parse_page(html, parser)
    parked = parked_reason(document, url, site, find_frames(html))
    if parked:
        return ParkedDomain(parked)
    resolve, things = Resolver(url, document.base), read_things(document)
    organisation = find_organisation(things, resolve)
    heading = next((block.text for block in document.blocks if block.tag == "h1"), "")
    owner = (organisation.name, organisation.legal_name) if organisation else ()
    titles = (document.title, document.meta.get("og:site_name", ""), *owner, heading)
    phones, _ = find_phones(document, things, region or infer_region(document, things, site, []))
    contact = select_pages(find_page_links(document, url, resolve), 1, document.language)
    return SiteFacts(
        url,
        tuple(dict.fromkeys(fold(single_line(title, MAX_TITLE)) for title in titles if title)),
        frozenset(phone.number for phone in phones),
        tuple(fold(address.text[:MAX_TITLE]) for address in find_postal_addresses(document, things)),
        fold(document.text[:MAX_TEXT]),
        next((one.url for one in contact if one.classification.kind in CONTACT_KINDS), ""),
    )
