"""Bounded inflating: gzip and deflate in small pieces, so that no body can grow faster than it is counted."""

import zlib
from collections.abc import Generator, Iterator

PIECE_BYTES = 65_536
# Block-wise gzip has one member per 64 KiB: 50 MB are 800. More only burns time, for each one is set up anew.
MAX_MEMBERS = 2_000

GZIP_MAGIC = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = 31, 15, -15


class BadCompression(Exception):
    """The compressed bytes are damaged or were made to hurt."""


class CutShort(Exception):
    """The compressed bytes end before their end mark."""


class Inflater:
    """Takes compressed bytes as they come and gives pieces of at most 64 KiB: `gzip`, `deflate` or `identity`."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._stream: zlib._Decompress | None = None
        self._held = b""
        self._members = 0
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces that these bytes make. Read one before asking for the next: nothing is inflated ahead."""
        if self._coding == "identity":
            yield data
            return
        pending = self._held + data
        self._held = b""
        while pending and not self._ended:
            stream = self._stream or self._begin(pending)
            if stream is None:
                return
            pending = yield from self._run(stream, pending)

    def finish(self) -> None:
        """CutShort if the bytes ended in the middle."""
        if self._coding != "identity" and (self._stream is not None or (self._held and not self._members)):
            raise CutShort("the compressed body ends in the middle")

    def _begin(self, pending: bytes) -> "zlib._Decompress | None":
        """Open the next member; None when there are too few bytes to tell what it is, or only junk follows."""
        if len(pending) < 2:
            self._held = pending
            return None
        if self._coding == "gzip" and self._members and not pending.startswith(GZIP_MAGIC):
            self._ended = True  # servers pad and append; what follows the last member is not ours
            return None
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise BadCompression(f"the compressed body has more than {MAX_MEMBERS} parts")
        self._stream = zlib.decompressobj(_GZIP if self._coding == "gzip" else _deflate_kind(pending))
        return self._stream

    def _run(self, stream: "zlib._Decompress", pending: bytes) -> Generator[bytes, None, bytes]:
        """Inflate until this input or this member is used up; returns what is left for the next member."""
        while True:
            try:
                piece = stream.decompress(pending, PIECE_BYTES)
            except zlib.error:
                raise BadCompression("the compressed body is damaged") from None
            if piece:
                yield piece
            if stream.eof:
                self._stream = None
                self._ended = self._coding == "deflate"
                return stream.unused_data
            pending = stream.unconsumed_tail
            if not pending and not piece:
                return b""


def _deflate_kind(start: bytes) -> int:
    """Deflate means zlib's wrapper by the book and bare deflate on some servers: the first two bytes tell."""
    wrapped = start[0] & 0x0F == 8 and (start[0] << 8 | start[1]) % 31 == 0
    return _ZLIB if wrapped else _RAW
