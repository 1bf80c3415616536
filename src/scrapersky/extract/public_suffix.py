"""Names of hosts: does the ending exist, and which part of the name is registered."""

from functools import lru_cache

import tldextract

# The list that comes with the package: no file and no network is touched.
_endings = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
# Reserved for examples and laboratories (RFC 2606); our sandbox and tests live there.
RESERVED_ENDINGS = ("example", "test")


@lru_cache(4096)
def registrable_domain(host: str) -> str:
    """The registered domain of a host (shop.firma.co.uk -> firma.co.uk), or nothing when its ending is unknown."""
    labels = host.lower().strip(".").split(".")
    if len(labels) < 2:
        return ""
    if labels[-1] in RESERVED_ENDINGS:
        return ".".join(labels[-2:])
    parts = _endings(host)
    return f"{parts.domain}.{parts.suffix}".lower() if parts.domain and parts.suffix else ""


@lru_cache(4096)
def registered_label(host: str) -> str:
    """The registered domain without its ending: firma of firma.co.uk."""
    return registrable_domain(host).partition(".")[0]
