"""Whole records as one pattern each: as nearly everyone writes them, and as many others do.

Every repetition is possessive, so that a failure costs one pass; whatever neither pattern matches is read tag by tag,
and what they match reads the same tag by tag.
"""

import re
from functools import lru_cache

_GAP = r"[ \t\r\n]*+"
_LOC = r"https?://[^\x00-\x20\x7f<>/?#\\\]][^\x00-\x20\x7f<>]*+"
_LOC_IN_CDATA = r"https?://[^\x00-\x20\x7f<>/?#\\\]][^\x00-\x20\x7f<>\]]*+"
_PLAIN = r"[!-%'-;=?-~]"  # printable ASCII without <, > and &
_PLAIN_IN_CDATA = r"[!-%'-;=?-\\^-~]"  # and without ]
_FREQUENCY, _PRIORITY = "[a-zA-Z]{0,64}+", "[0-9.]{0,64}+"
_CDATA = r"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+\]\]>"


def _date(plain: str) -> str:
    """A word, or a day and a time with a space between them."""
    return rf"{plain}{{0,32}}+(?: {plain}{{1,31}}+)?+"


def _foreign(prefix: str) -> str:
    """The beginning of a name with another prefix than the record's own."""
    own = rf"(?!{prefix})" if prefix else ""
    return rf"{own}[A-Za-z][A-Za-z0-9_.\-]*+:"


@lru_cache(maxsize=64)
def common_record(prefix: str, record: str) -> re.Pattern[str]:
    """loc, lastmod, changefreq, priority in this order, then elements of other prefixes: five groups, as an entry."""
    p = re.escape(prefix)
    return re.compile(
        rf"<{p}{record}>{_GAP}<{p}loc>{_GAP}({_LOC}){_GAP}</{p}loc>{_GAP}"
        rf"(?:<{p}lastmod>{_GAP}({_date(_PLAIN)}){_GAP}</{p}lastmod>{_GAP})?+"
        rf"(?:<{p}changefreq>({_FREQUENCY})</{p}changefreq>{_GAP})?+"
        rf"(?:<{p}priority>({_PRIORITY})</{p}priority>{_GAP})?+"
        rf"((?:</?+{_foreign(p)}[^<]*+)*+)</{p}{record}>{_GAP}"
    )


@lru_cache(maxsize=64)
def free_record(prefix: str, record: str) -> re.Pattern[str]:
    """The same fields in any order, with CDATA, and with complete elements of other prefixes anywhere between them.

    A field that is there twice shows its last value: the caller has to see to that.
    """
    p = re.escape(prefix)
    foreign = _foreign(p)
    loc_in_cdata = rf"<!\[CDATA\[{_GAP}(?P<loc_in_cdata>{_LOC_IN_CDATA}){_GAP}\]\]>"
    lastmod_in_cdata = rf"<!\[CDATA\[(?P<lastmod_in_cdata>{_date(_PLAIN_IN_CDATA)})\]\]>"
    parts = (
        rf"<{p}loc>{_GAP}(?:{loc_in_cdata}|(?P<loc>{_LOC})){_GAP}</{p}loc>",
        rf"<{p}lastmod>{_GAP}(?:{lastmod_in_cdata}|(?P<lastmod>{_date(_PLAIN)})){_GAP}</{p}lastmod>",
        rf"<{p}changefreq>(?P<changefreq>{_FREQUENCY})</{p}changefreq>",
        rf"<{p}priority>(?P<priority>{_PRIORITY})</{p}priority>",
        rf"<(?P<empty>{foreign})[^<>]*+(?<=/)>",
        rf"<(?P<name>{foreign}[^\s<>/\"'=!?]++)(?:[ \t\r\n][^<>]*+)?+(?<!/)>"
        rf"(?:[^<]++|{_CDATA}|<(?!/?+(?P=name)[\s/>])/?+{foreign}[^<]*+)*+</(?P=name)>",
    )
    return re.compile(rf"<{p}{record}>{_GAP}(?:(?:{'|'.join(parts)}){_GAP})*+</{p}{record}>{_GAP}")
