"""The links of a page to other pages of the same site: where to go on when there is no sitemap."""

from urllib.parse import urlsplit

from scrapersky.extract.document import Document
from scrapersky.extract.hosts import registrable
from scrapersky.extract.page_picks import Candidate
from scrapersky.extract.page_routes import FILE_ENDINGS, route_of
from scrapersky.extract.page_urls import Resolver

MAX_LINKS = 500


def links_of(document: Document, url: str, resolve: Resolver) -> tuple[Candidate, ...]:
    """The pages linked to, each once with the first text it is called by, in the order of the page."""
    site = _site(url)
    found: dict[str, Candidate] = {}
    for link in document.links:
        address = resolve(link.href).partition("#")[0]
        text = link.text or link.label
        if not address or (address in found and (found[address].text or not text)):
            continue
        if _site(address) == site and route_of(address).ending not in FILE_ENDINGS:
            found[address] = Candidate(address, text)
            if len(found) >= MAX_LINKS:
                break
    return tuple(found.values())


def _site(url: str) -> str:
    """The registered domain; the host itself where there is none, as in a laboratory."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return registrable(host) or host
