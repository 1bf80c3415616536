"""The pages of a site that are worth fetching for contacts, and the links of a page to others of its site."""

from collections import Counter
from collections.abc import Iterable
from heapq import nsmallest
from typing import NamedTuple

from scrapersky.extract.document.model import Document
from scrapersky.extract.document.urls import Resolver, authority_of
from scrapersky.extract.pages.classify import UNKNOWN, PageClassification, classify_page, named_page
from scrapersky.extract.pages.url_parts import FILE_ENDINGS, UrlParts, readable_name, split_url
from scrapersky.extract.pages.vocabulary import PageKind, compact_name
from scrapersky.extract.public_suffix import registrable_domain

# The worth of each kind of page for finding contacts. Other kinds are not fetched.
WORTH = {
    PageKind.CONTACT: 1.0,
    PageKind.IMPRINT: 0.9,
    PageKind.TEAM: 0.8,
    PageKind.ABOUT: 0.7,
    PageKind.HOME: 0.6,
    PageKind.CAREERS: 0.3,
    PageKind.LEGAL: 0.25,
    PageKind.SERVICES: 0.2,
}
NEXT_OF_KIND = 0.5  # factor of the worth for each further page of the same kind
MIN_SCORE = 0.3
MAX_LINKS = 500
MAX_TEXT_WORDS = 4  # of a link in a menu


class PageLink(NamedTuple):
    """A page that can be fetched: its URL and the text of the link to it."""

    url: str
    text: str = ""


class SelectedPage(NamedTuple):
    """A page to fetch, and its classification."""

    url: str
    classification: PageClassification


class _Ranked(NamedTuple):
    page: SelectedPage
    parts: UrlParts

    @property
    def score(self) -> float:
        """The score of its classification."""
        return self.page.classification.score


def select_pages(links: Iterable[PageLink], limit: int, language: str = "") -> list[SelectedPage]:
    """Return the best pages, best first: one language version of each, each kind in turn, short paths before long ones.

    The order of the links does not change the result.
    """
    ranked = _without_duplicates(_rank(links))
    prefix = _select_language(ranked, language)
    kept: list[tuple[float, _Ranked]] = []
    for kind, worth in WORTH.items():
        best = _best_of_kind([one for one in ranked if one.page.classification.kind is kind], prefix, limit)
        kept += [(worth * one.score * NEXT_OF_KIND**place, one) for place, one in enumerate(best)]
    kept.sort(key=lambda pair: (-pair[0], *_order(pair[1])))
    return [one.page for _, one in kept[:limit]]


def is_shallow_unknown(link: PageLink, guess: PageClassification) -> bool:
    """Return whether nothing is known about a page, and it is near the root and named in a few words: not a post.

    A page of a sitemap, which has no link text, is judged by its address alone, and more strictly.
    """
    if guess.kind is not PageKind.OTHER or guess.place != "nowhere":
        return False
    parts = split_url(link.url)
    words = len(readable_name(parts.leaf).replace("_", "-").split("-"))
    if link.text:
        return len(parts.folders) <= 1 and words <= 5 and len(link.text.split()) <= MAX_TEXT_WORDS
    has_digit = any(letter.isdigit() for letter in parts.leaf)
    return not parts.folders and not parts.query and words <= 3 and not has_digit


def select_unknown_pages(links: Iterable[PageLink], limit: int, language: str = "") -> list[str]:
    """Return shallow pages of which nothing is known, for a page budget that is left over: the shortest paths first."""
    ranked = [_Ranked(SelectedPage(link.url, UNKNOWN), split_url(link.url)) for link in links]
    unique = _without_duplicates(ranked)
    prefix = _select_language(unique, language)
    shallow = (one for one in unique if one.parts.language == prefix)
    return [one.page.url for one in nsmallest(limit, shallow, key=_order)]


def _best_of_kind(ranked: list[_Ranked], prefix: str, limit: int) -> list[_Ranked]:
    """Return the best pages of a kind in the selected language; else the best one in another language."""
    in_language = [one for one in ranked if one.parts.language == prefix]
    return nsmallest(limit if in_language else 1, in_language or ranked, key=_order)


def _rank(links: Iterable[PageLink]) -> list[_Ranked]:
    guesses = ((url, classify_page(url, text)) for url, text in links)
    return [
        _Ranked(SelectedPage(url, guess), split_url(url))
        for url, guess in guesses
        if guess.kind in WORTH and guess.score >= MIN_SCORE
    ]


def _without_duplicates(ranked: list[_Ranked]) -> list[_Ranked]:
    """Keep one URL of each page: that with the highest score, then the shortest."""
    best: dict[tuple[str, ...], _Ranked] = {}
    for one in sorted(ranked, key=_order):
        best.setdefault(_identity(one), one)
    return list(best.values())


def _identity(one: _Ranked) -> tuple[str, ...]:
    """Return a key of the page that ignores www, a slash, .html, capitals and campaign parameters."""
    parts = one.parts
    host = parts.host.lower().removeprefix("www.")
    names = (compact_name(readable_name(name)) for name in (*parts.folders, parts.leaf))
    query = parts.query if one.page.classification.place == "query" else named_page(parts.query)
    return (host, parts.language, "/".join(names), query)


def _select_language(ranked: list[_Ranked], requested: str) -> str:
    """Return the language prefix to select: the requested one, else none, else the most frequent."""
    prefixes = Counter(one.parts.language for one in ranked if one.parts.leaf)
    requested = requested.lower().replace("_", "-")
    for prefix in sorted(prefixes):
        if requested and prefix and prefix.replace("_", "-").split("-")[0] == requested.split("-")[0]:
            return prefix
    if "" in prefixes or not prefixes:
        return ""
    return min(prefixes, key=lambda prefix: (-prefixes[prefix], prefix))


def _order(one: _Ranked) -> tuple[float, int, int, str]:
    """Sort by highest score, then fewest folders, then shortest URL."""
    parts = one.parts
    return (-one.score, len(parts.folders) + bool(parts.language), len(one.page.url), one.page.url)


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
