"""Reads a sitemap of any size, kind and condition from bytes in any pieces, in constant memory."""

import asyncio
import codecs
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from scrapersky.crawl.sitemaps.encoding import HEAD_BYTES, decoder_for
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.gunzip import PIECE_BYTES, Inflater
from scrapersky.crawl.sitemaps.text_format import LineScanner, looks_like_lines
from scrapersky.crawl.sitemaps.xml_records import XmlScanner

_SCAN_BYTES = 32_768
_BINARY = {
    b"PK\x03\x04": "a ZIP archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"\x7fELF": "a program",
}


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much of one sitemap is read at most; whoever reaches a limit gets what came before it, marked partial."""

    max_bytes: int = 256 * 1024 * 1024  # after inflating
    max_entries: int = 1_000_000
    max_barren_bytes: int = 16 * 1024 * 1024  # without a single entry among them


@dataclass(slots=True)
class SitemapReport:
    """What came of reading one sitemap."""

    kind: SitemapKind = SitemapKind.NONE
    entries: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # records without a usable URL, by reason
    partial: str | None = None  # why this is not the whole sitemap
    why_none: str | None = None  # what this is, when it is no sitemap
    gzip_layers: int = 0
    bytes_read: int = 0  # after inflating


class _Scanner(Protocol):
    @property
    def kind(self) -> SitemapKind: ...
    @property
    def finished(self) -> bool: ...
    @property
    def partial(self) -> str | None: ...
    @property
    def why_none(self) -> str: ...
    def feed(self, text: str) -> list[SitemapEntry]: ...
    def close(self) -> list[SitemapEntry]: ...


class SitemapReader:
    """Feed it bytes, take the entries, close it, read the report; it never raises, whatever the bytes are.

    `feed` and `close` hand out one list per piece of at most 64 KiB, often an empty one: read them to the end.
    When `finished` is true, more bytes change nothing, and the caller may stop fetching them.
    """

    def __init__(self, url: str | None = None, limits: ReadLimits | None = None) -> None:
        self.report = SitemapReport()
        self.finished = False
        self._url = url
        self._limits = limits or ReadLimits()
        self._inflater = Inflater()
        self._head = b""
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._fertile_until = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._scanner: _Scanner | None = None

    def feed(self, chunk: bytes) -> Iterator[list[SitemapEntry]]:
        """The entries that became complete with these bytes."""
        for start in range(0, len(chunk), PIECE_BYTES):
            for piece in self._inflater.feed(chunk[start : start + PIECE_BYTES]):
                if self.finished:
                    return
                yield self._take(piece)

    def close(self) -> Iterator[list[SitemapEntry]]:
        """The entries that only the end could settle; afterwards the report is complete."""
        for piece in self._inflater.close():
            if not self.finished:
                yield self._take(piece)
        if self._scanner is None and not self.finished:
            yield self._begin()
        if self._scanner is not None:
            yield self._scan_waiting(final=True)
            last = self._scanner.close()
            if not self.finished:
                yield self._count(last)
        self._conclude()

    @property
    def kind(self) -> SitemapKind:
        """What the bytes so far have turned out to be."""
        return self._scanner.kind if self._scanner is not None else SitemapKind.NONE

    def interrupt(self, reason: str) -> None:
        """Say that the bytes stopped coming; call it before `close`."""
        self.report.partial = self.report.partial or reason

    def _take(self, piece: bytes) -> list[SitemapEntry]:
        room = self._limits.max_bytes - self.report.bytes_read
        if len(piece) > room:
            piece = piece[:room]
            self._stop(f"larger than {self._limits.max_bytes:,} bytes")
        self.report.bytes_read += len(piece)
        if self._scanner is None:
            self._head += piece
            return [] if len(self._head) < HEAD_BYTES and not self.finished else self._begin()
        self._waiting.append(piece)
        self._waiting_bytes += len(piece)
        # Many small pieces are read as one: every piece's last record is cut and must be read tag by tag.
        return self._scan_waiting() if self._waiting_bytes >= _SCAN_BYTES or self.finished else []

    def _scan_waiting(self, *, final: bool = False) -> list[SitemapEntry]:
        if self._scanner is None or self._decoder is None:
            return []
        data = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        return self._scan(self._scanner, self._decoder.decode(data, final=final))

    def _begin(self) -> list[SitemapEntry]:
        """Look at the first bytes: which encoding, and lines or markup."""
        binary = next((what for magic, what in _BINARY.items() if self._head.startswith(magic)), None)
        if binary is not None:
            self.report.why_none = binary
            self.finished = True
            return []
        # Always the same number of bytes, so that the choice does not depend on how they arrived.
        head, rest = self._head[:HEAD_BYTES], self._head[HEAD_BYTES:]
        self._decoder, head = decoder_for(head)
        text = self._decoder.decode(head)
        scanner_type = LineScanner if looks_like_lines(text) else XmlScanner
        self._scanner = scanner_type(self._url, self.report.skipped)
        self._head = b""
        return self._scan(self._scanner, text + self._decoder.decode(rest))

    def _scan(self, scanner: _Scanner, text: str) -> list[SitemapEntry]:
        entries = self._count(scanner.feed(text))
        if entries:
            self._fertile_until = self.report.bytes_read
        elif self.report.bytes_read - self._fertile_until > self._limits.max_barren_bytes:
            self._stop(f"{self._limits.max_barren_bytes:,} bytes without a URL")
        self.finished = self.finished or scanner.finished
        return entries

    def _count(self, entries: list[SitemapEntry]) -> list[SitemapEntry]:
        room = self._limits.max_entries - self.report.entries
        if len(entries) > room:
            del entries[room:]
            self._stop(f"more than {self._limits.max_entries:,} URLs")
        self.report.entries += len(entries)
        return entries

    def _stop(self, reason: str) -> None:
        self.report.partial = self.report.partial or reason
        self.finished = True

    def _conclude(self) -> None:
        report, scanner = self.report, self._scanner
        report.gzip_layers = self._inflater.layers
        report.kind = self.kind
        report.partial = report.partial or self._inflater.problem
        if report.kind is not SitemapKind.NONE and scanner is not None:
            report.partial = report.partial or scanner.partial
        elif report.why_none is None:
            empty = "empty" if report.bytes_read == 0 else None
            report.why_none = report.partial or empty or (scanner.why_none if scanner is not None else "empty")
        self.finished = True


def read_sitemap(chunks: Iterable[bytes], reader: SitemapReader) -> Iterator[SitemapEntry]:
    """The entries of these bytes one by one; the reader's report is complete when they end."""
    for chunk in chunks:
        for batch in reader.feed(chunk):
            yield from batch
        if reader.finished:
            break
    for batch in reader.close():
        yield from batch


async def read_batches(chunks: AsyncIterable[bytes], reader: SitemapReader) -> AsyncGenerator[list[SitemapEntry], None]:
    """The entries of these bytes in lists; other tasks get their turn after every 64 KiB."""
    async for chunk in chunks:
        for batch in reader.feed(chunk):
            if batch:
                yield batch
            await asyncio.sleep(0)
        if reader.finished:
            break
    for batch in reader.close():
        if batch:
            yield batch
