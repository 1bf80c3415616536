"""Decodes bytes as a browser does: byte order mark, header, meta tag, UTF-8, detection, windows-1252."""

import codecs
import pickle
from dataclasses import dataclass
from typing import SupportsIndex

import cchardet

PRESCAN_BYTES = 1024
GUESS_BYTES = 65_536

BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

# The WHATWG Encoding Standard: the name, the codec that decodes it, its labels; an indented line continues the labels.
# Other labels (such as utf-7) are unknown. The encodings "replacement" and x-user-defined are left out on purpose.
_ENCODINGS = """
utf-8 utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
ibm866 cp866: 866 cp866 csibm866 ibm866
iso-8859-2 iso8859_2: csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 iso8859_3: csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 iso8859_4: csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 iso8859_5: csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 iso8859_6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e
    iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 iso8859_7: csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597
    iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8 iso8859_8: csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598
    iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i iso8859_8: csiso88598i iso-8859-8-i logical
iso-8859-10 iso8859_10: csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859_13: iso-8859-13 iso8859-13 iso885913
iso-8859-14 iso8859_14: iso-8859-14 iso8859-14 iso885914
iso-8859-15 iso8859_15: csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 iso8859_16: iso-8859-16
koi8-r koi8_r: cskoi8r koi koi8 koi8-r koi8_r
koi8-u koi8_u: koi8-ru koi8-u
macintosh mac_roman: csmacintosh mac macintosh x-mac-roman
windows-874 cp874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250 cp1250: cp1250 windows-1250 x-cp1250
windows-1251 cp1251: cp1251 windows-1251 x-cp1251
windows-1252 cp1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
    iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253 cp1253: cp1253 windows-1253 x-cp1253
windows-1254 cp1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5
    windows-1254 x-cp1254
windows-1255 cp1255: cp1255 windows-1255 x-cp1255
windows-1256 cp1256: cp1256 windows-1256 x-cp1256
windows-1257 cp1257: cp1257 windows-1257 x-cp1257
windows-1258 cp1258: cp1258 windows-1258 x-cp1258
x-mac-cyrillic mac_cyrillic: x-mac-cyrillic x-mac-ukrainian
gbk gb18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
gb18030 gb18030: gb18030
big5 big5hkscs: big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp euc_jp: cseucpkdfmtjapanese euc-jp x-euc-jp
iso-2022-jp iso2022_jp: csiso2022jp iso-2022-jp
shift_jis cp932: csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
euc-kr cp949: cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601
    windows-949
utf-16be utf-16-be: unicodefffe utf-16be
utf-16le utf-16-le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
"""
_TABLE = [entry.partition(":") for entry in _ENCODINGS.replace("\n    ", " ").strip().splitlines()]
CODECS: dict[str, str] = dict(names.split() for names, _, _ in _TABLE)
LABELS = {label: names.split()[0] for names, _, labels in _TABLE for label in labels.split()}


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded text and the WHATWG name of its encoding."""

    text: str
    charset: str


@dataclass(frozen=True, slots=True)
class EncodedPage:
    """A page as it was fetched; a parser process decodes it."""

    body: bytes
    content_type: str = ""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        """Keep the body out of the pickle: it is sent to a process without another copy."""
        return EncodedPage, (pickle.PickleBuffer(self.body), self.content_type)


def text_of(page: str | EncodedPage) -> str:
    """Return the text of a page, decoded if it is not text yet."""
    return page if isinstance(page, str) else decode(page.body, page.content_type).text


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Decode a body. Never raises: bytes that do not fit the encoding become U+FFFD."""
    for mark, name in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return _decode_as(body[len(mark) :], name)
    declared = header_charset(content_type) or prescan(body)
    if declared is not None:
        return _decode_as(body, declared)
    try:
        return Decoded(body.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _decode_as(body, _guess(body))


def encoding_of(label: str | None) -> str | None:
    """Return the encoding of a WHATWG label, or None."""
    return LABELS.get(label.strip().strip("'\"").strip().lower()) if label else None


def header_charset(content_type: str) -> str | None:
    """Return the encoding that a Content-Type header names, or None."""
    return _attribute(content_type[:200].encode("ascii", "replace").lower(), b"charset")


def prescan(body: bytes) -> str | None:
    """Return the encoding that an XML declaration or meta tag names in the first kilobyte, or None."""
    start = body[:PRESCAN_BYTES].lower()
    if start[1:2] == b"\0" and start[0:1] == b"<":
        return "utf-16le"
    if start[0:2] == b"\0<":
        return "utf-16be"
    named = _attribute(start.partition(b"?>")[0], b"encoding") if start.startswith(b"<?xml") else None
    named = named or _meta_charset(start)
    # A document whose tags can be read as ASCII is not UTF-16, whatever it declares.
    return "utf-8" if named in ("utf-16le", "utf-16be") else named


def _meta_charset(start: bytes) -> str | None:
    at = 0
    while (at := start.find(b"<", at)) >= 0:
        if start.startswith(b"<!--", at):
            end = start.find(b"-->", at)
        else:
            end = start.find(b">", at)
            tag = start[at : end if end >= 0 else len(start)]
            if tag[:6].rstrip() in (b"<meta", b"<meta/") and (named := _attribute(tag, b"charset")):
                return named
        if end < 0:
            return None
        at = end
    return None


def _attribute(tag: bytes, word: bytes) -> str | None:
    """Return the encoding after `word =`, quoted or not, anywhere in the tag (also inside content=...)."""
    at = 0
    while (at := tag.find(word, at)) >= 0:
        at += len(word)
        rest = tag[at:].lstrip()
        if rest.startswith(b"="):
            value = rest[1:].lstrip().lstrip(b"'\"")
            ends = (value.find(stop) for stop in (b"'", b'"', b";", b" ", b",", b"/", b">"))
            return encoding_of(value[: min((end for end in ends if end >= 0), default=64)].decode("ascii", "replace"))
    return None


def _guess(body: bytes) -> str:
    """Detect the encoding from the first bytes; windows-1252 if the detector names none of the table."""
    named: str | None = cchardet.detect(body[:GUESS_BYTES])["encoding"]
    return encoding_of(named) or "windows-1252"


def _decode_as(body: bytes, name: str) -> Decoded:
    return Decoded(codecs.decode(body, CODECS[name], "replace"), name)
