"""One line of a sitemap: where a page is, when it changed, and what else was said about it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

SITEMAP_FIELDS = ("loc", "lastmod", "changefreq", "priority")


class SitemapKind(StrEnum):
    """What a body turned out to be, by its content and never by its name."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Extension:
    """An image, video, news or alternate-language element of an entry, its values in the order of the file."""

    kind: str
    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """The first value of this name."""
        return next((value for key, value in self.fields if key == name), None)


class SitemapEntry(NamedTuple):
    """One URL with its values as written; what costs time to understand is understood when it is asked for."""

    loc: str
    lastmod_text: str | None = None
    changefreq: str | None = None
    priority_text: str | None = None
    markup: str = ""

    @property
    def lastmod(self) -> datetime | None:
        """The time of the last change, aware and in UTC; None when nothing or nonsense was written."""
        return parse_lastmod(self.lastmod_text) if self.lastmod_text else None

    @property
    def priority(self) -> float | None:
        """The priority between 0 and 1; None when nothing or nonsense was written."""
        try:
            priority = float(self.priority_text or "")
        except ValueError:
            return None
        return priority if 0 <= priority <= 1 else None

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The image, video, news and hreflang elements of this entry."""
        if not self.markup:
            return ()
        # Here, not above: the markup reader stands on this file.
        from scrapersky.crawl.sitemaps.tokenizer import read_extensions

        return read_extensions(self.markup)


@lru_cache(maxsize=4096)
def parse_lastmod(text: str) -> datetime | None:
    """A W3C or RFC 822 time as aware UTC; a time without zone is taken as UTC, year and month alone as nothing."""
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment_or_none = _parse_rfc822(text)
        if moment_or_none is None:
            return None
        moment = moment_or_none
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or last day there is, with an offset that leads beyond it
        return None


def _parse_rfc822(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
