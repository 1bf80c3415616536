"""Scans the records of an XML sitemap, index or feed.

Common records are matched whole by one pattern, all others are read tag by tag, with equal results.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from scrapersky.crawl.sitemaps.entry import SITEMAP_FIELDS, SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.loc import MAX_LOC_CHARS, UnusableLoc, locate, unescape
from scrapersky.crawl.sitemaps.record_builder import Record
from scrapersky.crawl.sitemaps.tokenizer import Tokenizer, split_name

MAX_JUNK_CHARS = 65_536
_MAX_PREFIX_CHARS = 32

_ROOTS = {
    "urlset": SitemapKind.URLSET,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.RSS,
    "rdf": SitemapKind.RSS,
    "feed": SitemapKind.ATOM,
}
_RECORDS = {
    SitemapKind.URLSET: frozenset(["url", "sitemap"]),
    SitemapKind.INDEX: frozenset(["url", "sitemap"]),
    SitemapKind.RSS: frozenset(["item"]),
    SitemapKind.ATOM: frozenset(["entry"]),
    SitemapKind.NONE: frozenset(["url", "sitemap"]),
}
_KIND_OF_RECORD = {"url": SitemapKind.URLSET, "sitemap": SitemapKind.INDEX}
_HTML_TAGS = frozenset(["html", "head", "body", "title", "meta", "div", "p", "script", "h1", "center", "form"])
# SitemapEntry._make without its Python frame: it is called for every URL.
_entry: Callable[[Iterable[str | None]], SitemapEntry] = partial(tuple.__new__, SitemapEntry)

# The patterns of whole records. Every repetition is possessive, so that a failed match costs one pass.
_GAP = r"[ \t\r\n]*+"
_LOC = r"https?://[^\x00-\x20\x7f<>/?#\\\]][^\x00-\x20\x7f<>]*+"
_LOC_IN_CDATA = r"https?://[^\x00-\x20\x7f<>/?#\\\]][^\x00-\x20\x7f<>\]]*+"
_PLAIN = r"[!-%'-;=?-~]"  # printable ASCII without <, > and &
_PLAIN_IN_CDATA = r"[!-%'-;=?-\\^-~]"  # and without ]
_FREQUENCY, _PRIORITY = "[a-zA-Z]{0,64}+", "[0-9.]{0,64}+"
_CDATA = r"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+\]\]>"


class XmlScanner:
    """Finds the records in text that arrives piece by piece; holds at most one of them."""

    def __init__(self, base: str | None, skipped: Counter[str]) -> None:
        self.kind = SitemapKind.NONE
        self.finished = False
        self._base = base
        self._skipped = skipped
        self._batch: list[SitemapEntry] = []
        self._tokens = Tokenizer(self)
        self._root: str | None = None
        self._rootless = False
        self._first_tag: str | None = None
        self._html = False
        self._seen_chars = 0
        self._record: Record | None = None
        self._record_name = ""
        self._record_tag = ""
        self._field_tags: list[str] = []
        self._common: re.Pattern[str] | None = None
        self._free: re.Pattern[str] | None = None
        self._cut = False

    def feed(self, text: str) -> list[SitemapEntry]:
        """Return the entries that this text completes."""
        self._tokens.feed(text)
        return self._take_batch()

    def close(self) -> list[SitemapEntry]:
        """Return the last entries; a record without its end tag is dropped."""
        self._tokens.feed("", final=True)
        self._cut = self._record is not None
        return self._take_batch()

    @property
    def partial(self) -> str | None:
        """After close: why the sitemap is not complete, or None."""
        if self.kind is SitemapKind.NONE:
            return None
        if self._tokens.inside is not None:
            return f"a {self._tokens.inside} is never closed"
        if self._cut:
            return "the file ends in the middle of an entry"
        if self._root is not None:
            return f"the file ends before </{self._root}>"
        return "the sitemap has no root element" if self._rootless else None

    @property
    def why_none(self) -> str:
        """After close: what the text is if it is not a sitemap."""
        if self._html:
            return "an HTML page, not a sitemap"
        if self._first_tag is not None:
            return f"XML without a sitemap in it (<{self._first_tag[:40]}>)"
        return "no sitemap markup and no list of URLs"

    # -- the handler of the tokenizer ----------------------------------------------------------------------------------

    def start(self, name: str, attributes: str, empty: bool) -> None:
        """Handle the start tag of the root, of a record, or inside a record."""
        prefix, local = split_name(name)
        if self._record is not None:
            if prefix + local != self._record_name:
                self._record.start(name, attributes, empty)
                return
            self._emit()  # its end tag is missing
        if self._root is None:
            self._before_root(name, local, empty)
        if local in _RECORDS[self.kind] and (self._root is not None or self._rootless):
            self._open_record(prefix, local)

    def end(self, name: str) -> None:
        """Handle the end tag of the root, of the record, or inside the record."""
        lower = name.lower()
        if self._record is not None:
            if lower == self._record_name and not self._record.owns(lower):
                self._emit()
            elif lower != self._root:
                self._record.end(name)
        if lower == self._root:
            if self._record is not None:
                self._emit()
            self._root = None

    def text(self, raw: str) -> None:
        """Handle text inside a record; count text outside any sitemap as junk."""
        if self._record is not None:
            self._record.text(raw)
        elif self.kind is SitemapKind.NONE:
            self._count_junk(len(raw))

    # -- the root --------------------------------------------------------------------------------------------------

    def _before_root(self, name: str, local: str, empty: bool) -> None:
        kind = _ROOTS.get(local)
        if kind is not None and self.kind in (SitemapKind.NONE, kind):
            self._root, self._rootless = None if empty else name.lower(), False
            self.kind = kind
            return
        if self.kind is not SitemapKind.NONE:
            return
        self._first_tag = self._first_tag or name
        self._html = self._html or local in _HTML_TAGS
        self._rootless = self._rootless or local in _RECORDS[SitemapKind.NONE]
        if local == "html":
            self._stop()
        self._count_junk(len(name))

    def _count_junk(self, chars: int) -> None:
        self._seen_chars += chars
        if self._seen_chars > MAX_JUNK_CHARS:
            self._stop()

    def _stop(self) -> None:
        self.finished = self._tokens.stopped = True

    # -- the records -----------------------------------------------------------------------------------------------

    def _open_record(self, prefix: str, local: str) -> None:
        if not self._record_name:
            self._record_name = prefix + local
            self._record_tag = f"<{prefix}{local}>"
            self._field_tags = [f"<{prefix}{field}>" for field in SITEMAP_FIELDS]
            if self.kind is not SitemapKind.NONE:
                self.kind = _KIND_OF_RECORD.get(local, self.kind)
        if prefix + local != self._record_name:
            return
        self._record = Record(prefix, local)

    def _emit(self) -> None:
        record, self._record = self._record, None
        if record is None:
            return
        try:
            self._batch.append(record.entry(self._base))
        except UnusableLoc as reason:
            self._skipped[str(reason)] += 1
            return
        if self.kind is SitemapKind.NONE:
            self.kind = _KIND_OF_RECORD[record.local]
        if record.local in _KIND_OF_RECORD and len(record.prefix) <= _MAX_PREFIX_CHARS:
            self._common = common_record(record.prefix, record.local)
            self._free = free_record(record.prefix, record.local)
            self._tokens.shortcut = self._take_records

    # -- whole records at once -------------------------------------------------------------------------------------

    def _take_records(self, buffer: str, position: int) -> int:
        """Take the following records that a pattern matches; return the position behind the last one."""
        if self._record is not None or self._common is None or not buffer.startswith(self._record_tag, position):
            return position
        if self._root is None and not self._rootless:
            return position
        while True:
            before = position
            position = self._take_free_record(buffer, self._take_common_records(self._common, buffer, position))
            if position == before:
                return position

    def _take_common_records(self, pattern: re.Pattern[str], buffer: str, position: int) -> int:
        batch = self._batch
        match = None
        for match in iter(pattern.scanner(buffer, position).match, None):  # type: ignore[attr-defined]
            entry = match.groups()
            loc = entry[0]
            if "&" in loc or len(loc) > MAX_LOC_CHARS or not loc.isascii():
                self._take_odd(unescape(loc), entry[1:])
            else:
                batch.append(_entry(entry))
        return position if match is None else match.end()

    def _take_free_record(self, buffer: str, position: int) -> int:
        match = self._free.match(buffer, position) if self._free is not None else None
        if match is None:
            return position
        record = match[0]
        written, literal, lastmod = match["loc"], match["loc_in_cdata"], match["lastmod"]
        if (written is None and literal is None) or any(record.count(tag) > 1 for tag in self._field_tags):
            return position  # without loc, or with a field twice: read it tag by tag
        markup = record if match["name"] or match["empty"] else ""
        lastmod = match["lastmod_in_cdata"] if lastmod is None else lastmod
        loc = literal if written is None else unescape(written)
        self._take_odd(loc, (lastmod, match["changefreq"], match["priority"], markup))
        return match.end()

    def _take_odd(self, loc: str, values: tuple[str | None, ...]) -> None:
        try:
            self._batch.append(_entry((locate(loc, self._base), *values)))
        except UnusableLoc as reason:
            self._skipped[str(reason)] += 1

    def _take_batch(self) -> list[SitemapEntry]:
        batch, self._batch = self._batch, []
        return batch


def _date(plain: str) -> str:
    """Return the pattern of a word, or of a day and a time with a space between them."""
    return rf"{plain}{{0,32}}+(?: {plain}{{1,31}}+)?+"


def _foreign(prefix: str) -> str:
    """Return the pattern for the beginning of a name with another prefix than the record."""
    own = rf"(?!{prefix})" if prefix else ""
    return rf"{own}[A-Za-z][A-Za-z0-9_.\-]*+:"


@lru_cache(maxsize=64)
def common_record(prefix: str, record: str) -> re.Pattern[str]:
    """Compile: loc, lastmod, changefreq, priority in this order, then elements of other prefixes; a group for each."""
    p = re.escape(prefix)
    return re.compile(
        rf"<{p}{record}>{_GAP}<{p}loc>{_GAP}({_LOC}){_GAP}</{p}loc>{_GAP}"
        rf"(?:<{p}lastmod>{_GAP}({_date(_PLAIN)}){_GAP}</{p}lastmod>{_GAP})?+"
        rf"(?:<{p}changefreq>({_FREQUENCY})</{p}changefreq>{_GAP})?+"
        rf"(?:<{p}priority>({_PRIORITY})</{p}priority>{_GAP})?+"
        rf"((?:</?+{_foreign(p)}[^<]*+)*+)</{p}{record}>{_GAP}"
    )


@lru_cache(maxsize=64)
def free_record(prefix: str, record: str) -> re.Pattern[str]:
    """Compile: the fields in any order, with CDATA, and with complete elements of other prefixes between them.

    A repeated field matches with its last value, so the caller must reject such records.
    """
    p = re.escape(prefix)
    foreign = _foreign(p)
    loc_in_cdata = rf"<!\[CDATA\[{_GAP}(?P<loc_in_cdata>{_LOC_IN_CDATA}){_GAP}\]\]>"
    lastmod_in_cdata = rf"<!\[CDATA\[(?P<lastmod_in_cdata>{_date(_PLAIN_IN_CDATA)})\]\]>"
    parts = (
        rf"<{p}loc>{_GAP}(?:{loc_in_cdata}|(?P<loc>{_LOC})){_GAP}</{p}loc>",
        rf"<{p}lastmod>{_GAP}(?:{lastmod_in_cdata}|(?P<lastmod>{_date(_PLAIN)})){_GAP}</{p}lastmod>",
        rf"<{p}changefreq>(?P<changefreq>{_FREQUENCY})</{p}changefreq>",
        rf"<{p}priority>(?P<priority>{_PRIORITY})</{p}priority>",
        rf"<(?P<empty>{foreign})[^<>]*+(?<=/)>",
        rf"<(?P<name>{foreign}[^\s<>/\"'=!?]++)(?:[ \t\r\n][^<>]*+)?+(?<!/)>"
        rf"(?:[^<]++|{_CDATA}|<(?!/?+(?P=name)[\s/>])/?+{foreign}[^<]*+)*+</(?P=name)>",
    )
    return re.compile(rf"<{p}{record}>{_GAP}(?:(?:{'|'.join(parts)}){_GAP})*+</{p}{record}>{_GAP}")
