"""One entry of a sitemap: its URL, its values, and its image, video, news and language extensions."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from scrapersky.crawl.sitemaps.loc import unescape
from scrapersky.crawl.sitemaps.tokenizer import Tokenizer, read_attributes, split_name

SITEMAP_FIELDS = ("loc", "lastmod", "changefreq", "priority")
MAX_EXTENSIONS = 1_000
_MAX_EXTENSION_CHARS = 4_096
_NO_EXTENSIONS = frozenset([*SITEMAP_FIELDS, "url", "sitemap"])


class SitemapKind(StrEnum):
    """The format of a sitemap, recognised by its content and never by its name."""

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
        """Return the first value of this name, or None."""
        return next((value for key, value in self.fields if key == name), None)


class SitemapEntry(NamedTuple):
    """One URL with its values as written; the properties parse them on access."""

    loc: str
    lastmod_text: str | None = None
    changefreq: str | None = None
    priority_text: str | None = None
    markup: str = ""

    @property
    def lastmod(self) -> datetime | None:
        """The time of the last change, aware and in UTC; None if it is missing or invalid."""
        return parse_lastmod(self.lastmod_text) if self.lastmod_text else None

    @property
    def priority(self) -> float | None:
        """The priority between 0 and 1; None if it is missing or invalid."""
        try:
            priority = float(self.priority_text or "")
        except ValueError:
            return None
        return priority if 0 <= priority <= 1 else None

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """The image, video, news and hreflang elements of this entry."""
        return read_extensions(self.markup) if self.markup else ()


@lru_cache(maxsize=4096)
def parse_lastmod(text: str) -> datetime | None:
    """Parse a W3C or RFC 822 time into aware UTC; without a zone it is UTC, year and month alone are None."""
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
    except OverflowError:  # the first or last day of datetime, with an offset beyond it
        return None


def _parse_rfc822(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def read_extensions(markup: str) -> tuple[Extension, ...]:
    """Parse the extension elements in the markup of an entry; its own tag and fields are ignored."""
    builder = _ExtensionBuilder()
    tokenizer = Tokenizer(builder)
    tokenizer.feed(markup, final=True)
    return builder.done()


class _ExtensionBuilder:
    """Collects one Extension per outermost element."""

    def __init__(self) -> None:
        self._done: list[Extension] = []
        self._open: list[str] = []
        self._fields: list[tuple[str, str]] = []
        self._kind = ""
        self._text = ""

    def start(self, name: str, attributes: str, empty: bool) -> None:
        local = split_name(name)[1]
        if not self._open and local in _NO_EXTENSIONS:
            return
        if not self._open:
            self._kind = "alternate" if local == "link" else local
            self._fields = list(read_attributes(attributes).items())
        self._text = ""
        self._open.append(name.lower())
        if empty:
            self.end(name)

    def end(self, name: str) -> None:
        name = name.lower()
        if name not in self._open:
            return
        value = unescape(self._text[:_MAX_EXTENSION_CHARS]).strip()
        if value:
            self._fields.append((split_name(name)[1], value))
        self._text = ""
        while self._open.pop() != name:
            pass
        if not self._open:
            self._finish()

    def text(self, raw: str) -> None:
        if self._open and len(self._text) < _MAX_EXTENSION_CHARS:
            self._text += raw

    def done(self) -> tuple[Extension, ...]:
        if self._open:
            self._finish()
        return tuple(self._done)

    def _finish(self) -> None:
        if len(self._done) < MAX_EXTENSIONS:
            self._done.append(Extension(self._kind, tuple(self._fields)))
