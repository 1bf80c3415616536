"""The lines of a stream of bytes as text, whatever its charset, in constant memory."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from scrapersky.core.errors import BadRequest

MAX_LINE_LENGTH = 1_000_000  # bytes
CHUNK_SIZE = 65_536
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
BINARY_SIGNATURES = (b"PK\x03\x04", b"\x1f\x8b", b"%PDF", b"\x89PNG", b"\xd0\xcf\x11\xe0", b"SQLite", b"PAR1")
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))


class UnusableTable(BadRequest):
    """This cannot be read as a table."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """One line without its end; `error` says why it cannot be read."""

    number: int
    text: str
    error: str = ""


def read_lines(stream: BinaryIO) -> Iterator[TableLine]:
    """Yield every line; raise UnusableTable if the stream is empty or not text."""
    head = stream.read(CHUNK_SIZE)
    if not head.strip():
        raise UnusableTable("It is empty.")
    mark = next((mark for mark in BYTE_ORDER_MARKS if head.startswith(mark)), b"")
    charset = BYTE_ORDER_MARKS.get(mark, "")
    controls = len(head) - len(head.translate(None, CONTROLS))
    if not charset and (head.startswith(BINARY_SIGNATURES) or controls > len(head) // 10):
        raise UnusableTable("It is not text. Save the table as CSV (UTF-8) or JSONL first.")
    chunks = _as_utf8(_chunks(head[len(mark) :], stream), charset)
    # Only the old Macintosh ended its lines with a carriage return alone.
    end = b"\r" if not charset and b"\r" in head and b"\n" not in head else b"\n"
    for number, found in enumerate(_split(chunks, end), 1):
        yield _line(number, found)


def read_entries(stream: BinaryIO) -> Iterator[TableLine]:
    """Yield the lines of a list without blanks around them; blank lines and comments (#) are left out."""
    for line in read_lines(stream):
        text = line.text.strip()
        if line.error or (text and not text.startswith("#")):
            yield replace(line, text=text)


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK_SIZE):
        yield chunk


def _as_utf8(chunks: Iterator[bytes], charset: str) -> Iterator[bytes]:
    if not charset:
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(charset)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _split(chunks: Iterator[bytes], end: bytes) -> Iterator[bytes | None]:
    """Yield the lines, None for one that is too long; no more than a line and a chunk are in memory."""
    kept, is_too_long = bytearray(), False
    for chunk in chunks:
        *whole, rest = chunk.split(end)
        for piece in whole:
            kept += piece
            yield None if is_too_long or len(kept) > MAX_LINE_LENGTH else bytes(kept)
            kept, is_too_long = bytearray(), False
        kept += rest
        if len(kept) > MAX_LINE_LENGTH:
            kept, is_too_long = bytearray(), True
    if kept or is_too_long:
        yield None if is_too_long else bytes(kept)


def _line(number: int, found: bytes | None) -> TableLine:
    if found is None:
        return TableLine(number, "", f"is longer than {MAX_LINE_LENGTH:,} bytes")
    found = found.removesuffix(b"\r")
    if b"\0" in found:
        return TableLine(number, "", "contains a NUL character")
    for charset in ("utf-8", "cp1252"):  # old spreadsheets write cp1252
        try:
            return TableLine(number, found.decode(charset))
        except UnicodeDecodeError:
            continue
    return TableLine(number, "", "is neither UTF-8 nor Windows-1252; save the file as UTF-8")
