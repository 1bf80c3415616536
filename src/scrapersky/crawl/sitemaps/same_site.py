"""Which addresses count as the same site, by the public suffix list that comes with the package."""

from enum import StrEnum
from functools import lru_cache
from urllib.parse import urlsplit

import tldextract

# Offline: the list in the package, no network, no cache folder. Private suffixes too: a.github.io is not b.github.io.
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


class SitePolicy(StrEnum):
    """How far a sitemap may point to other sitemaps."""

    DOMAIN = "domain"
    HOST = "host"
    ANY = "any"

    def allows(self, site: str, other: str) -> bool:
        """Whether a sitemap at `other` may speak for the site at this URL."""
        if self is SitePolicy.ANY:
            return True
        site_host, other_host = _host_of(site), _host_of(other)
        if not site_host or not other_host:
            return False
        if self is SitePolicy.HOST or site_host == other_host:
            return site_host == other_host
        return registrable_domain(site_host) == registrable_domain(other_host)


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """The domain somebody registered; an address stands for itself, an unknown ending counts as a public suffix."""
    parts = _suffixes.extract_str(host)
    if parts.suffix:
        return parts.top_domain_under_public_suffix or host
    if parts.ipv4 or parts.ipv6 or ":" in host:
        return host
    return ".".join(host.split(".")[-2:])
