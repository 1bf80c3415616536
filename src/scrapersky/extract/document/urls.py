"""Addresses of a page, resolved like in a browser against the base element and the address of the page."""

import ada_url

MAX_URL_LENGTH = 2048


class Resolver:
    """Resolves the addresses of one page."""

    def __init__(self, url: str, base: str = "") -> None:
        page = _absolute(url, "")
        self._base = (_absolute(base, page) if base else "") or page

    def __call__(self, href: str) -> str:
        """Return the absolute http or https address; "" for data:, javascript: and malformed ones."""
        return _absolute(href, self._base) if href else ""


def _absolute(href: str, base: str) -> str:
    if len(href) > MAX_URL_LENGTH:
        return ""
    try:
        address: str = ada_url.join_url(base, href) if base else ada_url.normalize_url(href)
    except ValueError:
        return ""
    is_usable = address.startswith(("https://", "http://")) and len(address) <= MAX_URL_LENGTH
    return address if is_usable and "@" not in authority_of(address) else ""


def authority_of(address: str) -> str:
    """Return host and port of an absolute, normalised address."""
    return address.split("/", 3)[2]
