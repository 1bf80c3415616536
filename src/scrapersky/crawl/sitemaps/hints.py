"""Where the sitemaps of a site may be, and which of many is likeliest to list the pages with contacts."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import ada_url

from scrapersky.crawl.sitemaps.tokenizer import read_attributes

COMMON_PATHS = ("/sitemap.xml", "/sitemap_index.xml")
OTHER_PATHS = ("/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz", "/sitemap.txt")
MAX_LINKS = 10
LIKELY, UNKNOWN, UNLIKELY = range(3)  # to list the pages with contacts

_LINK_TAG = re.compile(r"<(?:link|a|area)\s([^<>]{1,4000}+)>", re.IGNORECASE)
_SITEMAP_FILE = re.compile(r"/[^/]{0,200}sitemap[^/]{0,200}\.(?:xml|txt)(?:\.gz)?$", re.IGNORECASE)
# Words in the names of sitemaps, the likeliest to list contact pages first; a name without any is between the two.
_LIKELY = re.compile(
    r"page|contact|kontakt|about|team|staff|people|person|location|office|branch|misc|static|main|site-?info"
)
_UNLIKELY = re.compile(
    r"post|blog|news|article|event|product|categor|tag|author|image|video|media|attachment|archive|review|forum|topic"
    r"|job|recipe|gallery|portfolio|propert|listing|store-?item|sku|brand|search|filter|(?:19|20)[0-9]{2}"
)
_FEED_TYPES = frozenset(["application/rss+xml", "application/atom+xml"])


@dataclass(frozen=True, slots=True)
class HtmlLinks:
    """The links of a page to sitemaps and to feeds."""

    sitemaps: list[str]
    feeds: list[str]


def likelihood_rank(url: str) -> int:
    """Rank the URL of a sitemap by its name: LIKELY to list pages with contacts, UNKNOWN or UNLIKELY."""
    path = urlsplit(url).path.lower()[-200:].replace("sitemap", "")
    if _LIKELY.search(path):
        return LIKELY
    return UNLIKELY if _UNLIKELY.search(path) else UNKNOWN


def html_links(html: str, base: str) -> HtmlLinks:
    """Return the first links of a page to sitemaps and feeds, as absolute URLs."""
    sitemaps: dict[str, None] = {}
    feeds: dict[str, None] = {}
    for match in _LINK_TAG.finditer(html):
        attributes = read_attributes(match[1])
        href = join(base, attributes.get("href", ""))
        if href is None:
            continue
        if "sitemap" in attributes.get("rel", "").lower().split() or _SITEMAP_FILE.search(urlsplit(href).path):
            sitemaps[href] = None
        elif attributes.get("type", "").lower() in _FEED_TYPES:
            feeds[href] = None
    return HtmlLinks(list(sitemaps)[:MAX_LINKS], list(feeds)[:MAX_LINKS])


def join(base: str, reference: str) -> str | None:
    """Resolve a reference to an absolute http(s) URL without fragment, or None."""
    if not reference:
        return None
    try:
        joined = ada_url.URL(reference.strip(), base=base)
        joined.hash = ""
    except ValueError:
        return None
    return str(joined.href) if joined.protocol in ("http:", "https:") else None
