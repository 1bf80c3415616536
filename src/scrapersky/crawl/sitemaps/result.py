"""A search for sitemaps: its limits, which sites it may visit, and its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Address
from urllib.parse import urlsplit

from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.extract.public_suffix import split_host

# Called with the URL of a sitemap and some of its entries; false means that no more entries are needed.
EntrySink = Callable[[str, list[SitemapEntry]], bool]


class SitePolicy(StrEnum):
    """To which other sites a sitemap may refer."""

    DOMAIN = "domain"
    HOST = "host"
    ANY = "any"

    def allows(self, site: str, other: str) -> bool:
        """Return whether a sitemap at `other` belongs to the site at this URL."""
        if self is SitePolicy.ANY:
            return True
        site_host, other_host = _host_of(site), _host_of(other)
        if not site_host or not other_host:
            return False
        if self is SitePolicy.HOST or site_host == other_host:
            return site_host == other_host
        return registrable_domain(site_host) == registrable_domain(other_host)


class FoundBy(StrEnum):
    """How the URL of a sitemap was found."""

    GIVEN = "given"
    ROBOTS = "robots.txt"
    WELL_KNOWN = "well-known path"
    HTML = "HTML link"
    FEED = "feed link"
    INDEX = "index"


class SearchOutcome(StrEnum):
    """How a search ended."""

    FOUND = "found"
    NONE = "none"
    FAILED = "failed"


class MissKind(StrEnum):
    """Why a URL has no sitemap: it does not exist, it could not be fetched now, or it was not requested."""

    NONE = "none"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The limits of a search."""

    max_fetches: int = 20  # sitemaps opened; further children are listed without being read
    max_depth: int = 3  # of indexes inside indexes
    max_sitemaps: int = 10_000  # URLs seen altogether; an index is read no further
    max_listed: int = 1_000  # URLs that are kept, the likeliest ones
    concurrency: int = 2
    html_bytes: int = 262_144  # of the home page, for its links
    policy: SitePolicy = SitePolicy.DOMAIN
    opens_unlikely: bool = True  # children of an index named after posts, products, tags or images; else listed unread


@dataclass(frozen=True, slots=True)
class FoundSitemap:
    """A sitemap. Its kind is None if an index lists it and it was not read; `partial` is the reason."""

    url: str
    final_url: str
    kind: SitemapKind | None
    found_by: FoundBy
    parent: str | None = None
    depth: int = 0
    lastmod_text: str | None = None
    entries: int | None = None  # None if it was not read to its end
    skipped: dict[str, int] = field(default_factory=dict)
    partial: str | None = None


@dataclass(frozen=True, slots=True)
class SitemapCandidate:
    """A URL where a sitemap may be."""

    url: str
    found_by: FoundBy
    parent: str | None = None
    depth: int = 0
    lastmod_text: str | None = None

    def found(
        self,
        kind: SitemapKind | None,
        final_url: str,
        *,
        entries: int | None = None,
        skipped: dict[str, int] | None = None,
        partial: str | None = None,
    ) -> FoundSitemap:
        """Return the sitemap at this URL."""
        origin = (self.found_by, self.parent, self.depth, self.lastmod_text)
        return FoundSitemap(self.url, final_url, kind, *origin, entries, skipped or {}, partial)


@dataclass(frozen=True, slots=True)
class Miss:
    """A URL without a sitemap, and the reason."""

    url: str
    found_by: FoundBy
    kind: MissKind
    why: str
    retry_after: timedelta | None = None


@dataclass(slots=True)
class SitemapSearch:
    """The result of a search."""

    site: str
    sitemaps: list[FoundSitemap] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    limits_reached: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> SearchOutcome:
        """Failed only if nothing was found and a retry of some URL might succeed."""
        if self.sitemaps:
            return SearchOutcome.FOUND
        kinds = {miss.kind for miss in self.misses}
        if MissKind.FAILED in kinds or (kinds and MissKind.NONE not in kinds):
            return SearchOutcome.FAILED
        return SearchOutcome.NONE

    @property
    def why(self) -> str:
        """The outcome as a sentence."""
        if self.sitemaps:
            sources = dict.fromkeys(found.found_by for found in self.sitemaps if found.found_by is not FoundBy.INDEX)
            return f"{len(self.sitemaps)} found by {', '.join(sources)}."
        if self.outcome is SearchOutcome.NONE:
            return f"No sitemap at any of {len(self.misses)} addresses."
        decisive = [miss for miss in self.misses if miss.kind is MissKind.FAILED] or self.misses
        return decisive[0].why

    @property
    def partial(self) -> list[str]:
        """Why the result is incomplete: limits that were reached, sitemaps that were read in part."""
        return [*self.limits_reached, *(f"{found.url}: {found.partial}" for found in self.sitemaps if found.partial)]

    @property
    def retry_after(self) -> timedelta | None:
        """The longest wait that a site requested, or None."""
        return max((miss.retry_after for miss in self.misses if miss.retry_after is not None), default=None)


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """Return the registered domain; an IP address stays as it is, an unknown ending counts as a public suffix."""
    parts = split_host(host, is_private_kept=True)  # a.github.io is not b.github.io
    if parts.suffix:
        return parts.registrable or host
    if ":" in host or _is_ipv4(host):
        return host
    return ".".join(host.split(".")[-2:])


def _is_ipv4(host: str) -> bool:
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True
