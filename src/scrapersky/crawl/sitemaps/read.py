"""Reads a sitemap of any size and format from bytes in any pieces, in constant memory."""

import asyncio
import codecs
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from scrapersky.crawl.http.decompress import PIECE_BYTES, GzipLayers
from scrapersky.crawl.sitemaps.encoding import HEAD_BYTES, decoder_for
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.text_format import LineScanner, looks_like_lines
from scrapersky.crawl.sitemaps.xml_records import XmlScanner

MAX_BATCH = 250  # entries; storing one may take a tenth of a millisecond
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
    """The limits of reading one sitemap; beyond a limit, the entries so far are kept and the report is partial."""

    max_bytes: int = 256 * 1024 * 1024  # after inflating; of a site, the limit of streamed bodies
    max_entries: int = 1_000_000
    max_bytes_without_entry: int = 16 * 1024 * 1024  # in a row


@dataclass(slots=True)
class SitemapReport:
    """The result of reading one sitemap, without its entries."""

    kind: SitemapKind = SitemapKind.NONE
    entries: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # records without a usable URL, by reason
    partial: str | None = None  # why it is not the whole sitemap
    why_none: str | None = None  # what it is instead, if it is not a sitemap
    bytes_read: int = 0  # after inflating
    is_interrupted: bool = False  # its bytes did not all arrive: another try may read more

    @property
    def why_none_sentence(self) -> str:
        """Why it is not a sitemap, as a sentence."""
        if self.why_none == self.partial:
            return f"It cannot be read as a sitemap: {(self.partial or '').rstrip('.')}."
        return f"It is {self.why_none}."


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
    """Feed it bytes, take the entries, close it, read the report. It never raises because of the bytes.

    `feed` and `close` yield one list per piece of at most 64 KiB, often an empty one: exhaust them.
    If `finished` is true, further bytes are ignored, and the caller may stop fetching.
    """

    def __init__(self, url: str | None = None, limits: ReadLimits | None = None) -> None:
        self.report = SitemapReport()
        self.finished = False
        self._url = url
        self._limits = limits or ReadLimits()
        self._inflater = GzipLayers()
        self._head = b""
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._last_entry_at = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._scanner: _Scanner | None = None

    def feed(self, chunk: bytes) -> Iterator[list[SitemapEntry]]:
        """Yield the entries that these bytes complete."""
        for start in range(0, len(chunk), PIECE_BYTES):
            for piece in self._inflater.feed(chunk[start : start + PIECE_BYTES]):
                if self.finished:
                    return
                if len(piece) <= _SCAN_BYTES:
                    yield self._take(piece) if piece else []
                else:
                    yield self._take(piece[:_SCAN_BYTES])
                    if not self.finished:
                        yield self._take(piece[_SCAN_BYTES:])
                if self._inflater.size > 2 * self._limits.max_bytes:  # two layers, each as large as a sitemap may be
                    self._stop(f"larger than {self._limits.max_bytes:,} bytes")

    def close(self) -> Iterator[list[SitemapEntry]]:
        """Yield the last entries; afterwards the report is complete."""
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
        """The format recognised so far."""
        return self._scanner.kind if self._scanner is not None else SitemapKind.NONE

    def interrupt(self, reason: str, *, may_succeed_later: bool = True) -> None:
        """Record why no more bytes come; call it before `close`."""
        self.report.partial = self.report.partial or reason
        self.report.is_interrupted = may_succeed_later

    def _take(self, piece: bytes) -> list[SitemapEntry]:
        bytes_left = self._limits.max_bytes - self.report.bytes_read
        if len(piece) > bytes_left:
            piece = piece[:bytes_left]
            self._stop(f"larger than {self._limits.max_bytes:,} bytes")
        self.report.bytes_read += len(piece)
        if self._scanner is None:
            self._head += piece
            return [] if len(self._head) < HEAD_BYTES and not self.finished else self._begin()
        self._waiting.append(piece)
        self._waiting_bytes += len(piece)
        # Small pieces are scanned together: the last record of a piece is incomplete and must be read tag by tag.
        return self._scan_waiting() if self._waiting_bytes >= _SCAN_BYTES or self.finished else []

    def _scan_waiting(self, *, final: bool = False) -> list[SitemapEntry]:
        if self._scanner is None or self._decoder is None:
            return []
        data = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        return self._scan(self._scanner, self._decoder.decode(data, final=final))

    def _begin(self) -> list[SitemapEntry]:
        """Recognise the encoding and the format from the first bytes."""
        binary = next((what for magic, what in _BINARY.items() if self._head.startswith(magic)), None)
        if binary is not None:
            self.report.why_none = binary
            self.finished = True
            return []
        # Always the same number of bytes, so that the result does not depend on the pieces.
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
            self._last_entry_at = self.report.bytes_read
        elif self.report.bytes_read - self._last_entry_at > self._limits.max_bytes_without_entry:
            self._stop(f"{self._limits.max_bytes_without_entry:,} bytes without a URL")
        self.finished = self.finished or scanner.finished
        return entries

    def _count(self, entries: list[SitemapEntry]) -> list[SitemapEntry]:
        entries_left = self._limits.max_entries - self.report.entries
        if len(entries) > entries_left:
            del entries[entries_left:]
            self._stop(f"more than {self._limits.max_entries:,} URLs")
        self.report.entries += len(entries)
        return entries

    def _stop(self, reason: str) -> None:
        self.report.partial = self.report.partial or reason
        self.finished = True

    def _conclude(self) -> None:
        report, scanner = self.report, self._scanner
        report.kind = self.kind
        report.partial = report.partial or self._inflater.problem
        if report.kind is not SitemapKind.NONE and scanner is not None:
            report.partial = report.partial or scanner.partial
        elif report.why_none is None:
            empty = "empty" if report.bytes_read == 0 else None
            report.why_none = report.partial or empty or (scanner.why_none if scanner is not None else "empty")
        self.finished = True


def read_sitemap(chunks: Iterable[bytes], reader: SitemapReader) -> Iterator[SitemapEntry]:
    """Yield the entries one by one; the report of the reader is complete afterwards."""
    for chunk in chunks:
        for batch in reader.feed(chunk):
            yield from batch
        if reader.finished:
            break
    for batch in reader.close():
        yield from batch


async def read_batches(chunks: AsyncIterable[bytes], reader: SitemapReader) -> AsyncGenerator[list[SitemapEntry], None]:
    """Yield the entries in lists of at most MAX_BATCH; let other tasks run after each, and after every 32 KiB."""
    async for chunk in chunks:
        for batch in reader.feed(chunk):
            await asyncio.sleep(0)
            for start in range(0, len(batch), MAX_BATCH):
                yield batch[start : start + MAX_BATCH]
                await asyncio.sleep(0)
        if reader.finished:
            break
    for batch in reader.close():
        if batch:
            yield batch
