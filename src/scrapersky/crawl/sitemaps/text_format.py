"""Scans text sitemaps: one URL per line; other lines are skipped and counted."""

import re
from collections import Counter

from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.loc import MAX_LOC_CHARS, UnusableLoc, locate

MAX_LINE_CHARS = 16_384
_URL_LINE = re.compile(r"https?://[^\s<>/?#\\][^\s<>]*+", re.IGNORECASE)


def looks_like_lines(head: str) -> bool:
    """Return whether the text is a list of URLs: its first line, or at least half of its lines."""
    lines = [line.strip() for line in head.replace("\r", "\n").split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    urls = [line for line in lines if _URL_LINE.fullmatch(line)]
    return bool(urls) and (lines[0] == urls[0] or ("<" not in head and 2 * len(urls) >= len(lines)))


class LineScanner:
    """Finds the URLs in lines that arrive piece by piece; holds at most one line."""

    kind = SitemapKind.TEXT
    finished = False
    partial = None
    why_none = ""

    def __init__(self, base: str | None, skipped: Counter[str]) -> None:
        self._base = base
        self._skipped = skipped
        self._held = ""
        self._overlong = False

    def feed(self, text: str) -> list[SitemapEntry]:
        """Return the entries of the lines that end in this text."""
        text = (self._held + text).replace("\r", "\n")
        lines = text.split("\n")
        self._held = lines.pop()
        if self._overlong and lines:  # the end of a line that was too long to keep
            lines[0] = ""
            self._overlong = False
            self._skipped["loc too long"] += 1
        if len(self._held) > MAX_LINE_CHARS:
            self._held = ""
            self._overlong = True
        return self._entries(lines)

    def close(self) -> list[SitemapEntry]:
        """Return the entry of the last line, which may have no line end."""
        return self.feed("\n")

    def _entries(self, lines: list[str]) -> list[SitemapEntry]:
        entries = []
        for line in lines:
            url = line.strip()
            if len(line) > MAX_LINE_CHARS:
                self._skipped["loc too long"] += 1
            elif len(url) <= MAX_LOC_CHARS and url.isascii() and _URL_LINE.fullmatch(url):
                entries.append(SitemapEntry(url))
            elif url and not url.startswith("#"):
                self._add_odd(url, entries)
        return entries

    def _add_odd(self, line: str, entries: list[SitemapEntry]) -> None:
        if "://" not in line[:8]:
            self._skipped["not a URL"] += 1
            return
        try:
            entries.append(SitemapEntry(locate(line.split()[0], self._base)))
        except UnusableLoc as reason:
            self._skipped[str(reason)] += 1
