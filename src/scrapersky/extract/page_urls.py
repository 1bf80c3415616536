"""Addresses in a page, resolved as a browser would: against the base element and the address of the page."""

import ada_url

LONGEST_URL = 2048


class Resolver:
    """Turns the addresses of one page into absolute ones of the web, or into nothing."""

    def __init__(self, url: str, base: str = "") -> None:
        self._base = _absolute(base, _absolute(url, "")) if base else ""
        self._base = self._base or _absolute(url, "")

    def __call__(self, href: str) -> str:
        """The absolute http or https address; empty for data:, javascript: and what no browser could open."""
        return _absolute(href, self._base) if href else ""


def _absolute(href: str, base: str) -> str:
    if len(href) > LONGEST_URL:
        return ""
    try:
        parsed = ada_url.URL(href.strip(), base=base) if base else ada_url.URL(href.strip())
    except ValueError:
        return ""
    if parsed.protocol not in ("http:", "https:") or parsed.username or parsed.password:
        return ""
    address: str = parsed.href
    return address if len(address) <= LONGEST_URL else ""
