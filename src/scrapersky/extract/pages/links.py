"""The links of a page to other pages of the same site, for sites without a sitemap."""

from scrapersky.extract.document.model import Document
from scrapersky.extract.document.urls import Resolver, authority_of
from scrapersky.extract.pages.select import PageLink
from scrapersky.extract.pages.url_parts import FILE_ENDINGS, split_url
from scrapersky.extract.public_suffix import registrable_domain

MAX_LINKS = 500


def find_page_links(document: Document, url: str, resolve: Resolver) -> tuple[PageLink, ...]:
    """Return the linked pages in the order of the page, each once with its first link text."""
    site = _site(resolve(url))
    found: dict[str, PageLink] = {}
    for link in document.links:
        address = resolve(link.href).partition("#")[0]
        text = link.text or link.label
        if not address or (address in found and (found[address].text or not text)):
            continue
        if _site(address) == site and split_url(address).ending not in FILE_ENDINGS:
            found[address] = PageLink(address, text)
            if len(found) >= MAX_LINKS:
                break
    return tuple(found.values())


def _site(address: str) -> str:
    """Return the registered domain, or the host if it has none, such as localhost."""
    if not address:
        return ""
    authority = authority_of(address)
    before, _, port = authority.rpartition(":")
    host = before if port.isdigit() else authority
    return registrable_domain(host) or host
