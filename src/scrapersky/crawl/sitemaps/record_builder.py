"""Builds one record of a sitemap or feed from its tags."""

from scrapersky.crawl.sitemaps.entry import SITEMAP_FIELDS, SitemapEntry
from scrapersky.crawl.sitemaps.loc import UnusableLoc, locate, unescape
from scrapersky.crawl.sitemaps.tokenizer import read_attributes, split_name

MAX_FIELD_CHARS = 16_384
MAX_MARKUP_CHARS = 65_536
_MAX_DEPTH = 64
_MAX_VALUE_CHARS = 64

# By record: the tag (with its prefix if that differs from the record's own) and the field it holds.
_SITEMAP_TAGS = {field: field for field in SITEMAP_FIELDS}
_FIELDS = {
    "url": _SITEMAP_TAGS,
    "sitemap": _SITEMAP_TAGS,
    "item": {"link": "loc", "guid": "id", "pubdate": "lastmod", "dc:date": "other_lastmod"},
    "entry": {"link": "loc", "id": "id", "updated": "lastmod", "published": "other_lastmod"},
}
_FEED_RECORDS = frozenset(["item", "entry"])


class Record:
    """Collects the fields of one record, and the markup of everything else in it."""

    def __init__(self, prefix: str, local: str) -> None:
        self.prefix = prefix
        self.local = local
        self._known = _FIELDS[local]
        self._values: dict[str, str] = {}
        self._inner_loc = ""
        self._field: str | None = None
        self._field_tag = ""
        # Lists, not strings: a hostile file of many small pieces would copy a string for each of them.
        self._text: list[str] = []
        self._text_chars = 0
        self._open: list[str] = []
        self._markup: list[str] = []
        self._markup_chars = 0

    def owns(self, name: str) -> bool:
        """Return whether an element of this name is open inside the record."""
        return name in self._open

    def start(self, name: str, attributes: str, empty: bool) -> None:
        """Handle a start tag inside the record: a field, or an element whose markup is kept."""
        prefix, local = split_name(name)
        self._close_field()
        field = self._known.get(local if prefix == self.prefix else prefix + local)
        if field is not None and (not self._open or field == "loc"):
            self._open_field(field, prefix + local, attributes, empty)
            if not self._open:
                return
        if len(self._open) < _MAX_DEPTH and not empty:
            self._open.append(prefix + local)
        self._keep(f"<{name}{attributes}>")

    def end(self, name: str) -> None:
        """Handle an end tag inside the record."""
        lower = name.lower()
        if self._field is not None and lower == self._field_tag:
            self._close_field()
        if lower in self._open:
            self._keep(f"</{name}>")
            while self._open.pop() != lower:
                pass

    def text(self, raw: str) -> None:
        """Handle text of the open field or element."""
        if self._field is not None and self._text_chars <= MAX_FIELD_CHARS:
            self._text.append(raw)
            self._text_chars += len(raw)
        if self._open:
            self._keep(raw)

    def entry(self, base: str | None) -> SitemapEntry:
        """Return the entry of the record; raise UnusableLoc if it has no usable URL."""
        self._close_field()
        loc = self._values.get("loc", "")
        if not loc and self._open:  # an element before the loc was never closed
            loc = self._inner_loc
        if not loc and self.local in _FEED_RECORDS:
            loc = self._permanent_id()
        if len(loc) > MAX_FIELD_CHARS:
            raise UnusableLoc("loc too long")
        return SitemapEntry(
            locate(unescape(loc), base),
            self._value("lastmod") or self._value("other_lastmod"),
            self._value("changefreq"),
            self._value("priority"),
            "" if self.local in _FEED_RECORDS else "".join(self._markup),
        )

    def _value(self, field: str) -> str | None:
        raw = self._values.get(field)
        if raw is None or len(raw) > MAX_FIELD_CHARS:
            return None
        return unescape(raw).strip()[:_MAX_VALUE_CHARS]

    def _permanent_id(self) -> str:
        """Return the id of a feed entry if it is a URL; it replaces a missing link."""
        identity = self._values.get("id", "").strip()
        return identity if identity.startswith(("http://", "https://")) else ""

    def _open_field(self, field: str, tag: str, attributes: str, empty: bool) -> None:
        if self.local in _FEED_RECORDS:
            if field == "loc" and self._take_link(attributes):
                return
            if field == "id" and read_attributes(attributes).get("ispermalink", "").lower() == "false":
                return
        if not empty:
            self._field, self._field_tag = field, tag
            self._text, self._text_chars = [], 0
        elif not self._open:
            self._values.setdefault(field, "")

    def _take_link(self, attributes: str) -> bool:
        """Take the URL of an Atom link, which is an attribute; only the alternate link is the page itself."""
        written = read_attributes(attributes)
        href = written.get("href")
        if href is None:
            return False
        if written.get("rel", "alternate").lower() == "alternate" and not self._open:
            # Already decoded: escape it again, because the value is decoded once at the end.
            self._values.setdefault("loc", href.replace("&", "&amp;"))
        return True

    def _close_field(self) -> None:
        if self._field is None:
            return
        if not self._open:
            self._values.setdefault(self._field, "".join(self._text))
        elif self._field == "loc":
            self._inner_loc = self._inner_loc or "".join(self._text)
        self._field = None

    def _keep(self, markup: str) -> None:
        self._markup_chars += len(markup)
        if self._markup_chars <= MAX_MARKUP_CHARS:
            self._markup.append(markup)
