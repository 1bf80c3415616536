"""From the bytes of a sitemap to text: byte order mark, the pattern of NULs, then the declaration, never blindly."""

import codecs
import re

HEAD_BYTES = 1024

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it starts with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml[^<>]{0,200}?encoding\s{0,10}=\s{0,10}["']([A-Za-z0-9_:-]{1,40})["']""")
_SINGLE_BYTE = frozenset(
    ["cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8-r", "koi8-u"]
    + [f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)]
)
_MULTI_BYTE = frozenset(["big5", "euc_jp", "euc_kr", "gb18030", "gbk", "gb2312", "shift_jis", "cp932", "cp949"])


def _fallback_name(codec: str) -> str:
    return f"scrapersky.or-{codec}"


def _register_fallback(codec: str) -> None:
    """An error handler that reads a byte that is no UTF-8 in a single-byte encoding instead."""

    def read_otherwise(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        return error.object[error.start : error.end].decode(codec, "replace"), error.end

    codecs.register_error(_fallback_name(codec), read_otherwise)


for _codec in _SINGLE_BYTE:
    _register_fallback(_codec)


def decoder_for(head: bytes) -> tuple[codecs.IncrementalDecoder, bytes]:
    """The decoder that the first bytes ask for, and those bytes without their mark.

    Whatever a single-byte encoding is declared, UTF-8 is tried first: in it, real text of another encoding is invalid
    almost at once, and then the bytes in question are read as declared (Windows-1252 when nothing was).
    """
    for bom, codec in _BOMS:
        if head.startswith(bom):
            return _strict_width(codec), head[len(bom) :]
    if wide := _wide_without_mark(head):
        return _strict_width(wide), head
    declared = _declared(head)
    if declared in _MULTI_BYTE and not _is_utf8(head):
        return codecs.getincrementaldecoder(declared)("replace"), head
    fallback = declared if declared in _SINGLE_BYTE else "cp1252"
    return codecs.getincrementaldecoder("utf-8")(_fallback_name(fallback)), head


def _strict_width(codec: str) -> codecs.IncrementalDecoder:
    errors = _fallback_name("cp1252") if codec == "utf-8" else "replace"
    return codecs.getincrementaldecoder(codec)(errors)


def _wide_without_mark(head: bytes) -> str | None:
    if len(head) < 4:
        return None
    nuls = tuple(byte == 0 for byte in head[:4])
    if nuls == (False, True, False, True):
        return "utf-16-le"
    if nuls == (True, False, True, False):
        return "utf-16-be"
    return None


def _declared(head: bytes) -> str:
    match = _DECLARED.search(head)
    if match is None:
        return "utf-8"
    try:
        return codecs.lookup(match[1].decode("ascii")).name
    except LookupError:
        return "utf-8"


def _is_utf8(head: bytes) -> bool:
    """Whether these bytes hold UTF-8 beyond ASCII; the last character may be cut."""
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError:
        return False
    return not text.isascii()
