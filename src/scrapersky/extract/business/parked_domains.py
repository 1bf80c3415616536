"""A domain that nobody uses: it is held for sale, or shows the page that its registrar shows for every new name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal
from urllib.parse import urlsplit

from scrapersky.extract import word_lists
from scrapersky.extract.business.site_metadata import SiteMetadata, collect_metadata, frames_of
from scrapersky.extract.document import parse as reading
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.text import fold, single_line

FEW_WORDS = 4_000  # characters: whoever uses a domain and writes that one is for sale writes more
MAX_ADDRESSES = 500
MAX_SCRIPTS = 50
MAX_SCRIPT_LENGTH = 20_000
SEAL = "data-adblockkey"  # with which such pages ask ad blockers to let their advertisements through

KEEPERS = word_lists.words("parked", "keepers", "domains")
MARKETS = word_lists.words("parked", "markets", "domains")
MARKS = tuple(sorted(word_lists.words("parked", "marks", "parts")))


@dataclass(frozen=True, slots=True)
class ParkedDomain:
    """Nobody is behind the page, and what tells it."""

    reason: str


def read_home_page(
    html: str,
    url: str,
    headers: Mapping[str, str] | None,
    region: str | None,
    site: str,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> SiteMetadata | ParkedDomain:
    """The facts of the home page of `site` that was fetched from this address: to be run in a parser process."""
    document, frames = reading.parse_page(html, parser), frames_of(html)
    reason = parked_reason(document, url, site, frames)
    return ParkedDomain(reason) if reason else collect_metadata(document, url, headers, region, frames)


def parked_reason(document: Document, url: str, site: str, frames: tuple[str, ...] = ()) -> str:
    """What tells that the domain `site` is parked; empty for a page of somebody, however bare or unfinished it is."""
    return _by_address(url, site) or _by_parts(document, url, site, frames) or _by_sentence(document, site)


def _by_address(url: str, site: str) -> str:
    market = _market(url)
    return f"it leads to {market}, where domains are sold" if market and market != site else ""


def _by_parts(document: Document, url: str, site: str, frames: tuple[str, ...]) -> str:
    resolve = Resolver(url, document.base)
    shown = (script.src for script in document.scripts), (image.src for image in document.images), frames
    for address in _resolved(resolve, chain(*shown)):
        if (keeper := _domain_of(address)) in KEEPERS and keeper != site:
            return f"its page is one of {keeper}"
    named = (address for address in _resolved(resolve, (link.href for link in document.links)) if site in address)
    for address in named:
        if (market := _market(address)) and market != site:
            return f"it is offered at {market}"
    sealed = any(SEAL in element.attributes for element in document.marked)
    return "its page holds nothing but a registrar's advertisements" if sealed or _is_marked(document) else ""


def _by_sentence(document: Document, site: str) -> str:
    """The title may say so on any page; the text only where it is short."""
    text = document.text if len(document.text) <= FEW_WORDS else ""
    read = fold(single_line(f"{document.title} {text}", FEW_WORDS * 2))
    said = next((phrase for folded, phrase in _sentences() if folded in read), "")
    if not said:
        said = next((one for one in (f"{site} is for sale", f"{site} may be for sale") if one in read), "")
    return f"its page says “{said}”" if said else ""


def _is_marked(document: Document) -> bool:
    scripts = (f"{script.src} {script.text[:MAX_SCRIPT_LENGTH]}" for script in document.scripts[:MAX_SCRIPTS])
    return any(mark in "".join(script.split(" ")) for script in scripts for mark in MARKS)


def _resolved(resolve: Resolver, addresses: Iterable[str]) -> list[str]:
    return [resolve(address).lower() for address, _ in zip(addresses, range(MAX_ADDRESSES), strict=False)]


def _market(url: str) -> str:
    """The market for domains that an address belongs to, or nothing."""
    domain = _domain_of(url)
    if domain in MARKETS or domain in KEEPERS:
        return domain
    paths = word_lists.table("parked")["counters"].get(domain, "").split()
    return domain if paths and urlsplit(url).path.lower().startswith(tuple(paths)) else ""


def _domain_of(url: str) -> str:
    try:
        return registrable_domain(urlsplit(url).hostname or "")
    except ValueError:
        return ""


@cache
def _sentences() -> tuple[tuple[str, str], ...]:
    """Each sentence as it is compared and as it is written."""
    written = word_lists.table("parked")["sentences"]["phrases"].strip().splitlines()
    return tuple((fold(phrase), phrase) for phrase in written)
