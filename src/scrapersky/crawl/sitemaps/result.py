"""What a search for sitemaps found: every sitemap with how it was found, and every try that led to nothing with why."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.read import ReadLimits
from scrapersky.crawl.sitemaps.same_site import SitePolicy


class SitemapResponse(Protocol):
    """What came back for one address: where it was in the end, and its body piece by piece."""

    @property
    def final_url(self) -> str: ...
    def __aiter__(self) -> AsyncIterator[bytes]: ...


class SitemapWeb(Protocol):
    """The web as a search needs it; both methods raise FetchError when there is nothing to be had."""

    def stream(self, url: str) -> AbstractAsyncContextManager[SitemapResponse]: ...
    async def robots_sitemaps(self, url: str) -> Sequence[str]: ...


class How(StrEnum):
    """How an address of a sitemap came to be known."""

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
    """Why an address gave no sitemap: there is none, it could not be had now, or it was not asked for."""

    NONE = "none"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far a search goes."""

    max_fetches: int = 20  # sitemaps looked into; further children are listed without being read
    max_depth: int = 3  # of indexes inside indexes
    max_sitemaps: int = 50_000  # listed altogether
    at_once: int = 2
    html_bytes: int = 262_144  # of the home page, for its links
    policy: SitePolicy = SitePolicy.DOMAIN
    read: ReadLimits = field(default_factory=ReadLimits)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An address where a sitemap may be."""

    url: str
    how: How
    parent: str | None = None
    depth: int = 0
    lastmod_text: str | None = None


@dataclass(frozen=True, slots=True)
class FoundSitemap:
    """A sitemap. Its kind is None when an index lists it and it was not read any more, and then `partial` says why."""

    url: str
    final_url: str
    kind: SitemapKind | None
    how: How
    parent: str | None = None
    depth: int = 0
    lastmod_text: str | None = None
    entries: int | None = None  # None when it was only looked into, not read to its end
    skipped: dict[str, int] = field(default_factory=dict)
    partial: str | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """An address that gave no sitemap, and the reason."""

    url: str
    how: How
    kind: MissKind
    why: str
    retry_after: timedelta | None = None


@dataclass(slots=True)
class SitemapSearch:
    """What came of a search: found, none or failed, and why."""

    site: str
    sitemaps: list[FoundSitemap] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    limits_reached: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> SearchOutcome:
        """Failed only when nothing was found and some address might have given it another time."""
        if self.sitemaps:
            return SearchOutcome.FOUND
        kinds = {miss.kind for miss in self.misses}
        if MissKind.FAILED in kinds or (kinds and MissKind.NONE not in kinds):
            return SearchOutcome.FAILED
        return SearchOutcome.NONE

    @property
    def why(self) -> str:
        """One sentence about the outcome."""
        if self.sitemaps:
            ways = ", ".join(dict.fromkeys(str(found.how) for found in self.sitemaps if found.how is not How.INDEX))
            return f"{len(self.sitemaps)} found by {ways}."
        if self.outcome is SearchOutcome.NONE:
            return f"No sitemap at any of {len(self.misses)} addresses."
        decisive = [miss for miss in self.misses if miss.kind is MissKind.FAILED] or self.misses
        return decisive[0].why

    @property
    def partial(self) -> list[str]:
        """Why this is not everything: limits that were reached, sitemaps read in part."""
        return [*self.limits_reached, *(f"{found.url}: {found.partial}" for found in self.sitemaps if found.partial)]

    @property
    def retry_after(self) -> timedelta | None:
        """When a failed search is worth repeating, if any site said so."""
        return max((miss.retry_after for miss in self.misses if miss.retry_after is not None), default=None)


# Gets the URL of a sitemap and some of its entries; false means that no more are wanted.
EntrySink = Callable[[str, list[SitemapEntry]], bool]
