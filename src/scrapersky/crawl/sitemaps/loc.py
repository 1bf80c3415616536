"""From the text of a loc element to an absolute http(s) URL, or the reason why there is none."""

import re
from html.entities import html5
from urllib.parse import urlsplit

import ada_url

MAX_LOC_CHARS = 2048

# The semicolon is required: "?a=1&copy=2" is a bare ampersand, not a copyright sign.
_REFERENCE = re.compile(r"&(?:#([0-9]{1,10})|#[xX]([0-9a-fA-F]{1,8})|([A-Za-z][A-Za-z0-9]{1,31}));")
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,31}:")
_ABSOLUTE = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE)


class Unusable(ValueError):
    """A loc that leads nowhere; its text is the reason, counted in the report."""


def unescape(text: str) -> str:
    """Character references decoded exactly once; an unknown one and a bare ampersand stay as they are."""
    return _REFERENCE.sub(_decode_reference, text) if "&" in text else text


def _decode_reference(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name is not None:
        return html5.get(name + ";", match[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return "\ufffd"
    return chr(code)


def locate(text: str, base: str | None) -> str:
    """The absolute URL that the decoded text of a loc means; raises Unusable with the reason."""
    loc = _tidy(text)
    if not loc:
        raise Unusable("no loc")
    if len(loc) > MAX_LOC_CHARS:
        raise Unusable("loc too long")
    if _ABSOLUTE.match(loc):
        return loc
    if _SCHEME.match(loc):
        raise Unusable("not http or https")
    return _resolve(loc, base)


def _tidy(text: str) -> str:
    """Line breaks, indentation and control characters out; a space inside becomes %20."""
    if not text.isprintable():
        # Lines are joined one by one: a pattern for "spaces around a line break" would be quadratic.
        text = "".join(line.strip() for line in text.splitlines()).translate(_CONTROLS)
    return text.strip().replace(" ", "%20")


def _resolve(loc: str, base: str | None) -> str:
    if base is None:
        raise Unusable("relative loc without a base")
    if loc.startswith("www."):  # a forgotten scheme; no site has a folder of this name
        return f"{urlsplit(base).scheme}://{loc}"
    try:
        url: str = ada_url.join_url(base, loc)
    except ValueError:
        raise Unusable("not a URL") from None
    if not _ABSOLUTE.match(url):
        raise Unusable("not http or https")
    if len(url) > MAX_LOC_CHARS:
        raise Unusable("loc too long")
    return url
