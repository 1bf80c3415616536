"""From a website as written to the domain of a company, or to a profile on a platform."""

import ipaddress
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

import idna

from scrapersky.core.errors import ScraperSkyError
from scrapersky.extract.public_suffix import split_host
from scrapersky.extract.word_lists import load_table

MAX_URL_LENGTH = 2048


class InvalidWebsite(ScraperSkyError):
    """This is not the address of a web site."""


@dataclass(frozen=True)
class CompanyDomain:
    """A registrable domain that a company can own: in ASCII as it is stored, and in Unicode as people read it."""

    name: str
    unicode_name: str
    url: str
    is_bare_name: bool = False  # it was written without scheme, other host or path

    @property
    def start_url(self) -> str | None:
        """Where to begin, if it was given; None for a bare name, of which https and then http is tried."""
        return None if self.is_bare_name else self.url


@dataclass(frozen=True)
class PlatformProfile:
    """A page on a platform's domain: social, link-in-bio, booking, marketplace or free-host."""

    kind: str
    platform: str
    url: str


def parse_website(website: str) -> CompanyDomain | PlatformProfile:
    """Return the company domain or the profile that a website is. Raises InvalidWebsite with the reason."""
    host, url = _host_and_url(website)
    labels = host.split(".")
    for start in range(len(labels) - 1):  # sites.google.com is a free host, google.com a marketplace
        known = _platforms().get(".".join(labels[start:]))
        if known is not None:
            kind, platform = known
            return PlatformProfile(kind, platform, url)
    name = split_host(host).registrable
    if not name:
        raise InvalidWebsite(f"{host} is not under any public suffix.")
    is_bare_name = "://" not in website and url == f"https://{name}/"
    return CompanyDomain(name, _unicode(name), url, is_bare_name)


def home_urls(name: str, start_url: str | None) -> list[str]:
    """Return where the home page of a domain may be: the host that was given, then the bare name; https, then http."""
    given = urlsplit(start_url or "")
    homes = [f"{given.scheme}://{given.netloc}/"] if given.scheme in ("http", "https") and given.netloc else []
    homes += [f"http://{given.netloc}/"] if homes else []
    return list(dict.fromkeys([*homes, f"https://{name}/", f"http://{name}/"]))


def _host_and_url(website: str) -> tuple[str, str]:
    text = website.strip()
    if not text or len(text) > MAX_URL_LENGTH:
        raise InvalidWebsite("It is empty." if not text else f"It is longer than {MAX_URL_LENGTH} characters.")
    if any(ord(character) <= 32 or character in '\\<>"{}|^`' for character in text):
        raise InvalidWebsite("It contains characters that no address has.")
    if "://" not in text:
        text = text.removeprefix("//")
        if text.split(":", 1)[0].lower() in ("mailto", "tel", "javascript", "data", "file", "about"):
            raise InvalidWebsite("Only http and https lead to a web site.")
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").rstrip(".").lower()
        port = parts.port
    except ValueError as error:
        raise InvalidWebsite(f"It cannot be read: {error}.") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise InvalidWebsite("Only http and https lead to a web site.")
    ascii_host = _ascii(host)
    netloc = ascii_host if port in (None, 80, 443) else f"{ascii_host}:{port}"
    # Without credentials and fragment: they do not belong into a list of leads.
    url = f"{parts.scheme.lower()}://{netloc}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
    return ascii_host, url


def _ascii(host: str) -> str:
    if not host:
        raise InvalidWebsite("It has no host name.")
    if _is_ip(host):
        raise InvalidWebsite(f"{host} is an IP address, not a host name.")
    try:
        return idna.encode(host, uts46=True).decode() if not host.isascii() else _check_labels(host)
    except (idna.IDNAError, UnicodeError) as error:
        raise InvalidWebsite(f"{host[:80]} is not a host name: {error}.") from None


def _check_labels(host: str) -> str:
    """Return an ASCII host name whose labels DNS can hold (underscores do occur). Raises InvalidWebsite."""
    labels = host.split(".")
    is_short = len(host) <= 253 and all(0 < len(label) < 64 for label in labels)
    if not is_short or not all(label.replace("-", "").replace("_", "").isalnum() for label in labels):
        raise InvalidWebsite(f"{host[:80]} is not a host name.")
    if any(label.startswith("xn--") for label in labels):
        idna.decode(host, uts46=True)
    return host


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.replace(".", "").isdigit()
    return True


def _unicode(name: str) -> str:
    try:
        return idna.decode(name) if "xn--" in name else name
    except idna.IDNAError:
        return name


@cache
def _platforms() -> dict[str, tuple[str, str]]:
    """Map every host of data/hosts.toml to its kind and platform."""
    return {
        host: (kind, platform)
        for kind, platforms in load_table("hosts").items()
        for platform, hosts in platforms.items()
        for host in hosts
    }
