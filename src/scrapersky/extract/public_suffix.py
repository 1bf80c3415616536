"""The registrable domain of a host name, by the public suffix list."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract
    from tldextract.tldextract import ExtractResult

RESERVED_ENDINGS = ("example", "test")  # RFC 2606; the sandbox and the tests use them


@lru_cache(4096)
def registrable_domain(host: str) -> str:
    """Return the registered domain of a host (shop.firma.co.uk -> firma.co.uk), or "" when its ending is unknown."""
    labels = host.lower().strip(".").split(".")
    if len(labels) < 2:
        return ""
    if labels[-1] in RESERVED_ENDINGS:
        return ".".join(labels[-2:])
    parts = split_host(host)
    return f"{parts.domain}.{parts.suffix}".lower() if parts.domain and parts.suffix else ""


def split_host(host: str, *, is_private_kept: bool = False) -> "ExtractResult":
    """Split a host into subdomain, domain and suffix; with private suffixes, such as those of hosting companies."""
    return _extractor()(host, include_psl_private_domains=is_private_kept)


@cache
def _extractor() -> "TLDExtract":
    """Read the list inside the package: no file is written and no request is sent."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
