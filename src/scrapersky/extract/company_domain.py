"""From the website somebody wrote down to a company's own domain, or to a profile somewhere else."""

import ipaddress
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

import idna
import tldextract

from scrapersky.core.errors import ScraperSkyError

MAX_URL_LENGTH = 2048
# The list that comes with the package: looking at it must not open a socket.
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=False)


class InvalidWebsite(ScraperSkyError):
    """This is not the address of a web site."""


@dataclass(frozen=True)
class CompanyDomain:
    """A registrable domain that a company can own, in ASCII as it is stored and in Unicode as people read it."""

    name: str
    unicode_name: str
    url: str


@dataclass(frozen=True)
class PlatformProfile:
    """A page on somebody else's domain: social, link-in-bio, booking, marketplace or free-host."""

    kind: str
    platform: str
    url: str


def parse_website(website: str) -> CompanyDomain | PlatformProfile:
    """What kind of place a website is; NoWebAddress with the reason if it is none."""
    host, url = _host_of(website)
    labels = host.split(".")
    for start in range(len(labels) - 1):  # sites.google.com is a free host, google.com a marketplace
        known = _platforms().get(".".join(labels[start:]))
        if known is not None:
            kind, platform = known
            return PlatformProfile(kind, platform, url)
    name = _suffixes(host).top_domain_under_public_suffix
    if not name:
        raise InvalidWebsite(f"{host} is not under any public suffix.")
    return CompanyDomain(name, _unicode(name), url)


def _host_of(website: str) -> tuple[str, str]:
    text = website.strip()
    if not text or len(text) > MAX_URL_LENGTH:
        raise InvalidWebsite("It is empty." if not text else f"It is longer than {MAX_URL_LENGTH} characters.")
    if any(ord(character) <= 32 or character in '\\<>"{}|^`' for character in text):
        raise InvalidWebsite("It contains characters that no address has.")
    if "://" not in text:
        text = text.removeprefix("//") if text.startswith("//") else text
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
    # Credentials and fragments are left behind: they have no place in a list of leads.
    url = f"{parts.scheme.lower()}://{netloc}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
    return ascii_host, url


def _ascii(host: str) -> str:
    if not host:
        raise InvalidWebsite("It has no host name.")
    if _is_ip(host):
        raise InvalidWebsite(f"{host} is a number, not a name.")
    try:
        return idna.encode(host, uts46=True).decode() if not host.isascii() else _checked(host)
    except (idna.IDNAError, UnicodeError) as error:
        raise InvalidWebsite(f"{host[:80]} is not a host name: {error}.") from None


def _checked(host: str) -> str:
    """An ASCII name as it is, if every label is one that DNS can hold (underscores do occur)."""
    labels = host.split(".")
    if len(host) > 253 or not all(0 < len(label) < 64 for label in labels):
        raise InvalidWebsite(f"{host[:80]} is not a host name.")
    if not all(label.replace("-", "").replace("_", "").isalnum() for label in labels):
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
    """Every known host with its kind and platform, from data/hosts.toml."""
    text = files("scrapersky.extract").joinpath("data/hosts.toml").read_text(encoding="utf-8")
    return {
        host: (kind, platform)
        for kind, platforms in tomllib.loads(text).items()
        for platform, hosts in platforms.items()
        for host in hosts
    }
