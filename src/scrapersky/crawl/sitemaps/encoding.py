"""Chooses the decoder of a sitemap: byte order mark, pattern of NULs, then the XML declaration."""

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
    """Register an error handler that decodes invalid UTF-8 bytes in a single-byte encoding."""

    def decode_single_byte(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        return error.object[error.start : error.end].decode(codec, "replace"), error.end

    codecs.register_error(_fallback_name(codec), decode_single_byte)


for _codec in _SINGLE_BYTE:
    _register_fallback(_codec)


def decoder_for(head: bytes) -> tuple[codecs.IncrementalDecoder, bytes]:
    """Return the decoder for a body that begins with these bytes, and the bytes without their byte order mark.

    UTF-8 is tried first even if a single-byte encoding is declared: text of another encoding is almost never valid
    UTF-8. Invalid bytes are decoded as declared, or as Windows-1252.
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
    """Return whether these bytes are UTF-8 beyond ASCII; the last character may be incomplete."""
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError:
        return False
    return not text.isascii()
