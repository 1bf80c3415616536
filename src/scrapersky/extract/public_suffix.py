"""The registrable domain of a host name, by the public suffix list."""

from functools import lru_cache

import tldextract

# The list inside the package: no file is written and no request is sent.
_split_suffix = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
RESERVED_ENDINGS = ("example", "test")  # RFC 2606; the sandbox and the tests use them


@lru_cache(4096)
def registrable_domain(host: str) -> str:
    """Return the registered domain of a host (shop.firma.co.uk -> firma.co.uk), or "" when its ending is unknown."""
    labels = host.lower().strip(".").split(".")
    if len(labels) < 2:
        return ""
    if labels[-1] in RESERVED_ENDINGS:
        return ".".join(labels[-2:])
    parts = _split_suffix(host)
    return f"{parts.domain}.{parts.suffix}".lower() if parts.domain and parts.suffix else ""
