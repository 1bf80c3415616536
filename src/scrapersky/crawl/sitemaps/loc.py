"""Turns the text of a loc element into an absolute http(s) URL."""

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


class UnusableLoc(ValueError):
    """A loc without a usable URL; its text is the reason, counted in the report."""


def unescape(text: str) -> str:
    """Decode character references exactly once; unknown ones and bare ampersands stay as they are."""
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
    """Return the absolute URL for the decoded text of a loc; raise UnusableLoc with the reason."""
    loc = _tidy(text)
    if not loc:
        raise UnusableLoc("no loc")
    if len(loc) > MAX_LOC_CHARS:
        raise UnusableLoc("loc too long")
    if _ABSOLUTE.match(loc):
        return loc
    if _SCHEME.match(loc):
        raise UnusableLoc("not http or https")
    return _resolve(loc, base)


def _tidy(text: str) -> str:
    """Remove line breaks, indentation and control characters; replace spaces by %20."""
    if not text.isprintable():
        # Lines are joined one by one: a pattern for "spaces around a line break" would be quadratic.
        text = "".join(line.strip() for line in text.splitlines()).translate(_CONTROLS)
    return text.strip().replace(" ", "%20")


def _resolve(loc: str, base: str | None) -> str:
    if base is None:
        raise UnusableLoc("relative loc without a base")
    if loc.startswith("www."):  # the scheme is missing; no site has a folder of this name
        return f"{urlsplit(base).scheme}://{loc}"
    try:
        url: str = ada_url.join_url(base, loc)
    except ValueError:
        raise UnusableLoc("not a URL") from None
    if not _ABSOLUTE.match(url):
        raise UnusableLoc("not http or https")
    if len(url) > MAX_LOC_CHARS:
        raise UnusableLoc("loc too long")
    return url
