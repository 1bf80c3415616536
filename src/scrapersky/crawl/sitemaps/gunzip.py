"""Gzip recognised by its first bytes, inflated in small pieces: many members, one inside another, cut or damaged."""

import zlib
from collections.abc import Generator, Iterator

PIECE_BYTES = 65_536
MAX_LAYERS = 2
_MAGIC = b"\x1f\x8b"
_GZIP_WBITS = 31


class Inflater:
    """Passes plain bytes through and inflates gzip, never more than PIECE_BYTES at a time."""

    def __init__(self, layers: int = MAX_LAYERS) -> None:
        self.problem: str | None = None
        self._layers_left = layers
        self._held = b""
        self._plain = False
        self._over = False
        self._member: zlib._Decompress | None = None
        self._inner: Inflater | None = None

    @property
    def layers(self) -> int:
        """How many layers of gzip have been found so far."""
        return 0 if self._inner is None else 1 + self._inner.layers

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The plain bytes in these bytes, piece by piece; read it to its end before feeding more."""
        if self._plain:
            yield data
        elif not self._over:
            data = self._held + data
            self._held = b""
            if self._inner is None and not self._recognise(data):
                return
            yield from self._pass_on(data) if self._plain else self._inflate(data)

    def close(self) -> Iterator[bytes]:
        """What was still held back; after it, `problem` says how the end looked."""
        if self._inner is None:
            if self._held:
                yield self._held
            return
        if self._member is not None and self.problem is None:
            self.problem = "the gzip data ends too early"
        yield from self._inner.close()
        self.problem = self.problem or self._inner.problem

    def _recognise(self, data: bytes) -> bool:
        """Decide by the first two bytes; False while there are too few."""
        if len(data) < len(_MAGIC):
            self._held = data
            return False
        if not data.startswith(_MAGIC):
            self._plain = True
        elif self._layers_left == 0:
            self._plain = self._over = True
            self.problem = f"more than {MAX_LAYERS} layers of gzip"
        else:
            self._inner = Inflater(self._layers_left - 1)
        return True

    def _pass_on(self, data: bytes) -> Iterator[bytes]:
        if not self._over:
            yield data

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data and not self._over:
            if self._member is None:
                data = data.lstrip(b"\0")  # padding between and after members
                if len(data) < len(_MAGIC):
                    self._held = data
                    return
                if not data.startswith(_MAGIC):  # junk behind the last member
                    self._over = True
                    return
                self._member = zlib.decompressobj(_GZIP_WBITS)
            data = yield from self._inflate_member(self._member, data)

    def _inflate_member(self, member: "zlib._Decompress", data: bytes) -> Generator[bytes, None, bytes]:
        """Inflate until these bytes or this member end; what is left of the bytes."""
        while True:
            before = member.copy()
            try:
                piece = member.decompress(data, PIECE_BYTES)
            except zlib.error:
                self.problem = "the gzip data is damaged"
                self._over = True
                yield from self._rescue(before, data)
                return b""
            if piece:
                yield from self._deeper(piece)
            if member.eof:
                self._member = None
                return member.unused_data
            data = member.unconsumed_tail
            if not data and len(piece) < PIECE_BYTES:
                return b""

    def _rescue(self, member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
        """Everything before the damaged byte: the failing call would have thrown its output away."""
        rescued = bytearray()
        for position in range(len(data)):
            try:
                rescued += member.decompress(data[position : position + 1])
            except zlib.error:
                break
            if len(rescued) >= PIECE_BYTES:
                yield from self._deeper(bytes(rescued))
                rescued.clear()
        yield from self._deeper(bytes(rescued))

    def _deeper(self, piece: bytes) -> Iterator[bytes]:
        if self._inner is not None and piece:
            yield from self._inner.feed(piece)
