"""Contact points that can be suppressed, in the one spelling that is compared: email address, domain, phone, person."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import idna

from scrapersky.extract.emails.classify import normalise_email
from scrapersky.extract.phones.parse import parse_phone
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.text import fold, single_line

Kind = Literal["email", "domain", "phone", "person"]
MAX_LENGTH = 320
_DIALLED = re.compile(r"[+(]?[0-9][0-9 ()./+-]{4,40}")
_HOST = re.compile(r"[a-z0-9_.-]{1,253}")
# An email address or an international phone number in a text.
_WRITTEN = re.compile(r"[^\s<>\"'(),;:@]{1,64}@[^\s<>\"'(),;:@]{1,253}|\+[0-9][0-9 ()./-]{5,20}[0-9]")
_BETWEEN_WORDS = re.compile(r"[\s,]{1,9}")
_SCHEME = re.compile(r"[a-z][a-z+.-]{1,15}://", re.IGNORECASE)


@dataclass(frozen=True)
class ContactPoint:
    """One address, number, domain, or name at a domain, by which a person or a business is reached."""

    kind: Kind
    value: str

    @property
    def digest(self) -> str:
        """The SHA-256 hash that is left after an erasure; the database computes the same."""
        return hashlib.sha256(self.value.encode()).hexdigest()


def parse_points(written: str, country: str = "", kind: Kind | None = None) -> tuple[ContactPoint, ...]:
    """Parse a text; return its contact points or raise ValueError with the reason why it has none.

    An internationalized host has two spellings, so it is two contact points; the given spelling comes first.
    """
    text = single_line(written, MAX_LENGTH + 1)
    if not text:
        raise ValueError("the value is empty")
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the value has more than {MAX_LENGTH} characters")
    kind = kind or _kind_of(text)
    if kind == "email":
        return _email(text)
    return _phone(text, country) if kind == "phone" else _domain(text)


def points_in(text: str) -> Iterator[ContactPoint]:
    """Yield the email addresses and international phone numbers that a text contains."""
    for word in _WRITTEN.findall(text):
        with suppress(ValueError):  # it only looks like one
            yield from parse_points(word.rstrip("."), kind="email" if "@" in word else "phone")


def spellings_of(point: ContactPoint) -> tuple[ContactPoint, ...]:
    """Return a stored address or domain in each of its spellings; a host that no registry knows has only one."""
    local, at, host = point.value.rpartition("@")
    try:
        hosts = _hosts(host, point.value)
    except ValueError:
        hosts = (host,)
    return tuple(ContactPoint(point.kind, f"{local}{at}{spelling}") for spelling in hosts)


def person_points(name: str, domain: str) -> tuple[ContactPoint, ...]:
    """Return a person by name at one site, in every case that the database, which folds ASCII only, can compare."""
    spellings = {_fold(each) for each in (name, name.lower(), name.upper(), name.title())}
    return tuple(ContactPoint("person", f"{spelling} @ {domain}") for spelling in sorted(spellings))


def other_forms(points: Iterable[ContactPoint]) -> Iterator[ContactPoint]:
    """Yield the people among the points without accents, and with the family name first or last."""
    for name, at, domain in (point.value.rpartition(" @ ") for point in points if point.kind == "person"):
        words = _BETWEEN_WORDS.split(fold(name).strip())
        for order in (words, [words[-1], *words[:-1]], [*words[1:], words[0]]):
            yield ContactPoint("person", f"{' '.join(order)}{at}{domain}")


def _fold(name: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in single_line(name, MAX_LENGTH))


def _kind_of(text: str) -> Kind:
    if "@" in text[1:] and not _SCHEME.match(text):
        return "email"
    return "phone" if _DIALLED.fullmatch(text) else "domain"


def _email(text: str) -> tuple[ContactPoint, ...]:
    address = normalise_email(text.removeprefix("mailto:"))
    local, _, host = address.rpartition("@")
    if not 0 < len(local) <= 64 or " " in address:
        raise ValueError(f"{text[:80]!r} is not an email address")
    return tuple(ContactPoint("email", f"{local}@{spelling}") for spelling in _hosts(host, text))


def _domain(text: str) -> tuple[ContactPoint, ...]:
    host = _SCHEME.sub("", normalise_email(text)).lstrip("@").partition("/")[0].partition(":")[0]
    return tuple(ContactPoint("domain", spelling) for spelling in _hosts(host.removeprefix("www."), text))


def _phone(text: str, country: str) -> tuple[ContactPoint, ...]:
    found = parse_phone(text, country.upper())
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a phone number; write it as +358 9 1234567, or give the country")
    return (ContactPoint("phone", found.number),)


def _hosts(host: str, text: str) -> tuple[str, ...]:
    if not registrable_domain(host) or (host.isascii() and not _HOST.fullmatch(host)):
        raise ValueError(f"{text[:80]!r} has no registrable domain")
    try:
        other = (
            idna.decode(host) if "xn--" in host else host if host.isascii() else idna.encode(host, uts46=True).decode()
        )
    except (idna.IDNAError, UnicodeError):
        raise ValueError(f"{host[:80]!r} is not a host name") from None
    return tuple(dict.fromkeys((host, other)))
