"""The readers that a parser process runs: they import the finders there, so that no other process loads them."""

from collections.abc import Mapping

from scrapersky.extract.document.charset import EncodedPage
from scrapersky.extract.results import Contacts
from scrapersky.extract.site_results import ParkedDomain, SiteFacts, SiteMetadata

# What a parser process imports before its first page.
FINDERS = ("scrapersky.extract.contacts", "scrapersky.extract.site_metadata", "scrapersky.extract.parked_domains")


def read_contacts(page: str | EncodedPage, url: str, region: str | None) -> Contacts:
    """Return the contacts of a page that was fetched from `url`."""
    from scrapersky.extract import contacts

    return contacts.read_contacts(page, url=url, region=region)


def read_metadata(page: str | EncodedPage, url: str) -> SiteMetadata:
    """Return the facts of a home page."""
    from scrapersky.extract import site_metadata

    return site_metadata.read_metadata(page, url)


def read_home_page(
    page: str | EncodedPage, url: str, headers: Mapping[str, str] | None, region: str | None, site: str
) -> SiteMetadata | ParkedDomain:
    """Return the facts of the home page of `site`, or the evidence that this domain is parked."""
    from scrapersky.extract import parked_domains

    return parked_domains.read_home_page(page, url, headers, region, site)


def read_site_facts(page: str | EncodedPage, url: str, region: str | None, site: str) -> SiteFacts | ParkedDomain:
    """Return the facts by which the business at `site` is recognised, or the evidence that this domain is parked."""
    from scrapersky.extract.site_search import facts

    return facts.read_site_facts(page, url, region, site)
