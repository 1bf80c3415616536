"""Parked domains: for sale, or with the placeholder page of a registrar."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Literal
from urllib.parse import urlsplit

from scrapersky.extract.document.charset import EncodedPage, text_of
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.document.urls import Resolver
from scrapersky.extract.hidden_pages.classify import hidden_reason
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.site_metadata import collect_metadata, find_frames
from scrapersky.extract.site_results import ParkedDomain, SiteMetadata
from scrapersky.extract.text import fold, single_line
from scrapersky.extract.word_lists import load_table, load_words

MAX_PLACEHOLDER_TEXT = 4_000  # characters; a used site that mentions a sale of domains has more text
MAX_ADDRESSES = 500
MAX_SCRIPTS = 50
MAX_SCRIPT_LENGTH = 20_000
AD_ATTRIBUTE = "data-adblockkey"  # parking pages ask ad blockers with it to let their advertisements through

PARKING_DOMAINS = load_words("parked", "parking", "domains")
MARKETPLACES = load_words("parked", "marketplaces", "domains")
SCRIPT_MARKS = tuple(sorted(load_words("parked", "script_marks", "parts")))


def read_home_page(
    page: str | EncodedPage,
    url: str,
    headers: Mapping[str, str] | None,
    region: str | None,
    site: str,
    parser: Literal["turbohtml", "lxml"] = "turbohtml",
) -> SiteMetadata | ParkedDomain:
    """Return the facts of the home page of `site`, fetched from `url`; to be run in a parser process."""
    html = text_of(page)
    document, frames = parse_page(html, parser), find_frames(html)
    reason = parked_reason(document, url, site, frames)
    if reason:
        return ParkedDomain(reason)
    metadata = collect_metadata(document, url, headers, region, frames)
    if metadata.contacts:
        return metadata
    hidden = hidden_reason(document, html, url)
    return replace(metadata, contacts=replace(metadata.contacts, hidden=hidden))


def parked_reason(document: Document, url: str, site: str, frames: tuple[str, ...] = ()) -> str:
    """Return the evidence that the domain `site` is parked; "" for a used domain, even with an unfinished page."""
    marketplace = _marketplace(url)
    if marketplace and marketplace != site:
        return f"it leads to {marketplace}, where domains are sold"
    return _by_parts(document, url, site, frames) or _by_sentence(document, site)


def _by_parts(document: Document, url: str, site: str, frames: tuple[str, ...]) -> str:
    resolve = Resolver(url, document.base)
    shown = (script.src for script in document.scripts), (image.src for image in document.images), frames
    for address in _resolved(resolve, chain(*shown)):
        if (owner := _domain_of(address)) in PARKING_DOMAINS and owner != site:
            return f"its page is one of {owner}"
    named = (address for address in _resolved(resolve, (link.href for link in document.links)) if site in address)
    for address in named:
        if (marketplace := _marketplace(address)) and marketplace != site:
            return f"it is offered at {marketplace}"
    has_advertisements = any(AD_ATTRIBUTE in element.attributes for element in document.marked)
    if has_advertisements or _has_script_mark(document):
        return "its page holds nothing but a registrar's advertisements"
    return ""


def _by_sentence(document: Document, site: str) -> str:
    """Search the title, and the text if it is short, for a sentence of parking pages."""
    text = document.text if len(document.text) <= MAX_PLACEHOLDER_TEXT else ""
    folded = fold(single_line(f"{document.title} {text}", MAX_PLACEHOLDER_TEXT * 2))
    phrase_found = next((phrase for sentence, phrase in _sentences() if sentence in folded), "")
    if not phrase_found:
        phrase_found = next((one for one in (f"{site} is for sale", f"{site} may be for sale") if one in folded), "")
    return f"its page says “{phrase_found}”" if phrase_found else ""


def _has_script_mark(document: Document) -> bool:
    scripts = (f"{script.src} {script.text[:MAX_SCRIPT_LENGTH]}" for script in document.scripts[:MAX_SCRIPTS])
    return any(mark in "".join(script.split(" ")) for script in scripts for mark in SCRIPT_MARKS)


def _resolved(resolve: Resolver, addresses: Iterable[str]) -> list[str]:
    return [resolve(address).lower() for address in islice(addresses, MAX_ADDRESSES)]


def _marketplace(url: str) -> str:
    """Return the marketplace for domains to which an address leads, or ""."""
    domain = _domain_of(url)
    if domain in MARKETPLACES or domain in PARKING_DOMAINS:
        return domain
    paths = load_table("parked")["marketplace_paths"].get(domain, "").split()
    return domain if paths and urlsplit(url).path.lower().startswith(tuple(paths)) else ""


def _domain_of(url: str) -> str:
    try:
        return registrable_domain(urlsplit(url).hostname or "")
    except ValueError:
        return ""


@cache
def _sentences() -> tuple[tuple[str, str], ...]:
    """Return each sentence folded and as written."""
    written = load_table("parked")["sentences"]["phrases"].strip().splitlines()
    return tuple((fold(phrase), phrase) for phrase in written)
