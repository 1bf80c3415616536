"""Bounded decompression of gzip and deflate in small pieces: no body grows faster than its bytes are counted."""

import zlib
from collections.abc import Generator, Iterator

PIECE_BYTES = 65_536
# Block-wise gzip has one member per 64 KiB: 256 MB are 4,000. More members only cost time, for each needs a new state.
MAX_MEMBERS = 10_000
MAX_LAYERS = 2  # of gzip inside gzip

GZIP_MAGIC = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = 31, 15, -15


class BadCompression(Exception):
    """The compressed bytes are damaged or malicious."""


class TruncatedCompression(BadCompression):
    """The compressed bytes end before their end mark."""


class Inflater:
    """Takes compressed bytes as they arrive and yields pieces of at most 64 KiB: `gzip`, `deflate` or `identity`.

    A member without content yields an empty piece, so that the caller can let other tasks run after each member.
    With `salvage`, damaged bytes yield everything before the damage, and then raise BadCompression.
    """

    def __init__(self, coding: str, *, salvage: bool = False) -> None:
        self._coding = coding
        self._salvage = salvage
        self._member: zlib._Decompress | None = None
        self._held = b""
        self._members = 0
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the pieces of these bytes; a piece is inflated when it is requested. Raises BadCompression."""
        if self._coding == "identity":
            yield data
            return
        pending = self._held + data
        self._held = b""
        while pending and not self._ended:
            if self._member is None:
                pending = pending.lstrip(b"\0") if self._members else pending  # padding between members
                if len(pending) < len(GZIP_MAGIC):
                    self._held = pending
                    return
                self._open_member(pending)
            if self._member is not None:
                pending = yield from self._inflate(self._member, pending)

    def finish(self) -> None:
        """Check that the bytes were complete; raises TruncatedCompression if they were not."""
        if self._coding != "identity" and (self._member is not None or (self._held and not self._members)):
            raise TruncatedCompression(f"the {self._coding} data ends too early")

    def _open_member(self, start: bytes) -> None:
        """Open the next member, or end the stream if other bytes follow the last member."""
        if self._coding == "gzip" and self._members and not start.startswith(GZIP_MAGIC):
            self._ended = True
            return
        self._members += 1
        if self._members > MAX_MEMBERS:
            self._ended = True
            raise BadCompression(f"the {self._coding} data has more than {MAX_MEMBERS:,} members")
        self._member = zlib.decompressobj(_GZIP if self._coding == "gzip" else _deflate_format(start))

    def _inflate(self, member: "zlib._Decompress", data: bytes) -> Generator[bytes, None, bytes]:
        """Inflate to the end of these bytes or of the member; return the bytes behind the member."""
        while True:
            before = member.copy() if self._salvage else None
            try:
                piece = member.decompress(data, PIECE_BYTES)
            except zlib.error:
                self._ended = True
                if before is not None:
                    yield from _salvaged(before, data)
                raise BadCompression(f"the {self._coding} data is damaged") from None
            if piece or member.eof:
                yield piece
            if member.eof:
                self._member = None
                self._ended = self._coding == "deflate"
                return member.unused_data
            data = member.unconsumed_tail
            if not data and len(piece) < PIECE_BYTES:
                return b""


class GzipLayers:
    """Passes plain bytes through and inflates gzip, recognised by its first bytes, also gzip inside gzip.

    Never raises: `problem` is the reason why bytes are missing. A piece may be empty: work was done, and other tasks
    may run. `size` counts the bytes of every layer.
    """

    def __init__(self, max_layers: int = MAX_LAYERS) -> None:
        self.problem: str | None = None
        self._inflated = 0
        self._layers_left = max_layers
        self._held = b""
        self._is_plain = False
        self._inflater: Inflater | None = None
        self._inner: GzipLayers | None = None

    @property
    def size(self) -> int:
        """How many bytes all layers together were inflated to."""
        return self._inflated + (self._inner.size if self._inner is not None else 0)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the plain bytes in these bytes; exhaust the iterator before feeding more."""
        if self._is_plain:
            yield data
        elif self.problem is not None:
            return
        elif self._inner is not None and self._inflater is not None:
            yield from self._inflate(self._inflater, self._inner, data)
        else:
            data, self._held = self._held + data, b""
            if len(data) < len(GZIP_MAGIC):
                self._held = data
                return
            self._recognise(data)
            yield from self.feed(data)

    def close(self) -> Iterator[bytes]:
        """Yield the bytes that were held back; `problem` is complete afterwards."""
        if self._inner is None or self._inflater is None:
            if self._held:
                yield self._held
            return
        try:
            self._inflater.finish()
        except TruncatedCompression as error:
            self.problem = self.problem or str(error)
        yield from self._inner.close()
        self.problem = self.problem or self._inner.problem

    def _recognise(self, start: bytes) -> None:
        if not start.startswith(GZIP_MAGIC):
            self._is_plain = True
        elif self._layers_left == 0:
            self.problem = f"more than {MAX_LAYERS} layers of gzip"
        else:
            self._inflater, self._inner = Inflater("gzip", salvage=True), GzipLayers(self._layers_left - 1)

    def _inflate(self, inflater: Inflater, inner: "GzipLayers", data: bytes) -> Iterator[bytes]:
        try:
            for piece in inflater.feed(data):
                self._inflated += len(piece)
                yield from inner.feed(piece)
                if inner.problem is not None:
                    self.problem = inner.problem
                    return
                yield b""
        except BadCompression as error:
            self.problem = str(error)


def _deflate_format(start: bytes) -> int:
    """Return the window bits for deflate: the standard wraps it in zlib, but some servers send it bare."""
    wrapped = start[0] & 0x0F == 8 and (start[0] << 8 | start[1]) % 31 == 0
    return _ZLIB if wrapped else _RAW


def _salvaged(member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Inflate byte by byte up to the damage: the call that failed has discarded its output."""
    salvaged = bytearray()
    for position in range(len(data)):
        try:
            salvaged += member.decompress(data[position : position + 1])
        except zlib.error:
            break
        if len(salvaged) >= PIECE_BYTES:
            yield bytes(salvaged)
            salvaged.clear()
    if salvaged:
        yield bytes(salvaged)
