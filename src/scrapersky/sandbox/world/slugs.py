"""Names as a web address can hold them."""

import re
import unicodedata
from functools import lru_cache

_APART = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ı": "i"})
_NOT_A_WORD = re.compile(r"[^a-z0-9]++")


@lru_cache(4096)
def plain(text: str) -> str:
    """Lower case, without accents."""
    return unicodedata.normalize("NFKD", text.lower().translate(_APART)).encode("ascii", "ignore").decode()


@lru_cache(4096)
def slug(text: str) -> str:
    """Join the words with hyphens, as in a URL path."""
    return _NOT_A_WORD.sub("-", plain(text)).strip("-")
